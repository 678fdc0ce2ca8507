#include "data/binning.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace hedgerow {
namespace {

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
std::optional<IntegerRange> find_integer_range(const T* values, std::size_t n) {
    constexpr T limit = 1 << 24;  // every integer up to here is exact in both types
    T low = limit, high = -limit;
    for (std::size_t i = 0; i < n; ++i) {
        const T v = values[i];
        if (v != v) continue;
        if (!(std::abs(v) <= limit) || v != static_cast<T>(static_cast<std::int32_t>(v))) {
            return std::nullopt;
        }
        low = std::min(low, v);
        high = std::max(high, v);
    }
    if (low > high) return std::nullopt;
    const auto length = static_cast<std::size_t>(high - low) + 1;
    // A table much longer than the column costs more than sorting the column.
    if (length > 2 * n + 256 || length > (1u << 20)) return std::nullopt;
    return IntegerRange{static_cast<std::int64_t>(low), length};
}

template <class T>
Distinct<T> count_integers(const T* values, std::size_t n, IntegerRange range) {
    std::vector<std::uint32_t> table(range.length);
    const T base = static_cast<T>(range.base);
    Distinct<T> out;
    for (std::size_t i = 0; i < n; ++i) {
        const T v = values[i];
        if (v != v) continue;
        ++table[static_cast<std::size_t>(v - base)];
        ++out.n_present;
    }
    for (std::size_t i = 0; i < range.length; ++i) {
        if (table[i] == 0) continue;
        out.values.push_back(base + static_cast<T>(i));
        out.counts.push_back(table[i]);
    }
    return out;
}

// Floating-point numbers as unsigned integers of the same order.
template <class T>
using Key = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

template <class T>
Key<T> to_key(T value) {
    const auto bits = std::bit_cast<Key<T>>(value);
    constexpr Key<T> sign = Key<T>{1} << (sizeof(T) * 8 - 1);
    return bits & sign ? ~bits : bits | sign;
}

template <class T>
T from_key(Key<T> key) {
    constexpr Key<T> sign = Key<T>{1} << (sizeof(T) * 8 - 1);
    return std::bit_cast<T>(key & sign ? key & ~sign : ~key);
}

template <class K>
void radix_sort(std::vector<K>& keys) {
    if (keys.size() < 512) {
        std::sort(keys.begin(), keys.end());
        return;
    }
    constexpr int digit_bits = 11, n_digits = (sizeof(K) * 8 + digit_bits - 1) / digit_bits;
    constexpr std::size_t radix = 1 << digit_bits;
    std::vector<std::array<std::uint32_t, radix>> counts(n_digits);
    for (const K key : keys) {
        for (int d = 0; d < n_digits; ++d) ++counts[d][(key >> (d * digit_bits)) & (radix - 1)];
    }
    std::vector<K> other(keys.size());
    for (int d = 0; d < n_digits; ++d) {
        auto& count = counts[d];
        const int shift = d * digit_bits;
        if (count[(keys[0] >> shift) & (radix - 1)] == keys.size()) continue;
        std::uint32_t start = 0;
        for (auto& c : count) start += std::exchange(c, start);
        for (const K key : keys) other[count[(key >> shift) & (radix - 1)]++] = key;
        keys.swap(other);
    }
}

template <class T>
Distinct<T> sort_distinct(const T* values, std::size_t n) {
    std::vector<Key<T>> keys;
    keys.reserve(n);
    for (std::size_t i = 0; i < n; ++i) {
        const T v = values[i] + T{0};  // -0 becomes 0
        if (v == v) keys.push_back(to_key(v));
    }
    radix_sort(keys);
    Distinct<T> out;
    out.n_present = keys.size();
    for (std::size_t i = 0; i < keys.size();) {
        std::size_t j = i + 1;
        while (j < keys.size() && keys[j] == keys[i]) ++j;
        out.values.push_back(from_key<T>(keys[i]));
        out.counts.push_back(static_cast<std::uint32_t>(j - i));
        i = j;
    }
    return out;
}

// Index of the first value of each bin: bins of nearly equal weight, a heavy value alone in its
// bin.
std::vector<std::size_t> equal_weight_bins(const std::vector<std::uint32_t>& counts,
                                           std::size_t total, std::uint32_t n_bins) {
    std::vector<std::size_t> starts{0};
    double rest = static_cast<double>(total);
    double in_bin = 0;
    for (std::size_t i = 0; i < counts.size(); ++i) {
        const std::size_t bins_left = n_bins - starts.size() + 1;
        const double share = rest / static_cast<double>(bins_left);
        if (in_bin > 0 && in_bin + counts[i] / 2.0 > share && bins_left > 1) {
            starts.push_back(i);
            rest -= in_bin;
            in_bin = 0;
        }
        in_bin += counts[i];
    }
    return starts;
}

template <class Code, class T>
void write_codes(const T* values, std::size_t n, const std::vector<T>& largest,
                 std::optional<IntegerRange> integers, Code* codes) {
    const auto missing = static_cast<Code>(largest.size());
    if (integers) {
        std::vector<Code> table(integers->length);
        std::size_t bin = 0;
        const T base = static_cast<T>(integers->base);
        for (std::size_t i = 0; i < table.size(); ++i) {
            while (bin + 1 < largest.size() && largest[bin] < base + static_cast<T>(i)) ++bin;
            table[i] = static_cast<Code>(bin);
        }
        for (std::size_t i = 0; i < n; ++i) {
            const T v = values[i];
            codes[i] = v == v ? table[static_cast<std::size_t>(v - base)] : missing;
        }
        return;
    }
    for (std::size_t i = 0; i < n; ++i) {
        const T v = values[i];
        const T* first = largest.data();
        for (std::size_t length = largest.size(); length > 1;) {
            const std::size_t half = length / 2;
            first += first[half - 1] < v ? half : 0;
            length -= half;
        }
        codes[i] = v == v ? static_cast<Code>(first - largest.data()) : missing;
    }
}

std::unique_ptr<std::uint8_t[]> room_for_codes(std::size_t n, bool wide) {
    return std::make_unique_for_overwrite<std::uint8_t[]>(n * (wide ? 2 : 1));
}

}  // namespace

template <class T>
Column bin_numbers(const T* values, std::size_t n, std::uint32_t max_bins) {
    const auto integers = find_integer_range(values, n);
    const Distinct<T> distinct =
        integers ? count_integers(values, n, *integers) : sort_distinct(values, n);
    if (max_bins == 0) max_bins = Dataset::most_bins;

    Column column;
    column.has_missing = distinct.n_present < n;
    std::vector<T> largest;
    if (distinct.values.size() <= max_bins) {
        largest = distinct.values;
        column.smallest.assign(largest.begin(), largest.end());
    } else {
        const auto starts = equal_weight_bins(distinct.counts, distinct.n_present, max_bins);
        for (std::size_t bin = 0; bin < starts.size(); ++bin) {
            const std::size_t end =
                bin + 1 < starts.size() ? starts[bin + 1] : distinct.values.size();
            column.smallest.push_back(distinct.values[starts[bin]]);
            largest.push_back(distinct.values[end - 1]);
        }
        column.largest.assign(largest.begin(), largest.end());
    }
    column.n_bins = static_cast<std::uint32_t>(largest.size());
    column.wide = column.n_bins > Dataset::most_narrow_bins;
    column.bytes = room_for_codes(n, column.wide);
    if (column.wide) {
        write_codes(values, n, largest, integers,
                    reinterpret_cast<std::uint16_t*>(column.bytes.get()));
    } else {
        write_codes(values, n, largest, integers, column.bytes.get());
    }
    return column;
}

template Column bin_numbers(const float*, std::size_t, std::uint32_t);
template Column bin_numbers(const double*, std::size_t, std::uint32_t);

Column bin_categories(const std::int32_t* codes, std::size_t n, std::uint32_t n_categories) {
    if (n_categories > Dataset::most_bins) {
        throw std::invalid_argument(
            "a categorical feature can have at most 65535 categories, got " +
            std::to_string(n_categories));
    }
    Column column;
    column.categorical = true;
    column.n_bins = n_categories;
    column.wide = n_categories > Dataset::most_narrow_bins;
    column.bytes = room_for_codes(n, column.wide);
    auto* wide = reinterpret_cast<std::uint16_t*>(column.bytes.get());
    for (std::size_t i = 0; i < n; ++i) {
        if (codes[i] >= static_cast<std::int64_t>(n_categories)) {
            throw std::invalid_argument("category code out of range");
        }
        const bool missing = codes[i] < 0;
        column.has_missing |= missing;
        const std::uint32_t code = missing ? n_categories : static_cast<std::uint32_t>(codes[i]);
        if (column.wide) {
            wide[i] = static_cast<std::uint16_t>(code);
        } else {
            column.bytes[i] = static_cast<std::uint8_t>(code);
        }
    }
    return column;
}

}  // namespace hedgerow
