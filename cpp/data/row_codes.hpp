// The codes of a data set once more, row by row.
//
// Columns are right for nodes with many rows. A tree that draws a few features at each node reads a
// few cells of each row of a small node, and from columns each of them is a cache miss; from here a
// whole row is copied at the price of about one.
#pragma once

#include <cstdint>
#include <memory>

#include "base/parallel.hpp"
#include "data/dataset.hpp"

namespace hedgerow {

bool has_narrow_codes(const Dataset& data);  // in all columns
bool has_plain_codes(const Dataset& data);   // these, of numbers that are never missing

class RowCodes {
  public:
    // All columns must be narrow.
    RowCodes(const Dataset& data, Team& team);

    std::size_t n_features() const { return n_features_; }
    const std::uint8_t* of(Row row) const { return codes_.get() + row * n_features_; }

  private:
    std::size_t n_features_;
    std::unique_ptr<std::uint8_t[]> codes_;
};

}  // namespace hedgerow
