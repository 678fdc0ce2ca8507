// One threshold for a feature, drawn uniformly between the node's smallest and largest value.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

#include "base/random.hpp"
#include "grow/left_stats.hpp"
#include "grow/split_search.hpp"

namespace hedgerow {

// The cut nearest to a place between the smallest value of one code and the largest of another.
inline Cut random_cut(const Column& column, std::uint32_t low, std::uint32_t high, Random& random) {
    const double from = column.smallest_of(low), to = column.largest_of(high);
    return cut_near(column, low, high, from + random.uniform() * (to - from));
}

// Codes up to `a` go left; the next present one may be `b`.
struct RandomBorder {
    std::uint32_t a, b;
    bool missing_left;
    double threshold;
};

// None for a feature that is constant in a node of n rows.
inline std::optional<RandomBorder> draw_border(const CodeView& view, const detail::CodeRange& range,
                                               std::uint32_t n, Random& random) {
    const auto [low, high, n_missing] = range;
    if (n_missing == n || (low == high && n_missing == 0)) return std::nullopt;
    const bool missing_left = n_missing > 0 && low != high && (random.next() & 1);
    if (low == high) {
        return RandomBorder{high, view.n_bins, false, std::numeric_limits<double>::infinity()};
    }
    const Cut cut = random_cut(*view.column, view.data_code(low), view.data_code(high), random);
    const std::uint32_t last_left = view.code_up_to(cut.last_left, low, high);
    return RandomBorder{last_left, last_left + 1, missing_left, cut.threshold};
}

template <class Sides>
void take_drawn(const Sides& sides, const SplitRules& rules, std::int32_t feature,
                const RandomBorder& border, Split& best) {
    if (detail::take_border(sides, rules, feature, border.a, border.missing_left, best)) {
        best.b = border.b;
        best.threshold = border.threshold;
    }
}

template <class Sides, class Stats>
bool scan_random(Sides& sides, const CodeView& view, std::int32_t feature,
                 const NodeRows<Stats>& node, LeftStats<Stats>& left, const SplitRules& rules,
                 Random& random, Split& best) {
    const auto border = draw_border(view, left.read(sides.stats(), view, node), node.n, random);
    if (!border) return false;
    sides.start(node.total);
    sides.move(left.sum(sides.stats(), view, node, border->a, border->missing_left));
    take_drawn(sides, rules, feature, *border, best);
    return true;
}

}  // namespace hedgerow
