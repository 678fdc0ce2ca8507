// Histograms of derivatives, in whole numbers: sums do not depend on the order of the rows, so a
// model is the same for any number of threads.
//
// row value  a row's derivatives, rounded to whole numbers, in 8 bytes
// plain      all second derivatives are one: the sum of a bin is 8 bytes, the gradients above
//            `count_bits` bits for the number of rows
// counted    a bin has 16 bytes: the sum of the gradients, and that of the second derivatives above
//            `count_bits` bits for the number of rows
// scale      powers of two by which derivatives were multiplied: as large as no sum can overflow.
//            A million rows leave 23 bits (plain), or 31 and 23 (counted), for one derivative.
//
// Codes are read row by row (boost/boost_table.hpp): a row costs about one cache miss, and one
// addition for each feature.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "boost/boost_table.hpp"

namespace hedgerow {

// Derivatives of the rows of a node or a bin, in terms of the loss.
struct Slopes {
    double gradient = 0, hessian = 0;
    std::uint32_t n = 0;
};

struct RowValues {
    bool counted = false;
    int count_bits = 0;
    double gradient_unit = 1, hessian_unit = 1;
    std::vector<std::int64_t> of_row;

    // Rounds derivatives of the given rows; `constant` says that all second ones are one.
    void round(const float* gradient, const float* hessian, std::span<const Row> rows,
               bool constant, Team& team);

    std::size_t width() const { return counted ? 2 : 1; }  // of a bin

    template <int width>
    std::uint32_t n_of(const std::int64_t* bin) const {
        return static_cast<std::uint32_t>(bin[width - 1] & ((std::int64_t{1} << count_bits) - 1));
    }
    template <int width>
    Slopes slopes_of(const std::int64_t* bin) const {
        if constexpr (width == 1) {
            const std::uint32_t n = n_of<1>(bin);
            return {static_cast<double>(bin[0] >> count_bits) * gradient_unit,
                    static_cast<double>(n), n};
        } else {
            return {static_cast<double>(bin[0]) * gradient_unit,
                    static_cast<double>(bin[1] >> count_bits) * hessian_unit, n_of<2>(bin)};
        }
    }
};

// Histograms of all features of one node; see BoostTable for the places of their bins.
class Histograms {
  public:
    Histograms(const BoostTable& table, std::size_t width)
        : width_(width), bins_(table.n_bins() * width) {}

    const std::int64_t* bins() const { return bins_.data(); }
    std::int64_t* bins() { return bins_.data(); }
    // Counts the rows of a node anew; `spare` are buffers for the threads.
    void count(const BoostTable& table, const RowValues& values, std::span<const Row> rows,
               std::vector<std::vector<std::int64_t>>& spare, Team& team);
    // Takes the rows of a child out.
    void subtract(const Histograms& child) {
        std::int64_t* to = bins_.data();
        const std::int64_t* from = child.bins_.data();
        for (std::size_t i = 0; i < bins_.size(); ++i) to[i] -= from[i];
    }

  private:
    std::size_t width_;
    std::vector<std::int64_t> bins_;
};

}  // namespace hedgerow
