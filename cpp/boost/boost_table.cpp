#include "boost/boost_table.hpp"

#include <algorithm>

namespace hedgerow {

BoostTable::BoostTable(const Dataset& data, Team& team) : data_(data) {
    std::uint32_t n_bins = 0;
    for (std::uint32_t f = 0; f < data.n_features(); ++f) {
        const Column& column = data.column(f);
        place_.push_back(n_bins);
        n_bins += column.n_bins + 1;
        if (column.n_bins + column.has_missing < 2) continue;
        varying_.push_back(f);
        if (column.wide) {
            wide_.push_back(f);
        } else {
            narrow_.push_back(f);
            row_places_.push_back(place_.back());
        }
    }
    place_.push_back(n_bins);

    const std::size_t width = narrow_.size(), n_rows = data.n_rows();
    codes_ = std::make_unique_for_overwrite<std::uint8_t[]>(n_rows * width + sizeof(std::uint64_t));
    constexpr std::size_t rows_per_task = 4096, block = 64;  // a cache line of each column
    team.for_each((n_rows + rows_per_task - 1) / rows_per_task, [&](std::size_t task, int) {
        const std::size_t last = std::min((task + 1) * rows_per_task, n_rows);
        for (std::size_t first = task * rows_per_task; first < last; first += block) {
            const std::size_t end = std::min(first + block, last);
            for (std::size_t i = 0; i < width; ++i) {
                const std::uint8_t* from = data.column(narrow_[i]).narrow_codes();
                std::uint8_t* to = codes_.get() + i;
                for (std::size_t row = first; row < end; ++row) to[row * width] = from[row];
            }
        }
    });
}

}  // namespace hedgerow
