// The codes of a data set as histograms read them: row by row where they take one byte.
//
// place     where a feature's bins begin among the bins of all features; the last of them counts
//           what is missing
// wide      features with more codes than a byte holds are read from their columns
// bundle    features of which no row has more than one unusual code (columns of a one-hot encoding,
//           say) share one byte of a row: 0 where all codes are usual, else the number of the
//           unusual one (LightGBM's exclusive feature bundling, without conflicts). A bundle has
//           bins of its own, after those of all features; the features' are made of them. On
//           covertype, with 44 such columns, rows have 12 bytes instead of 54.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/parallel.hpp"
#include "data/dataset.hpp"

namespace hedgerow {

class BoostTable {
  public:
    BoostTable(const Dataset& data, Team& team);

    const Dataset& data() const { return data_; }
    std::size_t n_features() const { return data_.n_features(); }
    std::size_t n_bins() const { return n_bins_; }
    std::uint32_t place(std::size_t feature) const { return place_[feature]; }
    // Features that tell rows apart.
    const std::vector<std::uint32_t>& varying() const { return varying_; }

    const std::uint8_t* row(Row row) const { return codes_.get() + row * row_places_.size(); }
    // The bytes of a row, as the places of their bins; and the features that are read elsewhere.
    const std::vector<std::uint32_t>& places_in_row() const { return row_places_; }
    const std::vector<std::uint32_t>& wide() const { return wide_; }

    // Fills the bins of bundled features from those of their bundles; a bin has `width` numbers.
    void unbundle(std::int64_t* bins, std::size_t width) const;

  private:
    struct Member {
        std::uint32_t feature, usual;  // its most frequent code
        std::uint32_t first;           // byte of its first unusual code

        std::uint32_t byte_of(std::uint32_t code) const { return first + code - (code > usual); }
    };
    struct Bundle {
        std::uint32_t n_bytes = 1, place = 0;
        std::vector<Member> members;
        std::vector<std::uint64_t> taken;  // rows with an unusual code, as bits; while it is made
    };

    bool join_bundle(std::uint32_t feature);
    void write_rows(Team& team);

    const Dataset& data_;
    std::uint32_t n_bins_ = 0;
    std::vector<std::uint32_t> place_, varying_, alone_, row_places_, wide_;
    std::vector<Bundle> bundles_;
    std::unique_ptr<std::uint8_t[]> codes_;
};

}  // namespace hedgerow
