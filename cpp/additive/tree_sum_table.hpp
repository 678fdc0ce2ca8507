// The training rows of a sum of trees: codes row by row, targets and weights, without the rows that
// do not count.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "additive/loss.hpp"
#include "base/parallel.hpp"
#include "data/dataset.hpp"
#include "data/rows.hpp"

namespace hedgerow {

class SumTable {
  public:
    SumTable(const Dataset& data, const RowChoice& chosen, const LossTargets& all, Team& team)
        : data_(data),
          rows_(rows_that_count(data.n_rows(), chosen, all.weights)),
          n_features_(data.n_features()),
          first_cell_(n_features_ + 1, 0) {
        bool wide = false;
        for (std::size_t f = 0; f < n_features_; ++f) {
            wide |= data.column(f).wide;
            first_cell_[f + 1] = first_cell_[f] + data.column(f).n_bins + 1;
        }
        if (wide) {
            copy_codes(wide_, team);
        } else {
            copy_codes(narrow_, team);
        }
        take(all.classes, classes_);
        take(all.numbers, numbers_);
        take(all.weights, weights_);
    }

    const Dataset& data() const { return data_; }
    std::size_t n_rows() const { return rows_.size(); }
    Row row(std::size_t i) const { return rows_[i]; }  // of the data set
    std::size_t n_features() const { return n_features_; }
    // Histograms have a cell for each code of each feature, "missing" included.
    std::size_t n_cells() const { return first_cell_.back(); }
    std::uint32_t first_cell(std::size_t feature) const { return first_cell_[feature]; }
    LossTargets targets() const { return {classes_, numbers_, weights_}; }

    // Calls body with the codes, row by row, as a pointer to bytes or to pairs of bytes.
    template <class Body>
    auto with_codes(const Body& body) const {
        return wide_.empty() ? body(narrow_.data()) : body(wide_.data());
    }

  private:
    template <class Code>
    void copy_codes(std::vector<Code>& to, Team& team) {
        to.resize(rows_.size() * n_features_);
        constexpr std::size_t per_task = 1024;
        team.for_each((rows_.size() + per_task - 1) / per_task, [&](std::size_t task, int) {
            const std::size_t end = std::min(rows_.size(), (task + 1) * per_task);
            for (std::size_t f = 0; f < n_features_; ++f) {
                const Column& column = data_.column(f);
                for (std::size_t row = task * per_task; row < end; ++row) {
                    to[row * n_features_ + f] = static_cast<Code>(column.code(rows_[row]));
                }
            }
        });
    }
    template <class T>
    void take(std::span<const T> from, std::vector<T>& to) const {
        if (from.empty()) return;
        to.reserve(rows_.size());
        for (const Row row : rows_) to.push_back(from[row]);
    }

    const Dataset& data_;
    std::vector<Row> rows_;
    std::size_t n_features_;
    std::vector<std::uint32_t> first_cell_;
    std::vector<std::uint8_t> narrow_;
    std::vector<std::uint16_t> wide_;
    std::vector<std::int32_t> classes_;
    std::vector<double> numbers_, weights_;
};

}  // namespace hedgerow
