#include "grow/counted.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "base/random.hpp"
#include "graph/route.hpp"
#include "grow/criterion.hpp"
#include "grow/drawing.hpp"
#include "grow/limits.hpp"
#include "grow/missing.hpp"
#include "grow/random_split.hpp"
#include "grow/split_search.hpp"

namespace hedgerow {
namespace {

std::size_t width_of(const GrowParams& params, bool weighted) {
    return params.n_classes + weighted;
}

template <class Sides>
class Decider {
    using Stats = typename Sides::Stats;
    using Number = typename Stats::Number;

  public:
    Decider(const Dataset& data, const GrowParams& params, Stats stats,
            std::span<const std::int64_t> counts, bool weighted)
        : data_(data),
          limits_{params, params.stem->total_weight},
          stats_(stats),
          counts_(counts),
          weighted_(weighted),
          total_(stats.width()) {}

    Decision decide() {
        const std::size_t n_features = data_.n_features();
        std::vector<std::vector<Number>> bins;
        std::size_t at = 0;
        for (std::size_t f = 0; f < n_features; ++f) bins.push_back(padded(data_.column(f), at));
        const std::uint32_t width = stats_.width();
        for (std::size_t i = 0; i < bins[0].size(); ++i) total_[i % width] += bins[0][i];

        Decision out;
        out.node.n_features = static_cast<std::uint32_t>(n_features);
        out.node.n_outputs = stats_.n_outputs();
        const std::uint32_t n = stats_.count(total_.data());
        const double weight = stats_.weight(total_.data());
        const double impurity = Sides::node_impurity(stats_, total_.data());
        out.node.add_leaf({}, n, weight, impurity);
        stats_.write_value(total_.data(), out.node.value.data());
        const Stem& stem = *limits_.params.stem;
        if (!limits_.may_split(stem.depth, n, weight, impurity) || stats_.pure(total_.data())) {
            return out;
        }
        const double node_score = Sides::node_score(stats_, total_.data());
        const SplitRules rules =
            limits_.rules_for(limits_.loss_of(weight, impurity), node_score, stem.key);
        const Split best = search(bins, rules, node_score + limits_.loss_of(weight, impurity));
        if (best.found() && limits_.gains_enough(best.score, node_score)) {
            divide(best, bins[best.feature], weight, out);
        }
        return out;
    }

  private:
    // The counts of a column as the search reads them.
    std::vector<Number> padded(const Column& column, std::size_t& at) const {
        const std::uint32_t width = stats_.width(), n_classes = stats_.n_classes;
        std::vector<Number> out(std::size_t(column.n_bins + 1) * width);
        for (std::size_t code = 0; code <= column.n_bins; ++code) {
            Number* bin = out.data() + code * width;
            Number n = 0;
            for (std::uint32_t k = 0; k < n_classes; ++k) {
                bin[k] = static_cast<Number>(counts_[at++]);
                n += bin[k];
            }
            if (weighted_) n = static_cast<Number>(counts_[at++]);
            if constexpr (Stats::weighted) bin[stats_.n_padded()] = n;
        }
        return out;
    }

    Split search(const std::vector<std::vector<Number>>& bins, const SplitRules& rules,
                 double pure_score) const {
        const GrowParams& params = limits_.params;
        const auto n_features = static_cast<std::uint32_t>(bins.size());
        Split best;
        if (params.draws(n_features)) {
            const FeatureDraw draw{
                n_features, params.max_features < 0
                                ? n_features
                                : static_cast<std::uint32_t>(
                                      std::min<std::int64_t>(params.max_features, n_features))};
            std::vector<std::uint32_t> features(n_features);
            std::iota(features.begin(), features.end(), 0u);
            std::uint32_t n_constant = 0;
            return draw.best(features, n_constant, params.stem->key, rules, pure_score,
                             [&](std::uint32_t f, Random& random, Split& so_far) {
                                 return scan(bins[f], f, rules, random, so_far);
                             });
        }
        for (std::size_t f = 0; f < bins.size(); ++f) {
            Split found;
            Random none(0);  // nothing is drawn
            scan(bins[f], f, rules, none, found);
            if (found.found() && rules.better(found.score, found.feature, best)) {
                best = std::move(found);
            }
        }
        return best;
    }

    // Takes the best split of a feature, or the drawn one; false where the feature is constant.
    bool scan(const std::vector<Number>& bins, std::size_t f, const SplitRules& rules,
              Random& random, Split& best) const {
        Sides sides(stats_);
        const CodeView view(data_.column(f));
        const auto feature = static_cast<std::int32_t>(f);
        const bool drawn = limits_.params.splitter == GrowParams::Splitter::random;
        if (view.column->categorical) {
            return drawn ? scan_random_categories(sides, bins.data(), view, feature, total_.data(),
                                                  rules, random, best)
                         : scan_categories(sides, bins.data(), view, feature, total_.data(), rules,
                                           best);
        }
        return drawn ? scan_drawn(sides, bins, view, feature, rules, random, best)
                     : scan_bins(sides, bins.data(), view, feature, total_.data(), rules, best);
    }

    bool scan_drawn(Sides& sides, const std::vector<Number>& bins, const CodeView& view,
                    std::int32_t feature, const SplitRules& rules, Random& random,
                    Split& best) const {
        const auto bin = [&](std::uint32_t code) {
            return bins.data() + std::size_t(code) * stats_.width();
        };
        detail::CodeRange range{view.n_bins, 0, stats_.count(bin(view.n_bins))};
        for (std::uint32_t code = 0; code < view.n_bins; ++code) {
            if (stats_.empty(bin(code))) continue;
            range.low = std::min(range.low, code);
            range.high = code;
        }
        const auto border = draw_border(view, range, stats_.count(total_.data()), random);
        if (!border) return false;
        sides.start(total_.data());
        for (std::uint32_t code = 0; code <= border->a; ++code) sides.move(bin(code));
        if (border->missing_left) sides.move(bin(view.n_bins));
        take_drawn(sides, rules, feature, *border, best);
        return true;
    }

    void divide(const Split& split, const std::vector<Number>& bins, double weight,
                Decision& out) const {
        const Column& column = data_.column(split.feature);
        const std::uint32_t missing = column.n_bins, width = stats_.width();
        out.goes_left.assign(missing + 1, 0);
        if (split.categorical) {
            for (const auto code : split.left_codes) out.goes_left[code] = 1;
            out.goes_left[missing] = split.missing_left;
        } else {
            const std::uint32_t n_left = split.b == missing ? missing : split.a + 1;
            for (std::uint32_t code = 0; code <= missing; ++code) {
                out.goes_left[code] = code_goes_left(code, n_left, missing, split.missing_left);
            }
        }
        double weight_left = 0;
        std::vector<std::uint8_t> present(missing);
        for (std::uint32_t code = 0; code <= missing; ++code) {
            const Number* bin = bins.data() + std::size_t(code) * width;
            if (code < missing) present[code] = !stats_.empty(bin);
            if (!out.goes_left[code]) continue;
            weight_left += stats_.weight(bin);
            out.n_left += stats_.count(bin);
        }
        const bool has_missing = !stats_.empty(bins.data() + std::size_t(missing) * width);
        const bool missing_left =
            has_missing ? split.missing_left : unseen_goes_left(weight_left, weight);
        if (split.categorical) {
            std::vector<std::uint8_t> left(missing);
            for (std::uint32_t c = 0; c < missing; ++c) {
                left[c] = present[c] ? out.goes_left[c] : missing_left;
            }
            out.node.set_category(0, split.feature, packed_set(left), missing, missing_left);
        } else {
            const double threshold = split.b == missing ? std::numeric_limits<double>::infinity()
                                     : limits_.params.splitter == GrowParams::Splitter::random
                                         ? split.threshold
                                         : cut_between(column, split.a, split.b).threshold;
            out.node.set_axis(0, split.feature, threshold, missing_left);
        }
        for (const bool is_left : {true, false}) out.node.add_leaf({0, is_left}, 0, 0, 0);
        out.left_key = key_of(limits_.params.stem->key, 1);
        out.right_key = key_of(limits_.params.stem->key, 2);
    }

    const Dataset& data_;
    Limits limits_;
    Stats stats_;
    std::span<const std::int64_t> counts_;
    bool weighted_;
    std::vector<Number> total_;
};

template <template <class> class Sides>
Decision decide_by(const Dataset& data, const GrowParams& params,
                   std::span<const std::int64_t> counts, bool weighted) {
    const auto run = [&]<class Number, bool with_weights>(ClassStats<Number, with_weights> stats) {
        stats.n_classes = params.n_classes;
        using These = Sides<ClassStats<Number, with_weights>>;
        return Decider<These>(data, params, stats, counts, weighted).decide();
    };
    if (params.stem->total_weight >= std::numeric_limits<std::int32_t>::max()) {
        return run(ClassStats<double, true>{});
    }
    return weighted ? run(ClassStats<std::int32_t, true>{})
                    : run(ClassStats<std::int32_t, false>{});
}

}  // namespace

std::size_t n_counts(const Dataset& data, const GrowParams& params, bool weighted) {
    std::size_t n = 0;
    for (std::size_t f = 0; f < data.n_features(); ++f) n += data.column(f).n_bins + 1;
    return n * width_of(params, weighted);
}

std::vector<std::int64_t> count_classes(const Dataset& data, std::span<const std::int32_t> node_of,
                                        std::size_t n_nodes, std::span<const std::int32_t> classes,
                                        std::span<const double> weights, const GrowParams& params,
                                        Team& team) {
    const bool weighted = !weights.empty();
    const std::size_t width = width_of(params, weighted);
    const std::size_t size = n_counts(data, params, weighted);
    std::vector<std::int64_t> out(size * n_nodes);
    std::vector<std::size_t> start{0};
    for (std::size_t f = 0; f < data.n_features(); ++f) {
        start.push_back(start.back() + (data.column(f).n_bins + 1) * width);
    }
    team.for_each(data.n_features(), [&](std::size_t f, int worker) {
        const CodeView view(data.column(f));
        std::int64_t* const bins = out.data() + start[f];
        const auto count = [&](const auto* codes) {
            for (std::size_t row = 0; row < node_of.size(); ++row) {
                if (node_of[row] < 0) continue;
                std::int64_t* const bin = bins + node_of[row] * size + codes[row] * width;
                if (weighted) {
                    bin[classes[row]] += static_cast<std::int64_t>(weights[row]);
                    ++bin[width - 1];
                } else {
                    ++bin[classes[row]];
                }
            }
        };
        view.narrow ? count(view.narrow) : count(view.wide);
        team.checkpoint(worker);
    });
    return out;
}

Decision decide(const Dataset& data, const GrowParams& params, std::span<const std::int64_t> counts,
                bool weighted) {
    if (!params.stem || !params.for_classes() || params.n_classes < 1 ||
        !params.monotonic.empty() || data.n_features() == 0 ||
        (params.draws(data.n_features()) && !params.keyed_draws) ||
        counts.size() != n_counts(data, params, weighted)) {
        throw std::invalid_argument("the counts or parameters are not those of a counted node");
    }
    return params.criterion == GrowParams::Criterion::gini
               ? decide_by<GiniSides>(data, params, counts, weighted)
               : decide_by<EntropySides>(data, params, counts, weighted);
}

DecisionGraph join_nodes(std::span<const DecisionGraph* const> nodes,
                         std::span<const std::int32_t> left, std::span<const std::int32_t> right,
                         std::span<const DecisionGraph* const> parts) {
    const auto n_nodes = static_cast<std::int64_t>(nodes.size());
    const auto n_parts = static_cast<std::int64_t>(parts.size());
    if (nodes.empty() || left.size() != nodes.size() || right.size() != nodes.size()) {
        throw std::invalid_argument("every node needs a left and a right child");
    }
    DecisionGraph top;
    top.n_features = nodes[0]->n_features;
    top.n_outputs = nodes[0]->n_outputs;
    std::vector<DecisionGraph> copies;
    for (const DecisionGraph* part : parts) copies.push_back(*part);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        const std::int32_t node = top.copy_node(*nodes[i], 0);
        for (const std::int64_t child : {left[i], right[i]}) {
            const bool later = child > static_cast<std::int64_t>(i) && child < n_nodes;
            if (!nodes[i]->is_leaf(0) && !later && (child > -2 || -2 - child >= n_parts)) {
                throw std::invalid_argument("a child is no later node and no part");
            }
        }
        if (nodes[i]->is_leaf(0)) continue;
        top.left[node] = left[i];
        top.right[node] = right[i];
    }
    return join_in_preorder(top, copies);
}

}  // namespace hedgerow
