// A copy of the codes of some rows that fits the cache, for growing a subtree.
//
// Codes are ranked anew among those present (fewer bins to clear and scan), and features that are
// constant in these rows are found on the way. Cost: about 3 ns a cell, once per subtree instead of
// a cache miss per cell and level; a third of that from a copy of the codes by row.
#pragma once

#include <bit>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "data/row_codes.hpp"
#include "grow/split.hpp"

namespace hedgerow {

struct Gathered {
    std::vector<CodeView> views;  // by feature; empty for the constant ones

    // `features` lists all features, the first `n_constant` of which are constant in the rows;
    // newly found constants join them. `by_row` may be null.
    Gathered(const std::vector<CodeView>& from, const RowCodes* by_row, std::span<const Row> rows,
             std::vector<std::uint32_t>& features, std::uint32_t& n_constant);

  private:
    std::unique_ptr<std::uint8_t[]> narrow_;
    std::vector<std::vector<std::uint16_t>> wide_;
    std::vector<std::uint16_t> originals_;
};

// The same for trees that draw features, from the copy of the codes by row: rows stay together, and
// are copied whole.
struct RowBlock {
    std::vector<CodeView> views;  // to be read at the rows that `copy` returns

    // Bytes from row to row: a row of up to 64 codes never crosses a cache line.
    static std::size_t stride_for(std::size_t n_features) {
        return n_features <= 64 ? std::bit_ceil(n_features) : (n_features + 63) / 64 * 64;
    }

    // Numbers the rows anew, by where their codes begin in the block.
    void copy(const RowCodes& codes, const std::vector<CodeView>& from, std::span<Row> rows);

  private:
    struct alignas(64) Line {
        std::uint8_t codes[64];
    };
    std::vector<Line> lines_;
};

}  // namespace hedgerow
