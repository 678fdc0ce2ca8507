// Counting a node's targets by the code of a feature.
#pragma once

#include <array>
#include <cstdint>

#include "grow/split_search.hpp"

namespace hedgerow {

// Several columns are counted in one pass: the targets are read once, and the additions do not wait
// for each other when many rows share a bin (2x on pixel columns, which are mostly zero).
inline constexpr int columns_per_pass = 4;

template <int n_columns, class Code, class Stats>
void count_columns(const Stats& stats, const std::array<const Code*, n_columns>& codes,
                   const NodeRows<Stats>& node,
                   const std::array<typename Stats::Number*, n_columns>& bins) {
    const std::size_t width = stats.width();
    for (std::uint32_t i = 0; i < node.n; ++i) {
        const Row row = node.rows[i];
        const auto y = node.targets[i];
        const auto w = node.weight(i);
        for (int c = 0; c < n_columns; ++c) stats.add(bins[c] + codes[c][row] * width, y, w);
    }
}

// Fills the zeroed `bins` of one column.
template <class Stats>
void count_column(const Stats& stats, const CodeView& view, const NodeRows<Stats>& node,
                  typename Stats::Number* bins) {
    if (view.narrow) {
        count_columns<1, std::uint8_t>(stats, {view.narrow}, node, {bins});
    } else {
        count_columns<1, std::uint16_t>(stats, {view.wide}, node, {bins});
    }
}

// Fills the zeroed bins of up to four columns.
template <class Stats>
void count_some(const Stats& stats, const CodeView* const* views, int n_views,
                const NodeRows<Stats>& node, typename Stats::Number* const* bins) {
    const bool all_narrow = n_views == columns_per_pass && views[0]->narrow && views[1]->narrow &&
                            views[2]->narrow && views[3]->narrow;
    if (all_narrow) {
        count_columns<4, std::uint8_t>(
            stats, {views[0]->narrow, views[1]->narrow, views[2]->narrow, views[3]->narrow}, node,
            {bins[0], bins[1], bins[2], bins[3]});
        return;
    }
    for (int c = 0; c < n_views; ++c) count_column(stats, *views[c], node, bins[c]);
}

}  // namespace hedgerow
