#include "data/interleave.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

namespace hedgerow {

namespace {

constexpr std::size_t rows_at_once = 64;

// Writes some rows of one column; tells whether one of the numbers is infinite.
template <class From, class T>
bool write_column(const FrameColumn& column, std::size_t begin, std::size_t end, T* out,
                  std::size_t width) {
    const auto* from = static_cast<const From*>(column.data);
    bool infinite = false;
    for (std::size_t row = begin; row < end; ++row, out += width) {
        const From value = from[static_cast<std::ptrdiff_t>(row) * column.stride];
        *out = static_cast<T>(value);
        if constexpr (std::is_floating_point_v<From>) infinite |= std::isinf(value);
    }
    return infinite;
}

template <class From, class T>
bool write_places(const FrameColumn& column, std::size_t begin, std::size_t end, T* out,
                  std::size_t width) {
    const auto* from = static_cast<const From*>(column.data);
    const auto last = static_cast<std::int64_t>(column.places.size()) - 1;
    for (std::size_t row = begin; row < end; ++row, out += width) {
        const auto code =
            static_cast<std::int64_t>(from[static_cast<std::ptrdiff_t>(row) * column.stride]);
        const std::int32_t place = column.places[code < 0 || code > last ? last : code];
        *out = place < 0 ? std::numeric_limits<T>::quiet_NaN() : static_cast<T>(place);
    }
    return false;
}

template <class T>
using Write = bool (*)(const FrameColumn&, std::size_t, std::size_t, T*, std::size_t);

template <class From, class T>
Write<T> writer(const FrameColumn& column) {
    return column.places.empty() ? write_column<From, T> : write_places<From, T>;
}

template <class T>
Write<T> writer_of(const FrameColumn& column) {
    switch (column.cell) {
        case Cell::int8:
            return writer<std::int8_t, T>(column);
        case Cell::int16:
            return writer<std::int16_t, T>(column);
        case Cell::int32:
            return writer<std::int32_t, T>(column);
        case Cell::int64:
            return writer<std::int64_t, T>(column);
        case Cell::uint8:
            return writer<std::uint8_t, T>(column);
        case Cell::uint16:
            return writer<std::uint16_t, T>(column);
        case Cell::uint32:
            return writer<std::uint32_t, T>(column);
        case Cell::uint64:
            return writer<std::uint64_t, T>(column);
        case Cell::float32:
            return writer<float, T>(column);
        default:
            return writer<double, T>(column);
    }
}

}  // namespace

template <class T>
std::size_t interleave(std::span<const FrameColumn> columns, std::size_t n_rows, T* out) {
    const std::size_t width = columns.size();
    std::vector<Write<T>> write;
    for (const FrameColumn& column : columns) write.push_back(writer_of<T>(column));
    std::size_t infinite = width;
    for (std::size_t begin = 0; begin < n_rows; begin += rows_at_once) {
        const std::size_t end = std::min(begin + rows_at_once, n_rows);
        for (std::size_t f = 0; f < width; ++f) {
            if (write[f](columns[f], begin, end, out + begin * width + f, width)) {
                infinite = std::min(infinite, f);
            }
        }
    }
    return infinite;
}

template std::size_t interleave(std::span<const FrameColumn>, std::size_t, float*);
template std::size_t interleave(std::span<const FrameColumn>, std::size_t, double*);

}  // namespace hedgerow
