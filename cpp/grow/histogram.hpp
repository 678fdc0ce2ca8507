// Counting a node's targets by the code of a feature.
#pragma once

#include <algorithm>
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

// One column: every other row goes to a second set of bins, so that neighbouring rows of one bin do
// not wait for each other (1.5x on columns of few values).
template <class Code, class Stats>
void count_one(const Stats& stats, const Code* codes, const NodeRows<Stats>& node,
               typename Stats::Number* bins, typename Stats::Number* second) {
    const std::size_t width = stats.width();
    const std::uint32_t n_pairs = node.n / 2;
    for (std::uint32_t i = 0; i < 2 * n_pairs; i += 2) {
        stats.add(bins + codes[node.rows[i]] * width, node.targets[i], node.weight(i));
        stats.add(second + codes[node.rows[i + 1]] * width, node.targets[i + 1],
                  node.weight(i + 1));
    }
    if (node.n % 2) {
        const std::uint32_t last = node.n - 1;
        stats.add(bins + codes[node.rows[last]] * width, node.targets[last], node.weight(last));
    }
}

// Fills the zeroed `bins` of one column.
template <class Stats>
void count_column(const Stats& stats, const CodeView& view, const NodeRows<Stats>& node,
                  typename Stats::Number* bins) {
    using Number = typename Stats::Number;
    constexpr std::size_t most = 2048;  // numbers in a second set of bins: they stay in the cache
    const std::size_t size = std::size_t(view.n_bins + 1) * stats.width();
    if (view.narrow && size <= most && node.n > size) {
        std::array<Number, most> second;
        std::fill_n(second.begin(), size, Number{0});
        count_one(stats, view.narrow, node, bins, second.data());
        for (std::size_t i = 0; i < size; ++i) bins[i] += second[i];
    } else if (view.narrow) {
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

// Whether counting is cheaper than sorting. In nanoseconds, measured: a row takes 1 to count
// and 5 to sort and move; a bin takes 1.5 and half of one for each number in it.
inline bool counts(const CodeView& view, std::uint32_t n, std::uint32_t width) {
    return view.column->categorical || n >= most_sorted_rows ||
           4 * n > view.n_bins * (1.5 + 0.5 * width);
}

}  // namespace hedgerow
