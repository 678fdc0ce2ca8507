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
#include <vector>

#include "base/random.hpp"
#include "grow/gathered.hpp"
#include "grow/histogram.hpp"
#include "grow/partition.hpp"
#include "grow/random_split.hpp"
#include "grow/split_search.hpp"

namespace hedgerow {

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
    LeftStats<Stats> left;
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
          n_features_(n_features),
          max_features_(params.max_features < 0 ? n_features
                                                : static_cast<std::uint32_t>(std::min<std::int64_t>(
                                                      params.max_features, n_features))),
          random_(params.splitter == GrowParams::Splitter::random),
          draws_(params.draws(n_features)) {}

    std::uint32_t max_features() const { return max_features_; }

    // Whether nodes look at some features or thresholds only, drawn at random. Such trees are grown
    // in one piece: what a node draws depends on which features were found constant before it.
    bool draws() const { return draws_; }

    // All features that are not known to be constant; newly found constants move to the front.
    Split search_all(const Rows& node, std::uint32_t& n_constant, const Views& views, Work& work,
                     const SplitRules& rules) const {
        Split best;
        const Rows rows = with_own_classes(node, work);
        auto& features = work.features;
        for (std::uint32_t at = n_constant; at < n_features_;) {
            const int n =
                static_cast<int>(std::min<std::uint32_t>(columns_per_pass, n_features_ - at));
            std::array<bool, columns_per_pass> varies{};
            search_some(rows, features.data() + at, n, views, work, rules, best, varies.data());
            for (int c = 0; c < n; ++c, ++at) {
                if (!varies[c]) std::swap(features[at], features[n_constant++]);
            }
        }
        return best;
    }

    // Features drawn without replacement until max_features were looked at and one of them varied.
    // Known constants count as looked at, as in scikit-learn. A split into two pure children ends
    // the search: nothing can be better (most nodes of a full-grown tree have two or three rows).
    Split search_drawn(const Rows& node, std::uint32_t& n_constant, std::uint64_t key,
                       const Views& views, Work& work, const SplitRules& rules,
                       double pure_score) const {
        Split best;
        const Rows rows = with_own_classes(node, work);
        Random random(key);
        auto& features = work.features;
        const std::uint32_t n_known = n_constant;
        std::uint32_t open = n_features_, drawn_constants = 0, found_constants = 0, looked_at = 0;
        while (open > n_constant && best.score < pure_score - rules.tolerance &&
               (looked_at < max_features_ || looked_at <= found_constants + drawn_constants)) {
            ++looked_at;
            auto at = static_cast<std::uint32_t>(
                drawn_constants + random.below(open - found_constants - drawn_constants));
            if (at < n_known) {  // which one does not matter, and the front stays as it is
                ++drawn_constants;
                continue;
            }
            at += found_constants;
            bool varies = false;
            const std::uint32_t feature = features[at];
            if (random_) {
                varies = search_random(rows, feature, views[feature], work, rules, random, best);
            } else {
                search_some(rows, &feature, 1, views, work, rules, best, &varies);
            }
            if (varies) {
                std::swap(features[at], features[--open]);
            } else {
                std::swap(features[at], features[n_constant++]);
                ++found_constants;
            }
        }
        return best;
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
        } else {
            return node;
        }
    }

    static bool has_two_values(const CodeView& view) {
        return view.n_bins == 2 && view.narrow && !view.column->categorical &&
               !view.column->has_missing;
    }

    // Whether counting is cheaper than sorting. In nanoseconds, measured: a row takes 1 to count
    // and 5 to sort and move; a bin takes 1.5 and half of one for each number in it.
    static bool counts(const CodeView& view, std::uint32_t n, std::uint32_t width) {
        return view.column->categorical || n >= most_sorted_rows ||
               4 * n > view.n_bins * (1.5 + 0.5 * width);
    }

    // Up to four features at once, counted together where counting pays.
    void search_some(const Rows& rows, const std::uint32_t* features, int n, const Views& views,
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
            if (!counts(view, rows.n, stats.width())) {
                varies[c] = scan_sorted(work.sides, view, f, rows, work.keys, work.scratch,
                                        work.zeros, rules, best);
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
    std::uint32_t n_features_, max_features_;
    bool random_, draws_;
};

}  // namespace hedgerow
