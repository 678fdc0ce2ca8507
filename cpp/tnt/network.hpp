// The graph while it is grown: nodes whose tests are micro-trees.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "data/dataset.hpp"
#include "graph/coded.hpp"
#include "graph/decision_graph.hpp"

namespace hedgerow {

// A tree over the data set's codes (and, in oblique tests, its numbers) whose leaves have an
// outcome: a side (0 left, 1 right) in an internal node, a set of rows in a leaf of the network.
struct MicroTree {
    DecisionGraph tree;
    CodedGraph coded;
    std::vector<std::int32_t> outcome;  // by node of the tree

    MicroTree(DecisionGraph grown, const Dataset& data, const double* numbers)
        : tree(std::move(grown)), coded(tree, data, numbers), outcome(tree.n_nodes(), 0) {}
    MicroTree(const MicroTree&) = delete;

    std::int32_t of(Row row) const { return outcome[coded.leaf_of(row)]; }
    std::uint32_t n_splits() const {
        return static_cast<std::uint32_t>(tree.n_nodes() - tree.n_leaves());
    }
    std::vector<std::int32_t> leaf_outcomes() const {
        std::vector<std::int32_t> out;
        for (std::size_t i = 0; i < tree.n_nodes(); ++i) {
            if (tree.is_leaf(static_cast<std::int32_t>(i))) out.push_back(outcome[i]);
        }
        return out;
    }
};

struct Network {
    struct Node {
        std::int32_t child[2] = {-1, -1};  // -1: a leaf
        std::unique_ptr<MicroTree> micro;
        bool is_leaf() const { return child[0] < 0; }
    };
    std::vector<Node> nodes;  // 0 is the root
    std::vector<std::vector<std::int32_t>> waves;

    // Each node of the graph with its own test. Leaves get outcomes 0, 1, ... in order.
    Network(const DecisionGraph& graph, const Dataset& data, const double* numbers);

    // The outcome of the leaf that the row comes to from a node.
    std::int32_t outcome_from(std::int32_t node, Row row) const {
        for (;;) {
            const Node& at = nodes[node];
            const std::int32_t outcome = at.micro->of(row);
            if (at.is_leaf()) return outcome;
            node = at.child[outcome];
        }
    }

    // The graph whose nodes are the splits of all micro-trees; without values.
    DecisionGraph merged() const;
};

}  // namespace hedgerow
