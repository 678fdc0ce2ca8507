// Minimal cost-complexity pruning (Breiman et al. 1984, chapter 3) of a grown tree.
//
// The node whose collapse costs the least impurity per leaf saved goes first; what a collapse
// changes is its ancestors only. Cost: splits x depth x log(splits).
//
// Merging of siblings is the same at the price 0 with wrong rows in place of impurity: a subtree
// goes as a whole when none of its splits leaves fewer rows wrong.
#pragma once

#include <vector>

#include "base/parallel.hpp"
#include "graph/decision_graph.hpp"

namespace hedgerow {

struct PruningPath {
    std::vector<double> alphas;      // 0 for the whole tree, then the price of each collapse
    std::vector<double> impurities;  // total impurity of the leaves after it
};

PruningPath pruning_path(const DecisionGraph& tree, Team& team);

// By node the price from which on it is no split any more: 0 for leaves, never more than its
// parent's.
std::vector<double> pruning_prices(const DecisionGraph& tree, Team& team);

// The smallest subtree that minimises impurity + alpha * leaves.
DecisionGraph prune(const DecisionGraph& tree, double alpha);

// The classification tree without splits that leave no fewer rows wrong: siblings that are leaves,
// or have become ones, make way for their parent where they do not lower its training error.
DecisionGraph merge_siblings(const DecisionGraph& tree);

// The tree with the marked nodes as leaves.
DecisionGraph cut_at(const DecisionGraph& tree, const std::vector<bool>& ends);

}  // namespace hedgerow
