// Tree in Tree: a decision graph grown by putting small trees in place of its nodes (B. Zhu and
// M. Shoaran, "Tree in Tree: from decision trees to decision graphs", NeurIPS 2021).
//
// micro-tree  a small tree in the place of a node: CART, a mean-margin tree, or the better of both
// router      the test of an internal node: a micro-tree whose leaves say "left" or "right"
// care rows   the rows at an internal node that one child serves better than the other; they
//             train its router, with the better child as their class and the difference in loss as
//             their weight (a wrong class costs 1, so in classification it is the row's weight)
// wave        the nodes at one longest distance from the root: none is another's descendant
// objective   loss of the leaves + price * splits. The price is C * weight of all rows, in units of
//             the criterion: pruning a micro-tree at C * (weight of all) / (weight of its rows) is
//             the same price
//
// 1. Start with one leaf, or with a given graph, each node with its own test as router.
// 2. A round visits the waves from the root. All nodes of a wave grow a new micro-tree in parallel,
//    on the rows that reach them (leaf) or their care rows (internal node), and then take it.
// 3. After the rounds, or when nothing changes any more, the round with the lowest loss (of the
//    training rows, or of the validation rows if there are any) is merged: the splits of its
//    micro-trees become nodes of the graph, and dead splits go. Single steps are not tested
//    against the objective: that stops at the first poor optimum (letter at C = 3e-4: 88.4 % of
//    the training rows right with 491 splits, instead of 91.1 % with 584). Nor are rounds: what
//    routers gain in loss they may lose in impurity (connect4 at C = 1.5e-4: 77.0 % with 245
//    splits, instead of 80.8 % with 455).
// 4. Repeat from 2 for the given number of merges, or until a merge brings nothing.
//
// A row's current leaf is remembered, so a visit routes it through the other child only. Cost of a
// round: rows x path length x micro-tree depth x features. The result depends on the arguments
// alone, never on the number of threads.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "grow/grower.hpp"
#include "grow/tidy.hpp"

namespace hedgerow {

struct TreeInTreeParams {
    // Of micro-trees. Mixed: a node gets the tree with the lower objective.
    enum class Tests { axis, oblique, mixed };

    GrowParams micro;  // of micro-trees; criterion and n_classes are those of the leaves
    Tests tests = Tests::axis;
    std::vector<double> scale;  // divides the features in oblique tests; may be empty
    std::uint32_t n_merges = 2;
    std::uint32_t n_rounds = 5;
    double C = 0;  // in regression a share of the targets' variance
    // Rises between rounds until the graph has about this many splits; 0 is no limit.
    std::uint32_t max_splits = 0;
    // The least that a router's split removes, in prices, to be grown at all; with 0 only pruning
    // takes splits out. Splits far below their price hardly ever lead to better ones.
    double router_gain = 0.5;
    bool keep_last = false;  // the last round is merged, not the best
    bool merge_leaves = false;
};

struct TreeInTreeRound {
    std::uint32_t merge, round;
    double loss;  // mean row loss: share of wrong classes, or mean squared error
    std::uint32_t n_splits;
    double objective;
    double validation_loss;  // NaN without validation rows
    bool accepted;  // the best of its merge so far: lowest loss, then lowest objective; or the last
};

struct TreeInTree {
    TidyGraph result;
    double C;  // the price of the round; the given one without a limit of splits
    std::vector<TreeInTreeRound> rounds;
};

// `numbers`, one row of all features per row of the data, is for oblique tests and may be null
// without them. Rows of weight zero are left out. `start` may be null. `validation` rows, if any,
// choose the round whose graph is returned.
TreeInTree grow_tree_in_tree(const Dataset& data, const double* numbers, const RowChoice& rows,
                             std::span<const Row> validation, const GrowTargets& targets,
                             const TreeInTreeParams& params, const DecisionGraph* start,
                             Team& team);

}  // namespace hedgerow
