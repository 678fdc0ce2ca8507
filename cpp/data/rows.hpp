// Which rows of a table a model learns from.
#pragma once

#include <numeric>
#include <optional>
#include <span>
#include <stdexcept>
#include <vector>

#include "data/dataset.hpp"

namespace hedgerow {

// A list of rows, which may repeat, or nothing for "all rows". An empty list is no rows at all.
using RowChoice = std::optional<std::span<const Row>>;

// The chosen rows without those of weight zero; `weights`, by row of the table, may be empty.
inline std::vector<Row> rows_that_count(std::size_t n_rows, const RowChoice& chosen,
                                        std::span<const double> weights) {
    std::vector<Row> rows;
    if (chosen) {
        rows.assign(chosen->begin(), chosen->end());
    } else {
        rows.resize(n_rows);
        std::iota(rows.begin(), rows.end(), Row{0});
    }
    if (rows.empty()) throw std::invalid_argument("no rows to grow on");
    if (!weights.empty()) std::erase_if(rows, [&](Row row) { return weights[row] == 0; });
    if (rows.empty()) throw std::invalid_argument("no row with a positive weight");
    return rows;
}

}  // namespace hedgerow
