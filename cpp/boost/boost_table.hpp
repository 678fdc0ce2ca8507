// The codes of a data set as histograms read them: row by row where they take one byte.
//
// place     where a feature's bins begin among the bins of all features; the last of them counts
//           what is missing
// wide      features with more codes than a byte holds are read from their columns
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/parallel.hpp"
#include "data/dataset.hpp"

namespace hedgerow {

class BoostTable {
  public:
    BoostTable(const Dataset& data, Team& team);

    const Dataset& data() const { return data_; }
    std::size_t n_features() const { return data_.n_features(); }
    std::size_t n_bins() const { return place_.back(); }
    std::uint32_t place(std::size_t feature) const { return place_[feature]; }
    // Features that tell rows apart.
    const std::vector<std::uint32_t>& varying() const { return varying_; }

    const std::uint8_t* row(Row row) const { return codes_.get() + row * narrow_.size(); }
    // The features whose codes stand in rows, as the places of their bins, and the others.
    const std::vector<std::uint32_t>& places_in_row() const { return row_places_; }
    const std::vector<std::uint32_t>& wide() const { return wide_; }

  private:
    const Dataset& data_;
    std::vector<std::uint32_t> place_, varying_, narrow_, row_places_, wide_;
    std::unique_ptr<std::uint8_t[]> codes_;
};

}  // namespace hedgerow
