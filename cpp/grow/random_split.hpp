// One threshold for a feature, drawn uniformly between the node's smallest and largest value.
#pragma once

#include <cstdint>
#include <limits>

#include "base/random.hpp"
#include "grow/left_stats.hpp"
#include "grow/split_search.hpp"

namespace hedgerow {

// The cut nearest to a place between the smallest value of one code and the largest of another.
inline Cut random_cut(const Column& column, std::uint32_t low, std::uint32_t high, Random& random) {
    const double from = column.smallest_of(low), to = column.largest_of(high);
    return cut_near(column, low, high, from + random.uniform() * (to - from));
}

template <class Sides, class Stats>
bool scan_random(Sides& sides, const CodeView& view, std::int32_t feature,
                 const NodeRows<Stats>& node, LeftStats<Stats>& left, const SplitRules& rules,
                 Random& random, Split& best) {
    const auto [low, high, n_missing] = left.read(sides.stats(), view, node);
    if (n_missing == node.n || (low == high && n_missing == 0)) return false;
    const Column& column = *view.column;
    const bool missing_left = n_missing > 0 && low != high && (random.next() & 1);
    std::uint32_t last_left = high;
    double threshold = std::numeric_limits<double>::infinity();
    if (low != high) {
        const Cut cut = random_cut(column, view.data_code(low), view.data_code(high), random);
        threshold = cut.threshold;
        last_left = view.code_up_to(cut.last_left, low, high);
    }
    sides.start(node.total);
    sides.move(left.sum(sides.stats(), view, node, last_left, missing_left));
    if (detail::take_border(sides, rules, feature, last_left, missing_left, best)) {
        best.b = low == high ? view.n_bins : last_left + 1;
        best.threshold = threshold;
    }
    return true;
}

}  // namespace hedgerow
