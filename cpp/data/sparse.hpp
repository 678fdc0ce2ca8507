// Tables whose cells are mostly zero, as SciPy keeps them: only the others are stored.
//
// line      a column (CSC), for binning, or a row (CSR), for prediction
// place     where a stored number stands in its line; ascending, each at most once
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/parallel.hpp"

namespace hedgerow {

template <class T>
struct SparseLine {
    std::span<const T> values;
    std::span<const std::int32_t> places;
};

template <class T>
struct SparseLines {
    const T* values;
    const std::int32_t* places;
    std::span<const std::int64_t> starts;  // of the lines, and the end
    std::size_t length;                    // of a line, zeros included

    std::size_t n_lines() const { return starts.size() - 1; }
    SparseLine<T> line(std::size_t i) const {
        const auto first = static_cast<std::size_t>(starts[i]);
        const auto n = static_cast<std::size_t>(starts[i + 1]) - first;
        return {{values + first, n}, {places + first, n}};
    }
};

// Calls body(numbers, first, n, team) for blocks of rows with their zeros written out; blocks share
// the threads, and the body's team is of one. Memory: a block for each thread.
template <class T, class Body>
void for_dense_blocks(const SparseLines<T>& rows, Team& team, const Body& body) {
    constexpr std::size_t block_bytes = std::size_t{1} << 24, most_rows = 1024;
    const std::size_t size =
        std::clamp<std::size_t>(block_bytes / sizeof(T) / (rows.length + 1), 1, most_rows);
    std::vector<std::vector<T>> blocks(static_cast<std::size_t>(team.size()));
    team.for_each((rows.n_lines() + size - 1) / size, [&](std::size_t task, int worker) {
        const std::size_t first = task * size, n = std::min(size, rows.n_lines() - first);
        auto& block = blocks[static_cast<std::size_t>(worker)];
        block.resize(size * rows.length);  // all zero, and so it is left
        for (std::size_t i = 0; i < n; ++i) {
            const SparseLine<T> row = rows.line(first + i);
            for (std::size_t k = 0; k < row.places.size(); ++k) {
                block[i * rows.length + static_cast<std::size_t>(row.places[k])] = row.values[k];
            }
        }
        Team solo(1, team.poll_for(worker));
        body(block.data(), first, n, solo);
        for (std::size_t i = 0; i < n; ++i) {
            for (const std::int32_t place : rows.line(first + i).places) {
                block[i * rows.length + static_cast<std::size_t>(place)] = T{0};
            }
        }
    });
}

}  // namespace hedgerow
