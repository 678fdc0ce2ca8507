// Finding the best split of one node over its features.
//
// all     every feature that is not known to be constant, four in a pass
// drawn   features drawn one by one, as in forests and random trees
//
// `features` lists all features of the data; the first `n_constant` of them are constant in the
// node. Newly found constants join them, and the children start from there: a feature that is
// constant in a node is never looked at below it.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <type_traits>
#include <vector>

#include "base/random.hpp"
#include "grow/bit_tree.hpp"
#include "grow/drawing.hpp"
#include "grow/gathered.hpp"
#include "grow/histogram.hpp"
#include "grow/partition.hpp"
#include "grow/quantile_split.hpp"
#include "grow/random_split.hpp"
#include "grow/row_tree.hpp"
#include "grow/split_search.hpp"

namespace hedgerow {

struct Nothing {};

// What one thread needs while it grows.
template <class Sides>
struct Workspace {
    using Stats = typename Sides::Stats;
    using Number = typename Stats::Number;

    explicit Workspace(const Stats& stats) : sides(stats), total(stats.width()) {}
    Sides sides;
    std::vector<Number> total;
    std::vector<Number> bins, zeros;
    std::vector<std::int32_t> class_rank;  // see NodeSearch::with_own_classes
    std::vector<Number> own_total;
    std::vector<typename Stats::Target> own_targets;
    std::vector<std::int32_t> own_values;  // of several outputs
    LeftStats<Stats> left;
    std::conditional_t<Sides::on_bits, BitTrees<Sides>, Nothing> bits;
    std::conditional_t<grows_rows<Sides>, RowTree<Sides>, Nothing> row_tree;
    // Of the node that was opened last.
    std::conditional_t<Sides::ranked, QuantileSearch<Stats>, Nothing> quantiles;
    RowBlock block;
    std::vector<std::uint32_t> keys, scratch;
    std::vector<std::uint32_t> features;
    std::uint32_t n_opened = 0;
    Partition<Stats> partition;
};

template <class Sides>
class NodeSearch {
    using Stats = typename Sides::Stats;
    using Number = typename Stats::Number;
    using Rows = NodeRows<Stats>;
    using Views = std::vector<CodeView>;
    using Work = Workspace<Sides>;

  public:
    NodeSearch(const GrowParams& params, Stats stats, std::uint32_t n_features)
        : stats_(stats),
          draw_{n_features, params.max_features < 0
                                ? n_features
                                : static_cast<std::uint32_t>(
                                      std::min<std::int64_t>(params.max_features, n_features))},
          random_(params.splitter == GrowParams::Splitter::random),
          draws_(params.draws(n_features)) {}

    std::uint32_t max_features() const { return draw_.max_features; }

    // Whether thresholds are drawn at random.
    bool random() const { return random_; }

    // Whether nodes look at some features or thresholds only, drawn at random. Such trees are grown
    // in one piece: what a node draws depends on which features were found constant before it.
    bool draws() const { return draws_; }

    // All features that are not known to be constant; newly found constants move to the front.
    Split search_all(const Rows& node, std::uint32_t& n_constant, const Views& views, Work& work,
                     const SplitRules& rules) const {
        Split best;
        const Rows rows = with_own_classes(node, work);
        auto& features = work.features;
        for (std::uint32_t at = n_constant; at < draw_.n_features;) {
            const int n =
                static_cast<int>(std::min<std::uint32_t>(columns_per_pass, draw_.n_features - at));
            std::array<bool, columns_per_pass> varies{};
            search_some(rows, features.data() + at, n, views, work, rules, best, varies.data());
            for (int c = 0; c < n; ++c, ++at) {
                if (!varies[c]) std::swap(features[at], features[n_constant++]);
            }
        }
        return best;
    }

    // Features drawn one by one.
    Split search_drawn(const Rows& node, std::uint32_t& n_constant, std::uint64_t key,
                       const Views& views, Work& work, const SplitRules& rules,
                       double pure_score) const {
        const Rows rows = with_own_classes(node, work);
        return draw_.best(work.features, n_constant, key, rules, pure_score,
                          [&](std::uint32_t feature, Random& random, Split& best) {
                              if (random_) {
                                  return search_random(rows, feature, views[feature], work, rules,
                                                       random, best);
                              }
                              bool varies = false;
                              search_some(rows, &feature, 1, views, work, rules, best, &varies);
                              return varies;
                          });
    }

    // Grows the node's whole subtree, if it is one for bits.
    bool grow_on_bits(const Rows& node, const subtree::NodeStart& root, const Views& views,
                      Work& work, const Limits& limits, DecisionGraph& graph) const {
        if constexpr (Sides::on_bits) {
            return work.bits.grow(node, root,
                                  {views, graph, work.features, draw_, limits, random_});
        } else {
            return false;
        }
    }

    // The same, if it is one for rows side by side.
    bool grow_by_row(const Rows& node, const RowCodes* by_row, const subtree::NodeStart& root,
                     const Views& views, Work& work, const Limits& limits,
                     DecisionGraph& graph) const {
        if constexpr (grows_rows<Sides>) {
            work.row_tree.grow(stats_, node, by_row, root,
                               {views, graph, work.features, draw_, limits, random_});
            return true;
        } else {
            return false;
        }
    }

    bool scan_counted(Sides& sides, const Number* bins, const CodeView& view, std::uint32_t feature,
                      const Number* total, const SplitRules& rules, Split& best) const {
        const auto f = static_cast<std::int32_t>(feature);
        return view.column->categorical ? scan_categories(sides, bins, view, f, total, rules, best)
                                        : scan_bins(sides, bins, view, f, total, rules, best);
    }

  private:
    // The node with its classes numbered anew, without those that it does not have: most nodes of a
    // full-grown tree have two or three classes, and every border costs as much as there are.
    Rows with_own_classes(const Rows& node, Work& work) const {
        work.left.forget();
        if constexpr (Stats::classes) {
            const std::uint32_t n_classes = stats_.n_classes;
            work.class_rank.resize(n_classes);
            std::uint32_t n_own = 0;
            for (std::uint32_t k = 0; k < n_classes; ++k) {
                work.class_rank[k] = static_cast<std::int32_t>(n_own);
                n_own += node.total[k] > 0;
            }
            work.sides.set_classes(n_own);
            if (n_own == n_classes) return node;
            const Stats& own = work.sides.stats();
            work.own_total.assign(own.width(), Number{0});
            for (std::uint32_t k = 0; k < n_classes; ++k) {
                if (node.total[k] > 0) work.own_total[work.class_rank[k]] = node.total[k];
            }
            if constexpr (Stats::weighted) {
                work.own_total[own.n_padded()] = node.total[stats_.n_padded()];
            }
            if (work.own_targets.size() < node.n) work.own_targets.resize(node.n);
            for (std::uint32_t i = 0; i < node.n; ++i) {
                work.own_targets[i] = work.class_rank[node.targets[i]];
            }
            return {node.rows, work.own_targets.data(), node.weights, node.n,
                    work.own_total.data()};
        } else if constexpr (has_several<Stats>) {
            return with_own_classes_of_outputs(node, work);
        } else {
            return node;
        }
    }

    // The same for several outputs: their classes are numbered anew in a matrix of the node's rows.
    Rows with_own_classes_of_outputs(const Rows& node, Work& work) const {
        work.sides.use(stats_);
        if constexpr (Stats::has_classes) {
            const std::uint32_t n_values = stats_.n_values, n_outputs = stats_.n_outputs_each;
            work.class_rank.resize(n_values);
            std::uint32_t n_own = 0;
            for (std::uint32_t k = 0; k < n_values; ++k) {
                work.class_rank[k] = static_cast<std::int32_t>(n_own);
                n_own += node.total[k] > 0;
            }
            if (n_own == n_values) return node;
            work.own_total.clear();
            for (std::uint32_t k = 0; k < n_values; ++k) {
                if (node.total[k] > 0) work.own_total.push_back(node.total[k]);
            }
            work.own_total.push_back(node.total[n_values]);
            work.own_total.push_back(node.total[n_values + 1]);
            work.own_values.clear();
            for (std::uint32_t i = 0; i < node.n; ++i) {
                const std::int32_t* of = stats_.row(node.targets[i]);
                for (std::uint32_t o = 0; o < n_outputs; ++o) {
                    work.own_values.push_back(work.class_rank[of[o]]);
                }
            }
            work.own_targets.resize(node.n);
            std::iota(work.own_targets.begin(), work.own_targets.end(), 0u);
            Stats own = stats_;
            own.n_values = n_own;
            own.values = work.own_values.data();
            work.sides.use(own);
            return {node.rows, work.own_targets.data(), node.weights, node.n,
                    work.own_total.data()};
        }
        return node;
    }

    static bool has_two_values(const CodeView& view) {
        return view.n_bins == 2 && view.narrow && !view.column->categorical &&
               !view.column->has_missing;
    }

    // Whether most rows are of the lowest code, as far as a few of them tell: the others are then
    // counted alone.
    bool skips_lowest(const CodeView& view, const Rows& rows) const {
        constexpr std::uint32_t n_asked = 16, many = 64;
        if (!draws_ || view.column->categorical || rows.n < many || rows.n >= most_sorted_rows) {
            return false;
        }
        std::uint32_t n_lowest = 0;
        for (std::uint32_t i = 0; i < n_asked; ++i) {
            n_lowest += view.at(rows.rows[rows.n / n_asked * i]) == 0;
        }
        return 2 * n_lowest > n_asked;
    }

    // One feature by the rows that are not of its lowest code.
    bool search_others(const Rows& rows, std::int32_t feature, const CodeView& view, Work& work,
                       const SplitRules& rules, Split& best) const {
        const Stats& stats = work.sides.stats();
        const std::uint32_t n = fill_keys(view, rows, work.keys);
        if (!counts(view, n, stats.width())) {
            return scan_sorted(work.sides, view, feature, rows, work.keys, n, work.scratch,
                               work.zeros, rules, best);
        }
        const std::size_t width = stats.width(), size = (view.n_bins + 1) * width;
        if (work.bins.size() < size) work.bins.resize(size);
        std::fill_n(work.bins.begin(), size, Number{0});
        Number* const bins = work.bins.data();
        for (std::uint32_t i = 0; i < n; ++i) {
            const std::uint32_t at = work.keys[i] & 0xffff;
            stats.add(bins + (work.keys[i] >> 16) * width, rows.targets[at], rows.weight(at));
        }
        std::copy_n(rows.total, width, bins);
        for (std::size_t b = width; b < size; b += width) {
            for (std::size_t k = 0; k < width; ++k) bins[k] -= bins[b + k];
        }
        return scan_bins(work.sides, bins, view, feature, rows.total, rules, best);
    }

    // Up to four features at once, counted together where counting pays.
    void search_some(const Rows& rows, const std::uint32_t* features, int n, const Views& views,
                     Work& work, const SplitRules& rules, Split& best, bool* varies) const {
        if constexpr (Sides::ranked) {
            for (int c = 0; c < n; ++c) {
                varies[c] =
                    work.quantiles.scan(work.sides, views[features[c]],
                                        static_cast<std::int32_t>(features[c]), rows, rules, best);
            }
        } else {
            search_sums(rows, features, n, views, work, rules, best, varies);
        }
    }

    void search_sums(const Rows& rows, const std::uint32_t* features, int n, const Views& views,
                     Work& work, const SplitRules& rules, Split& best, bool* varies) const {
        std::array<const CodeView*, columns_per_pass> counted{};
        std::array<int, columns_per_pass> which{};
        std::array<std::size_t, columns_per_pass + 1> start{};
        int n_counted = 0;
        const Stats& stats = work.sides.stats();
        for (int c = 0; c < n; ++c) {
            const CodeView& view = views[features[c]];
            const auto f = static_cast<std::int32_t>(features[c]);
            if (has_two_values(view) && work.left.counts_bits(stats, rows)) {
                varies[c] = scan_two(work.sides, view, f, rows, work.left, rules, best);
                continue;
            }
            if (!counts(view, rows.n, stats.width()) || skips_lowest(view, rows)) {
                varies[c] = search_others(rows, f, view, work, rules, best);
                continue;
            }
            counted[n_counted] = &view;
            which[n_counted] = c;
            start[n_counted + 1] = start[n_counted] + std::size_t(view.n_bins + 1) * stats.width();
            ++n_counted;
        }
        if (n_counted == 0) return;
        if (work.bins.size() < start[n_counted]) work.bins.resize(start[n_counted]);
        std::fill_n(work.bins.begin(), start[n_counted], Number{0});
        std::array<Number*, columns_per_pass> bins{};
        for (int c = 0; c < n_counted; ++c) bins[c] = work.bins.data() + start[c];
        count_some(stats, counted.data(), n_counted, rows, bins.data());
        for (int c = 0; c < n_counted; ++c) {
            varies[which[c]] = scan_counted(work.sides, bins[c], *counted[c], features[which[c]],
                                            rows.total, rules, best);
        }
    }

    bool search_random(const Rows& rows, std::uint32_t feature, const CodeView& view, Work& work,
                       const SplitRules& rules, Random& random, Split& best) const {
        const auto f = static_cast<std::int32_t>(feature);
        if constexpr (Sides::ranked) {
            return work.quantiles.scan_random(work.sides, view, f, rows, work.left, rules, random,
                                              best);
        } else {
            return search_random_sums(rows, f, view, work, rules, random, best);
        }
    }

    bool search_random_sums(const Rows& rows, std::int32_t f, const CodeView& view, Work& work,
                            const SplitRules& rules, Random& random, Split& best) const {
        if (!view.column->categorical) {
            return scan_random(work.sides, view, f, rows, work.left, rules, random, best);
        }
        const Stats& stats = work.sides.stats();
        work.bins.assign(std::size_t(view.n_bins + 1) * stats.width(), Number{0});
        count_column(stats, view, rows, work.bins.data());
        return scan_random_categories(work.sides, work.bins.data(), view, f, rows.total, rules,
                                      random, best);
    }

    const Stats stats_;
    FeatureDraw draw_;
    bool random_, draws_;
};

}  // namespace hedgerow
