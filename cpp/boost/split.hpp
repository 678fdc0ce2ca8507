// The best split of a node by its histograms.
//
// gain      how much a split lowers the loss, by its second-order expansion: with the sums G of
//           first and H of second derivatives on a side, that side's best value is -G / (H + l2),
//           and the sum of G^2 / (H + l2) over both sides, less that of the node, is twice the gain
// missing   tried on both sides; where the node has none, missing values follow the larger side
// category  ordered by G / (H + smoothing), missing among them; the best prefix goes left. Many
// orders
//           make a gain by chance likely, so these sides have a larger l2
// monotonic sides whose values run against the constraint, within the node's bounds, are refused
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "boost/histogram.hpp"
#include "boost/params.hpp"

namespace hedgerow {

// What the values of a node's leaves must keep to.
struct Bounds {
    double low = -std::numeric_limits<double>::infinity();
    double high = std::numeric_limits<double>::infinity();

    double clip(double value) const { return std::clamp(value, low, high); }
};

struct BoostSplit {
    double gain = 0;
    std::int32_t feature = -1;
    bool categorical = false, missing_left = false;
    std::uint32_t n_left_codes = 0;  // codes below it go left
    double threshold = 0;            // of a number
    std::vector<std::uint64_t> set;  // the categories that go left, as bits
    Slopes left, right;

    bool found() const { return feature >= 0; }
};

class SplitSearch {
  public:
    SplitSearch(const BoostTable& table, const BoostParams& params, const RowValues& values)
        : table_(table), params_(params), values_(values) {}

    // The best split of a node on one of the features; none where nothing gains.
    BoostSplit best(const Histograms& histograms, const Slopes& node, const Bounds& bounds,
                    std::span<const std::uint32_t> features, Team& team) const;

    double value_of(const Slopes& side, const Bounds& bounds) const {
        return bounds.clip(params_.loss.leaf_step(-side.gradient / (side.hessian + params_.l2)));
    }

  private:
    struct Candidate;
    template <int width>
    Candidate look(const std::int64_t* bins, const Slopes& node, const Bounds& bounds,
                   std::uint32_t feature) const;
    template <int width>
    Candidate look_at_numbers(const std::int64_t* bins, const Slopes& node, const Bounds& bounds,
                              std::uint32_t feature) const;
    template <int width>
    Candidate look_at_categories(const std::int64_t* bins, const Slopes& node,
                                 std::uint32_t feature) const;
    template <int width>
    std::vector<std::uint32_t> ordered_categories(const std::int64_t* bins,
                                                  const Column& column) const;
    template <int width>
    BoostSplit finish(const Candidate& found, const std::int64_t* bins, const Slopes& node,
                      std::uint32_t feature) const;
    template <int width>
    BoostSplit best_of(const Histograms& histograms, const Slopes& node, const Bounds& bounds,
                       std::span<const std::uint32_t> features, Team& team) const;

    const BoostTable& table_;
    const BoostParams& params_;
    const RowValues& values_;
};

}  // namespace hedgerow
