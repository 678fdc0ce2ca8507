#include "data/row_codes.hpp"

#include <algorithm>

namespace hedgerow {

bool has_narrow_codes(const Dataset& data) {
    for (std::size_t f = 0; f < data.n_features(); ++f) {
        if (data.column(f).wide) return false;
    }
    return true;
}

bool has_plain_codes(const Dataset& data) {
    for (std::size_t f = 0; f < data.n_features(); ++f) {
        const Column& column = data.column(f);
        if (column.wide || column.categorical || column.has_missing) return false;
    }
    return true;
}

RowCodes::RowCodes(const Dataset& data, Team& team)
    : n_features_(data.n_features()),
      codes_(std::make_unique_for_overwrite<std::uint8_t[]>(data.n_rows() * data.n_features())) {
    const std::size_t n_features = n_features_;
    constexpr std::size_t rows_per_task = 64;  // a cache line of each column
    const std::size_t n_tasks = (data.n_rows() + rows_per_task - 1) / rows_per_task;
    team.for_each(n_tasks, [&](std::size_t task, int) {
        const std::size_t begin = task * rows_per_task;
        const std::size_t end = std::min(begin + rows_per_task, data.n_rows());
        for (std::size_t f = 0; f < n_features; ++f) {
            const std::uint8_t* from = data.column(f).narrow_codes();
            std::uint8_t* to = codes_.get() + f;
            for (std::size_t row = begin; row < end; ++row) to[row * n_features] = from[row];
        }
    });
}

}  // namespace hedgerow
