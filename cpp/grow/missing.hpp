// Where values go that the rows of a node say nothing about.
//
// missing values that a node has are tried on both sides (grow/split_search.hpp); where it has
// none, they later follow the heavier child. Categories that a node has not go with them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "grow/split.hpp"

namespace hedgerow {

inline bool unseen_goes_left(double left_weight, double weight) {
    return left_weight > weight - left_weight;
}

// Whether each category goes left, as bits.
inline std::vector<std::uint64_t> packed_set(std::span<const std::uint8_t> left) {
    std::vector<std::uint64_t> words((left.size() + 63) / 64);
    for (std::size_t c = 0; c < left.size(); ++c) {
        words[c / 64] |= std::uint64_t{left[c]} << (c % 64);
    }
    return words;
}

// The left set of a test as bits over the data set's categories, from the codes of the node's rows
// and whether each of these codes goes left.
inline std::vector<std::uint64_t> category_set(const CodeView& view, std::span<const Row> rows,
                                               const std::vector<std::uint8_t>& in_set,
                                               bool missing_left) {
    const std::uint32_t n_categories = view.column->n_bins;
    std::vector<std::uint8_t> left(n_categories, missing_left);
    for (const Row row : rows) {
        const std::uint32_t code = view.at(row);
        if (code != view.n_bins) left[view.data_code(code)] = in_set[code];
    }
    return packed_set(left);
}

}  // namespace hedgerow
