// Columns of a data frame, each of its own type, as rows of numbers of one type.
//
// column    numbers or codes of categories, anywhere in memory
// places    turns a code into a category of the training table; its last entry stands for codes
//           below zero. A place below zero is missing: NaN
//
// Cost: a pass over the columns, some rows at a time, so that the rows being written stay in the
// cache; nothing is copied on the way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace hedgerow {

enum class Cell : std::uint8_t {
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
    float32,
    float64
};

struct FrameColumn {
    const void* data;
    std::ptrdiff_t stride;  // in elements
    Cell cell;
    std::span<const std::int32_t> places;  // of categories; empty for numbers
};

// Writes n_rows x columns.size() numbers. Returns the first column with an infinite number, or
// columns.size() where there is none.
template <class T>
std::size_t interleave(std::span<const FrameColumn> columns, std::size_t n_rows, T* out);

}  // namespace hedgerow
