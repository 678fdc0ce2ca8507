// One node of a tree whose rows lie on several machines: its split, from counts of them.
//
// counts   of a node, by feature and code: the weights of each class, then the number of rows where
//          rows have weights; whole numbers, so that the counts of parts add up in any order
// key      settles ties, as in a tree that is grown in one place
//
// A node that is small enough goes to one machine, which grows the rest: a subtree whose params
// have a stem.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "data/rows.hpp"
#include "graph/decision_graph.hpp"
#include "grow/params.hpp"

namespace hedgerow {

struct Decision {
    DecisionGraph node;  // a leaf, or a test with two leaves that say nothing
    // Of a test: for each code of its feature, the missing one last, whether it goes left.
    std::vector<std::uint8_t> goes_left;
    std::uint32_t n_left = 0;
    std::uint64_t left_key = 0, right_key = 0;
};

// Numbers that the counts of a node of the data set's features are made of.
std::size_t n_counts(const Dataset& data, const GrowParams& params, bool weighted);

// What the rows of some nodes add to their counts, node after node. `node_of`, by row, says which
// node a row is in, from 0 on, or -1; columns are read from the first row to the last, which takes
// 1 to 3 ns a cell, where the rows of a deep node, one after the other, took 27 (a cache miss
// each). Weights, by row, are whole; empty: all one.
std::vector<std::int64_t> count_classes(const Dataset& data, std::span<const std::int32_t> node_of,
                                        std::size_t n_nodes, std::span<const std::int32_t> classes,
                                        std::span<const double> weights, const GrowParams& params,
                                        Team& team);

// What becomes of a node, by Gini impurity or entropy; `params.stem` says which one it is. Of the
// data set only what its codes mean is read, and whether features have missing values.
Decision decide(const Dataset& data, const GrowParams& params, std::span<const std::int64_t> counts,
                bool weighted);

// One graph, numbered in preorder, of the first nodes of graphs; their children are later ones or,
// at -2 - i, parts.
DecisionGraph join_nodes(std::span<const DecisionGraph* const> nodes,
                         std::span<const std::int32_t> left, std::span<const std::int32_t> right,
                         std::span<const DecisionGraph* const> parts);

}  // namespace hedgerow
