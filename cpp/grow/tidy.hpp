// A graph made ready for use: its statistics from the training rows, its dead parts gone.
//
// dead split   one that all training rows leave on one side, or whose sides are the same node; its
//              child takes its place. The predictions of the training rows do not change.
// merged       leaves that predict the same class become one, which makes more splits dead: at most
//              one leaf a class is left.
//
// Cost: one walk of every row through the graph.
#pragma once

#include <span>
#include <vector>

#include "data/dataset.hpp"
#include "graph/decision_graph.hpp"
#include "grow/row_stats.hpp"

namespace hedgerow {

struct TidyGraph {
    DecisionGraph graph;          // numbered in preorder of the first visit
    std::vector<double> removed;  // the loss that each node's split removes, 0 at leaves
};

// Nodes that the root does not reach are left out. `stats` says how targets are counted; its sets
// are not used. `numbers` is for oblique tests, see graph/coded.hpp.
TidyGraph tidy(const DecisionGraph& graph, const Dataset& data, const double* numbers,
               std::span<const Row> rows, RowStats stats, bool merge_leaves);

}  // namespace hedgerow
