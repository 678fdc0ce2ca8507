// How trees are boosted.
#pragma once

#include <cstdint>
#include <vector>

#include "additive/loss.hpp"

namespace hedgerow {

// Numbers that can be unlimited use -1 for "no limit".
struct BoostParams {
    enum class Members { tree, graph };

    Loss loss;
    Members members = Members::tree;
    double learning_rate = 0.1;
    std::int64_t max_leaf_nodes = 31;
    std::int64_t max_depth = -1;
    std::int64_t min_samples_leaf = 20;
    double min_hessian_leaf = 1e-3;      // least second derivative of the loss in a leaf
    double l2 = 0;                       // added to it
    double category_l2 = 3;              // and this besides where categories are split
    double category_smoothing = 10;      // rows of no slope that each category is ordered with
    double max_features = 1;             // share of the features that a node looks at
    double subsample = 1;                // share of the rows that a round learns from
    std::vector<std::int8_t> monotonic;  // by feature: 1 rises, -1 falls; or empty
    std::vector<std::vector<std::uint32_t>> groups;  // of features that may interact; or empty
    std::uint64_t seed = 0;
};

}  // namespace hedgerow
