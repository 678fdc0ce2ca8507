#include "tao/fine_tune.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "graph/coded.hpp"
#include "grow/missing.hpp"
#include "grow/tidy.hpp"
#include "tao/node_search.hpp"

namespace hedgerow {
namespace {

using tao::Care;
using tao::FeatureSearch;

// A node's new test.
struct Test {
    Kind kind = Kind::leaf;  // no new test: the old one stays
    std::int32_t feature = -1;
    double threshold = 0;
    bool missing_left = false;
    bool swap = false;                 // the children change places
    std::vector<std::uint64_t> set{};  // of categories

    bool found() const { return kind != Kind::leaf; }
};

class Tuner {
    static constexpr int apart = 16;  // counts of two workers, so that they share no cache line

  public:
    Tuner(DecisionGraph graph, const Dataset& data, const RowChoice& rows,
          const GrowTargets& targets, const TuneParams& params, Team& team, const double* numbers)
        : graph_(std::move(graph)),
          data_(data),
          targets_(targets),
          params_(params),
          team_(team),
          numbers_(numbers),
          coded_(graph_, data, numbers),
          last_search_(graph_.n_nodes()),
          rows_(rows_that_count(data.n_rows(), rows, targets.weights)),
          counts_(targets, rows_, counting()),
          label_(graph_.n_nodes()),
          care_(team.size()),
          searches_(team.size()) {
        loss_.resize(rows_.size());
        loss_across_.resize(rows_.size());
        child_.resize(rows_.size());
        counts_.resize(apart * team.size());
        for (std::size_t i = 0; i < graph_.n_nodes(); ++i) {
            const auto node = static_cast<std::int32_t>(i);
            if (graph_.is_leaf(node)) label_[node] = counts_.label_of(graph_.value_of(node));
        }
        graph_.value = {};  // of thousands of classes they are most of the memory
        sort_by_height();
    }

    // Tunes until no test changes, for at most this many passes; returns how many it took.
    std::uint32_t run(std::uint32_t max_passes, bool report_start,
                      const std::function<void(double)>& after_pass) {
        for (std::uint32_t pass = 0;; ++pass) {
            route();
            fit_leaves();
            if (after_pass && (pass > 0 || report_start)) after_pass(mean_loss());
            if (pass == max_passes || !tune_all()) return pass;
        }
    }

    // The graph without its dead splits, described by the rows.
    DecisionGraph result() const {
        return tidy(graph_, data_, numbers_, rows_, RowStats(targets_, rows_, counting()), false)
            .graph;
    }

  private:
    GrowParams counting() const {
        GrowParams params;
        params.n_classes = params_.n_classes;
        return params;
    }

    double weight_of(Row row) const { return targets_.weight(row); }
    double row_loss(std::int32_t leaf, Row row) const {
        return counts_.label_loss(label_[leaf], row);
    }

    std::span<const std::uint32_t> visitors(std::int32_t node) const {
        return {visitors_.data() + first_visitor_[node],
                visitors_.data() + first_visitor_[node + 1]};
    }

    // Height: the longest way down to a leaf. Every descendant of a node is lower than the node.
    void sort_by_height() {
        std::vector<std::int32_t> height(graph_.n_nodes(), 0);
        const auto order = topological_order(graph_);
        for (auto node = order.rbegin(); node != order.rend(); ++node) {
            if (graph_.is_leaf(*node)) continue;
            height[*node] = 1 + std::max(height[graph_.left[*node]], height[graph_.right[*node]]);
        }
        by_height_.resize(height[0] + 1);
        for (std::size_t i = 0; i < height.size(); ++i) {
            by_height_[height[i]].push_back(static_cast<std::int32_t>(i));
        }
    }

    // Finds the visitors of every node, in the order of the rows.
    void route() {
        const auto walk = [&](auto&& visit) {
            for (std::uint32_t i = 0; i < rows_.size(); ++i) {
                if (i % 4096 == 0) team_.checkpoint(0);
                std::int32_t node = 0;
                for (std::int32_t child; (child = coded_.next(node, rows_[i])) >= 0; node = child) {
                    visit(node, i);
                }
                visit(node, i);
            }
        };
        first_visitor_.assign(graph_.n_nodes() + 1, 0);
        walk([&](std::int32_t node, std::uint32_t) { ++first_visitor_[node + 1]; });
        std::partial_sum(first_visitor_.begin(), first_visitor_.end(), first_visitor_.begin());
        visitors_.resize(first_visitor_.back());
        auto place = first_visitor_;
        walk([&](std::int32_t node, std::uint32_t i) { visitors_[place[node]++] = i; });
    }

    void fit_leaves() {
        const auto& leaves = by_height_[0];
        team_.for_each(leaves.size(), [&](std::size_t k, int worker) {
            const std::int32_t leaf = leaves[k];
            if (visitors(leaf).empty()) return;  // it answers as before
            const std::int32_t count = apart * worker;
            counts_.clear(count);
            for (const std::uint32_t i : visitors(leaf)) counts_.add(count, rows_[i]);
            counts_.settle(count);
            label_[leaf] = counts_.label(count);
            for (const std::uint32_t i : visitors(leaf)) loss_[i] = row_loss(leaf, rows_[i]);
        });
    }

    double mean_loss() const {
        double loss = 0, weight = 0;
        for (std::size_t i = 0; i < rows_.size(); ++i) {
            loss += weight_of(rows_[i]) * loss_[i];
            weight += weight_of(rows_[i]);
        }
        return loss / weight;
    }

    bool tune_all() {
        bool changed = false;
        for (std::size_t h = 1; h < by_height_.size(); ++h) changed |= tune(by_height_[h]);
        return changed;
    }

    // Tunes nodes of one height; true if a test changed.
    bool tune(const std::vector<std::int32_t>& nodes) {
        // Few large nodes share the threads feature by feature, the others are one thread's each.
        constexpr std::size_t large = std::size_t{1} << 18;
        std::vector<Test> tests(nodes.size());
        std::vector<std::size_t> small;
        for (std::size_t k = 0; k < nodes.size(); ++k) {
            if (visitors(nodes[k]).size() * data_.n_features() < large) {
                small.push_back(k);
                continue;
            }
            tests[k] = find_test(nodes[k], 0,
                                 [&](std::size_t n, auto&& body) { team_.for_each(n, body); });
        }
        team_.for_each(small.size(), [&](std::size_t k, int worker) {
            tests[small[k]] = find_test(nodes[small[k]], worker, [&](std::size_t n, auto&& body) {
                for (std::size_t i = 0; i < n; ++i) body(i, worker);
            });
        });
        bool changed = false;
        for (std::size_t k = 0; k < nodes.size(); ++k) {
            if (!tests[k].found()) continue;
            changed = true;
            set_test(nodes[k], tests[k]);
            for (const std::uint32_t i : visitors(nodes[k])) {
                if (coded_.next(nodes[k], rows_[i]) != child_[i]) loss_[i] = loss_across_[i];
            }
        }
        return changed;
    }

    // What each visitor loses on the way it takes (known from the child) and on the other way.
    void weigh(std::int32_t node, Care& care) {
        care.clear();
        const std::int32_t left = graph_.left[node], right = graph_.right[node];
        for (const std::uint32_t i : visitors(node)) {
            const Row row = rows_[i];
            const bool goes_left = coded_.goes_left(node, row);
            child_[i] = goes_left ? left : right;
            loss_across_[i] = row_loss(coded_.leaf_of(row, goes_left ? right : left), row);
            const double saved = weight_of(row) * (loss_across_[i] - loss_[i]);
            const double gain = goes_left ? saved : -saved;
            if (gain == 0 && params_.min_samples_leaf <= 1) continue;
            care.rows.push_back(row);
            care.gains.push_back(gain);
            care.key = scramble(care.key ^ key_of(i, std::bit_cast<std::uint64_t>(gain)));
            care.total += gain;
            care.size += std::abs(gain);
            if (goes_left) care.kept += gain;
            if (gain > 0) care.possible += gain;
        }
    }

    template <class ForEach>
    Test find_test(std::int32_t node, int worker, ForEach&& for_each) {
        Care& care = care_[worker];
        weigh(node, care);
        const double tolerance = 1e-10 * care.size;
        // A node whose care rows are those of its last search has the best test already.
        const bool same = std::exchange(last_search_[node], care.key) == care.key;
        if (same || care.possible <= care.kept + tolerance) return {};
        const SplitRules rules{params_.min_samples_leaf, 0, tolerance,
                               scramble(static_cast<std::uint64_t>(node))};
        std::vector<Split> splits(data_.n_features());
        for_each(splits.size(), [&](std::size_t f, int w) {
            team_.checkpoint(w);
            splits[f] =
                searches_[w].best_split(care, data_.column(f), static_cast<std::int32_t>(f), rules);
        });
        Split best;
        for (Split& split : splits) {
            if (split.found() && rules.better(split.score, split.feature, best)) {
                best = std::move(split);
            }
        }
        const double one_way = std::max(care.total, 0.0);
        if (std::max(best.score, one_way) <= care.kept + tolerance) return {};
        if (one_way >= best.score - tolerance) return one_way_test(care.total > 0);
        return best.categorical ? category_test(node, best, care) : axis_test(node, best, care);
    }

    // All rows to one side, which makes the node one to be taken out.
    Test one_way_test(bool left) const {
        const Column& column = data_.column(0);
        if (!column.categorical) return {Kind::axis, 0, left ? INFINITY : -INFINITY, left};
        const std::uint64_t word = left ? ~std::uint64_t{0} : 0;
        return {Kind::category, 0,     0,
                left,           false, std::vector<std::uint64_t>((column.n_bins + 63) / 64, word)};
    }

    Test axis_test(std::int32_t node, const Split& split, const Care& care) const {
        const Column& column = data_.column(static_cast<std::size_t>(split.feature));
        if (split.b == column.n_bins) {
            // Missing against the rest. The rest goes left, as in every tree, so that the children
            // change places if it is the other way round.
            return {Kind::axis, split.feature, INFINITY, false, split.missing_left};
        }
        const Cut cut = cut_between(column, split.a, split.b);
        return {Kind::axis, split.feature, cut.threshold,
                missing_side(node, split, care, [&](auto code) { return code <= cut.last_left; })};
    }

    Test category_test(std::int32_t node, const Split& split, const Care& care) const {
        const Column& column = data_.column(static_cast<std::size_t>(split.feature));
        std::vector<std::uint8_t> left(column.n_bins + 1);
        for (const std::uint32_t code : split.left_codes) left[code] = 1;
        const bool missing_left =
            missing_side(node, split, care, [&](auto code) { return left[code] != 0; });
        return {Kind::category,
                split.feature,
                static_cast<double>(column.n_bins),
                missing_left,
                false,
                category_set(CodeView(column), care.rows, left, missing_left)};
    }

    // The side for missing values, if the care rows have none that of the heavier child.
    template <class GoesLeft>
    bool missing_side(std::int32_t node, const Split& split, const Care& care,
                      GoesLeft&& goes_left) const {
        const Column& column = data_.column(static_cast<std::size_t>(split.feature));
        const auto is_missing = [&](Row row) { return column.code(row) == column.n_bins; };
        if (std::any_of(care.rows.begin(), care.rows.end(), is_missing)) return split.missing_left;
        double weight = 0, left_weight = 0;
        for (const std::uint32_t i : visitors(node)) {
            if (is_missing(rows_[i])) continue;
            weight += weight_of(rows_[i]);
            if (goes_left(column.code(rows_[i]))) left_weight += weight_of(rows_[i]);
        }
        return unseen_goes_left(left_weight, weight);
    }

    void set_test(std::int32_t node, const Test& test) {
        if (test.kind == Kind::axis) {
            graph_.set_axis(node, test.feature, test.threshold, test.missing_left);
        } else {
            graph_.set_category(node, test.feature, test.set, test.threshold, test.missing_left);
        }
        if (test.swap) std::swap(graph_.left[node], graph_.right[node]);
        coded_.read(node);
    }

    DecisionGraph graph_;
    const Dataset& data_;
    const GrowTargets& targets_;
    const TuneParams& params_;
    Team& team_;
    const double* numbers_;
    CodedGraph coded_;
    std::vector<std::vector<std::int32_t>> by_height_;

    // By node: the visitors, as places in `rows_`, and the key of the care rows of the last search.
    std::vector<std::size_t> first_visitor_;
    std::vector<std::uint32_t> visitors_;
    std::vector<std::uint64_t> last_search_;

    // By place: the row, its loss at the leaf that the last tuned node on its way leads to, its
    // loss by that node's other child, and the child it took.
    std::vector<Row> rows_;
    RowStats counts_;            // of one leaf of each worker
    std::vector<double> label_;  // by node: what a leaf predicts
    std::vector<double> loss_, loss_across_;
    std::vector<std::int32_t> child_;

    // By worker.
    std::vector<Care> care_;
    std::vector<FeatureSearch> searches_;
};

}  // namespace

DecisionGraph fine_tune(DecisionGraph graph, const Dataset& data, const RowChoice& rows,
                        const GrowTargets& targets, const TuneParams& params, Team& team,
                        const double* numbers, const std::function<void(double)>& after_pass) {
    std::uint32_t n_passes = 0;
    for (bool first = true;; first = false) {
        const std::size_t n_nodes = graph.n_nodes();
        Tuner tuner(std::move(graph), data, rows, targets, params, team, numbers);
        n_passes += tuner.run(params.max_passes - n_passes, first, after_pass);
        graph = tuner.result();
        // Without its dead nodes a graph sends rows that try another way to other leaves.
        if (graph.n_nodes() == n_nodes || n_passes == params.max_passes) return graph;
    }
}

}  // namespace hedgerow
