#include "data/binning.hpp"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "data/distinct.hpp"

namespace hedgerow {
namespace {

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

namespace {

// Makes the bins of a column of n numbers; returns the largest number of each.
template <class T>
std::vector<T> make_bins(const Distinct<T>& distinct, std::size_t n, std::uint32_t max_bins,
                         Column& column) {
    if (max_bins == 0) max_bins = Dataset::most_bins;
    column.has_missing = distinct.n_present < n;
    std::vector<T> largest;
    if (distinct.values.size() <= max_bins) {
        largest = distinct.values;
        column.smallest.assign(largest.begin(), largest.end());
    } else {
        const auto starts =
            equal_weight_bins<std::uint32_t>(distinct.counts, distinct.n_present, max_bins);
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
    return largest;
}

// Counts n further zeros.
template <class T>
void add_zeros(Distinct<T>& distinct, std::size_t n) {
    if (n == 0) return;
    const auto place = std::lower_bound(distinct.values.begin(), distinct.values.end(), T{0});
    const auto at = place - distinct.values.begin();
    if (place == distinct.values.end() || *place != T{0}) {
        distinct.values.insert(place, T{0});
        distinct.counts.insert(distinct.counts.begin() + at, 0);
    }
    distinct.counts[static_cast<std::size_t>(at)] += static_cast<std::uint32_t>(n);
    distinct.n_present += n;
}

}  // namespace

template <class T>
Column bin_numbers(const T* values, std::size_t n, std::uint32_t max_bins) {
    const auto integers = find_integer_range(values, n);
    const Distinct<T> distinct =
        integers ? count_integers(values, n, *integers) : sort_distinct(values, n);
    Column column;
    const std::vector<T> largest = make_bins(distinct, n, max_bins, column);
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

template <class T>
Column bin_sparse_numbers(const SparseLine<T>& line, std::size_t n, std::uint32_t max_bins) {
    const std::size_t n_stored = line.values.size();
    Distinct<T> distinct = sort_distinct(line.values.data(), n_stored);
    add_zeros(distinct, n - n_stored);
    Column column;
    const std::vector<T> largest = make_bins(distinct, n, max_bins, column);
    column.bytes = room_for_codes(n, column.wide);
    const auto write = [&]<class Code>(Code* codes) {
        const T zero = 0;
        std::vector<Code> stored(n_stored);
        write_codes(line.values.data(), n_stored, largest, std::nullopt, stored.data());
        Code of_zero;
        write_codes(&zero, 1, largest, std::nullopt, &of_zero);
        std::fill_n(codes, n, of_zero);
        for (std::size_t i = 0; i < n_stored; ++i) codes[line.places[i]] = stored[i];
    };
    if (column.wide) {
        write(reinterpret_cast<std::uint16_t*>(column.bytes.get()));
    } else {
        write(column.bytes.get());
    }
    return column;
}

template Column bin_sparse_numbers(const SparseLine<float>&, std::size_t, std::uint32_t);
template Column bin_sparse_numbers(const SparseLine<double>&, std::size_t, std::uint32_t);

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
