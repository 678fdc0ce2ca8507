// The data as every grower sees it: one column of small-integer codes per feature.
//
// code      rank of a value among the bins of its feature, or the index of its category
// bin       a value or, when a feature has more distinct values than bins, a run of them
// wide      codes take two bytes instead of one (more than 255 bins)
// missing   has the code n_bins, one past the last bin
//
// Columns are stored one after the other and never move, so columns can be appended while views of
// the earlier ones are in use, and several data sets can share them. Memory: one byte per cell (two
// if wide) and the bins' values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/parallel.hpp"
#include "data/sparse.hpp"

namespace hedgerow {

using Row = std::uint32_t;

struct Column {
    std::uint32_t n_bins = 0;
    bool categorical = false;
    bool wide = false;
    bool has_missing = false;
    std::shared_ptr<std::uint8_t[]> bytes;  // its own, or a caller's that are never written
    // Smallest and largest value in each numeric bin; `largest` is empty when every bin is one
    // value.
    std::vector<double> smallest, largest;

    const std::uint8_t* narrow_codes() const { return bytes.get(); }
    const std::uint16_t* wide_codes() const {
        return reinterpret_cast<const std::uint16_t*>(bytes.get());
    }
    std::uint32_t code(Row row) const { return wide ? wide_codes()[row] : narrow_codes()[row]; }
    double smallest_of(std::uint32_t bin) const { return smallest[bin]; }
    double largest_of(std::uint32_t bin) const {
        return largest.empty() ? smallest[bin] : largest[bin];
    }
    // How many bins lie wholly at or below the threshold: codes under it go left.
    std::uint32_t bins_up_to(double threshold) const;
};

// A test `value <= threshold` that splits the codes `<= last_left` from the others.
struct Cut {
    std::uint32_t last_left;
    double threshold;
};

// The cut for a node in which `a` and `b` are neighbouring codes: halfway between their values,
// moved to the nearest bin border if a bin lies across the middle.
Cut cut_between(const Column& column, std::uint32_t a, std::uint32_t b);

// The cut nearest to a wanted threshold that separates code `a` from code `b`.
Cut cut_near(const Column& column, std::uint32_t a, std::uint32_t b, double threshold);

// The same from the last bin, of those from `a` on, but before `b`, that starts at or below it.
Cut cut_at(const Column& column, std::uint32_t bin, std::uint32_t a, std::uint32_t b,
           double threshold);

template <class T>
struct Strided {
    const T* data;
    std::ptrdiff_t stride;  // in elements
    T operator[](std::size_t i) const { return data[static_cast<std::ptrdiff_t>(i) * stride]; }
};

class Dataset {
  public:
    static constexpr std::uint32_t most_bins = 65535;
    static constexpr std::uint32_t most_narrow_bins = 255;

    explicit Dataset(std::size_t n_rows) : n_rows_(n_rows) {}
    Dataset(Dataset&&) = default;
    Dataset(const Dataset&) = delete;

    std::size_t n_rows() const { return n_rows_; }
    std::size_t n_features() const { return columns_.size(); }
    std::size_t nbytes() const;
    const Column& column(std::size_t feature) const { return *columns_[feature]; }

    // max_bins = 0 keeps every distinct value (up to 65,535).
    template <class T>
    void append_numbers(std::span<const Strided<T>> columns, std::uint32_t max_bins, Team& team);
    // Columns of which only some numbers are stored; they are never written out as numbers.
    template <class T>
    void append_sparse(const SparseLines<T>& columns, std::uint32_t max_bins, Team& team);
    void append_categories(const std::int32_t* codes, std::uint32_t n_categories);
    // A column whose codes were written elsewhere, such as in a file; they are read where they are.
    void append_coded(Column column);
    // Another data set of the same columns, not copied: what is appended to one is not in the
    // other.
    Dataset share() const;
    // The given rows, in their order, with the bins, categories and codes of this data set.
    Dataset take(std::span<const Row> rows, Team& team) const;

  private:
    std::size_t n_rows_;
    std::vector<std::shared_ptr<const Column>> columns_;
};

}  // namespace hedgerow
