// The distinct values of numbers with their counts, and bins of nearly equal weight made of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace hedgerow {

template <class T>
struct Distinct {
    std::vector<T> values;  // ascending
    std::vector<std::uint32_t> counts;
    std::size_t n_present = 0;
};

// The values as integers base..base+length-1, where the table of codes can be indexed by value.
struct IntegerRange {
    std::int64_t base;
    std::size_t length;
};

template <class T>
std::optional<IntegerRange> find_integer_range(const T* values, std::size_t n);

template <class T>
Distinct<T> count_integers(const T* values, std::size_t n, IntegerRange range);

template <class T>
Distinct<T> sort_distinct(const T* values, std::size_t n);

// Index of the first value of each bin: bins of nearly equal weight, a heavy value alone in its
// bin.
template <class Count>
std::vector<std::size_t> equal_weight_bins(std::span<const Count> counts, std::size_t total,
                                           std::uint32_t n_bins) {
    std::vector<std::size_t> starts{0};
    double rest = static_cast<double>(total);
    double in_bin = 0;
    for (std::size_t i = 0; i < counts.size(); ++i) {
        const std::size_t bins_left = n_bins - starts.size() + 1;
        const double share = rest / static_cast<double>(bins_left);
        if (in_bin > 0 && in_bin + static_cast<double>(counts[i]) / 2.0 > share && bins_left > 1) {
            starts.push_back(i);
            rest -= in_bin;
            in_bin = 0;
        }
        in_bin += static_cast<double>(counts[i]);
    }
    return starts;
}

}  // namespace hedgerow
