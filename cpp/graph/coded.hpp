// A graph that reads a binned data set instead of numbers: for rows that are already there, such as
// out-of-bag rows and cross-validation folds. Axis and category tests only.
#pragma once

#include <cstdint>
#include <vector>

#include "data/dataset.hpp"
#include "graph/decision_graph.hpp"

namespace hedgerow {

class CodedGraph {
  public:
    CodedGraph(const DecisionGraph& graph, const Dataset& data);

    std::int32_t leaf_of(Row row) const {
        std::int32_t at = 0;
        for (std::int32_t child; (child = next(at, row)) >= 0;) at = child;
        return at;
    }

    // The child that the row goes to, or -1 at a leaf.
    std::int32_t next(std::int32_t at, Row row) const {
        const Node& node = nodes_[at];
        if (node.column == nullptr) return -1;
        return goes_left(node, node.column->code(row)) ? node.left : node.right;
    }

  private:
    struct Node {
        const Column* column = nullptr;  // null for a leaf
        std::uint32_t n_left = 0;        // codes below it go left
        std::int32_t set = -1;           // or the codes in this category set
        std::int32_t left = -1, right = -1;
        bool missing_left = false;
    };

    bool goes_left(const Node& node, std::uint32_t code) const {
        if (code == node.column->n_bins) return node.missing_left;
        return node.set < 0 ? code < node.n_left : graph_.tests.in_set(node.set, code);
    }

    const DecisionGraph& graph_;
    std::vector<Node> nodes_;
};

}  // namespace hedgerow
