// A graph that reads a binned data set instead of numbers: for rows that are already there, such as
// out-of-bag rows, cross-validation folds and the training rows of a graph that is being improved.
// Oblique tests read the numbers themselves, where they are given.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data/dataset.hpp"
#include "graph/decision_graph.hpp"

namespace hedgerow {

class CodedGraph {
  public:
    // `numbers`, one row of the graph's features per row of the data, is for oblique tests alone.
    CodedGraph(const DecisionGraph& graph, const Dataset& data, const double* numbers = nullptr);

    std::int32_t leaf_of(Row row, std::int32_t from = 0) const {
        for (std::int32_t child; (child = next(from, row)) >= 0;) from = child;
        return from;
    }

    // Rows that share a leaf, from the end of those before them up to `end`.
    struct Group {
        std::int32_t leaf;
        std::size_t end;
    };

    // Reorders the rows by their leaves. A node's test is read once for all its rows, and no row
    // waits for another's memory.
    std::vector<Group> group_by_leaf(std::span<Row> rows) const;

    // The child that the row goes to, -1 at a leaf.
    std::int32_t next(std::int32_t at, Row row) const {
        const Node& node = nodes_[at];
        if (node.left < 0) return -1;
        return goes_left(at, row) ? node.left : node.right;
    }

    bool goes_left(std::int32_t at, Row row) const {
        const Node& node = nodes_[at];
        if (node.codes == nullptr) return is_below(at, row);
        const std::uint32_t code =
            node.wide ? reinterpret_cast<const std::uint16_t*>(node.codes)[row] : node.codes[row];
        if (code == node.missing) return node.missing_left;
        return node.set < 0 ? code < node.n_left : graph_.tests.in_set(node.set, code);
    }

    // To be called when a node of the graph was changed.
    void read(std::int32_t node);

  private:
    struct Node {
        const std::uint8_t* codes = nullptr;  // of the column; null for a leaf and an oblique test
        std::uint32_t n_left = 0;             // codes below it go left
        std::int32_t set = -1;                // or the codes in this category set
        std::int32_t left = -1, right = -1;
        std::uint16_t missing = 0;  // this code goes where `missing_left` says
        bool missing_left = false;
        bool wide = false;
    };

    bool is_below(std::int32_t at, Row row) const {
        const double* x = numbers_ + std::size_t(row) * graph_.n_features;
        return graph_.tests.below(graph_.detail[at], x, graph_.threshold[at]);
    }

    const DecisionGraph& graph_;
    const Dataset& data_;
    const double* numbers_;
    std::vector<Node> nodes_;
};

}  // namespace hedgerow
