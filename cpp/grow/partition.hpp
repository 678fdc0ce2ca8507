// Dividing a node's rows, with their targets and weights, between its two children.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "data/dataset.hpp"

namespace hedgerow {

template <class Stats>
class Partition {
    using Target = typename Stats::Target;
    using Weight = typename Stats::Weight;

  public:
    // Stable: rows keep their order on both sides, so memory is read forwards further down. Returns
    // how many rows go left.
    template <class GoesLeft>
    std::uint32_t operator()(Row* rows, Target* targets, Weight* weights, std::uint32_t n,
                             const GoesLeft& goes_left) {
        if (rows_.size() < n) {
            rows_.resize(n);
            targets_.resize(n);
            if constexpr (Stats::weighted) weights_.resize(n);
        }
        Row* const right_rows = rows_.data();
        Target* const right_targets = targets_.data();
        Weight* const right_weights = weights_.data();
        std::uint32_t n_left = 0, n_right = 0;
        for (std::uint32_t i = 0; i < n; ++i) {
            const Row row = rows[i];
            const bool left = goes_left(row);
            // Both places are written, one of them for good: no branch to mispredict.
            rows[n_left] = right_rows[n_right] = row;
            targets[n_left] = right_targets[n_right] = targets[i];
            if constexpr (Stats::weighted) {
                weights[n_left] = right_weights[n_right] = weights[i];
            }
            n_left += left;
            n_right += !left;
        }
        std::copy_n(right_rows, n_right, rows + n_left);
        std::copy_n(right_targets, n_right, targets + n_left);
        if constexpr (Stats::weighted) std::copy_n(right_weights, n_right, weights + n_left);
        return n_left;
    }

  private:
    // Where the rows that go right wait.
    std::vector<Row> rows_;
    std::vector<Target> targets_;
    std::vector<Weight> weights_;
};

}  // namespace hedgerow
