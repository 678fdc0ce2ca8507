// A sum of few trees, grown together under a limit of splits (in the manner of FIGS, Tan et al.
// 2022), with the values of all leaves fitted together.
//
// score     what the members add up to, before the link of the loss (additive/loss.hpp)
// member    a tree whose leaves hold what it adds to the score
// column    an unknown of the fit: the intercept (column 0) or the value of a leaf
// penalty   ridge / 2 times the squares of the leaf values; the intercept is free
// gain      what a split takes off the penalised loss while all other leaves stay as they are, to
//           second order (for squared loss that is exact), less its prices; with the ridge of the
//           evidence it is damped (additive/tree_sum_search.hpp)
//
// 1. Of all leaves of all members, and of the root of a new one, take the split that gains most.
// 2. Fit the values of all leaves together (additive/tree_sum_refit.hpp).
// 3. Back to 1 until there are max_splits, or none gains enough.
// 4. Moves that keep the number of splits: the weakest split out and the best in; the test of one
//    node anew while all others stand. A move is kept if the penalised loss falls.
//
// The sum depends on the arguments alone, never on the number of threads.
#pragma once

#include <cstdint>
#include <vector>

#include "additive/loss.hpp"
#include "base/parallel.hpp"
#include "data/dataset.hpp"
#include "data/rows.hpp"
#include "graph/decision_graph.hpp"

namespace hedgerow {

// Numbers that can be unlimited use -1 for "no limit".
struct TreeSumParams {
    Loss loss;
    std::uint32_t max_splits = 40;
    std::int64_t max_members = -1;
    std::int64_t max_depth = -1;
    std::uint32_t min_samples_leaf = 1;
    double ridge = -1;  // negative: by the evidence
    double category_smoothing = 0;
    double min_gain = 0;       // of a split, in units of the noise of one row
    double feature_price = 0;  // of a feature that no split had, as a share of the constant's loss
    double threshold_price = 0;  // of a threshold or a set that no split had, likewise
    std::uint32_t max_swaps = 0;
    std::uint32_t tuning_passes = 0;
    bool exact_search = true;
    double tolerance = 1e-2;            // of the fits while growing, as a share of the last gain
    std::vector<std::int8_t> monotone;  // by feature: 1 rising, -1 falling; empty for none
};

struct TreeSum {
    std::vector<DecisionGraph> members;  // values are centred: each has the mean zero
    std::vector<double> intercept;       // one for each score
    std::vector<double> losses;          // the penalised loss after each fit of all leaves
    double ridge = 0;
    double freedom = 0;  // effective number of leaf values
};

TreeSum grow_tree_sum(const Dataset& data, const RowChoice& rows, const LossTargets& targets,
                      const TreeSumParams& params, Team& team);

}  // namespace hedgerow
