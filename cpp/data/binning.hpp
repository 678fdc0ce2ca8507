// From the numbers of one feature to bins and codes.
//
// 1. Count the distinct values: with a table when they are integers in a short range (pixels, ages,
//    counts: about 1 ns a value), else with a radix sort of a copy.
// 2. If there are more than max_bins, join neighbours into bins of nearly equal weight.
// 3. Write the codes: by the same table, or by a branchless binary search.
#pragma once

#include <cstddef>
#include <cstdint>

#include "data/dataset.hpp"
#include "data/sparse.hpp"

namespace hedgerow {

template <class T>
Column bin_numbers(const T* values, std::size_t n, std::uint32_t max_bins);

// The same bins and codes for a column of n numbers of which only some are stored.
template <class T>
Column bin_sparse_numbers(const SparseLine<T>& line, std::size_t n, std::uint32_t max_bins);

Column bin_categories(const std::int32_t* codes, std::size_t n, std::uint32_t n_categories);

}  // namespace hedgerow
