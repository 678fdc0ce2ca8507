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

    std::int32_t leaf_of(Row row, std::int32_t from = 0) const { return walk(*this, from, row); }

    // Rows that share a leaf, from the end of those before them up to `end`.
    struct Group {
        std::int32_t leaf;
        std::size_t end;
    };

    // Reorders the rows by their leaves.
    std::vector<Group> group_by_leaf(std::span<Row> rows) const;

    // The child that the row goes to, -1 at a leaf.
    std::int32_t next(std::int32_t at, Row row) const {
        return is_leaf(at) ? -1 : child(at, goes_left(at, row));
    }

    // A reader of rows of the data set (graph/route.hpp).
    bool is_leaf(std::int32_t at) const { return nodes_[at].left < 0; }
    std::int32_t child(std::int32_t at, bool left) const {
        return left ? nodes_[at].left : nodes_[at].right;
    }
    bool goes_left(std::int32_t at, Row row) const {
        const Node& node = nodes_[at];
        if (node.codes == nullptr) {
            const double* x = numbers_ + std::size_t(row) * graph_.n_features;
            return graph_.goes_left(at, x);
        }
        const std::uint32_t code =
            node.wide ? reinterpret_cast<const std::uint16_t*>(node.codes)[row] : node.codes[row];
        if (node.set < 0) return code_goes_left(code, node.n_left, node.missing, node.missing_left);
        return graph_.tests.goes_left(node.set, code == node.missing ? -1.0 : code, node.n_left,
                                      node.missing_left);
    }
    bool divides(std::int32_t, std::size_t n) const { return n > 1; }
    template <class RowOf, class Divide>
    void test(std::int32_t at, std::size_t, const RowOf& row_of, const Divide& divide) const {
        const Node& node = nodes_[at];
        if (node.codes && !node.wide && node.set < 0 && !node.missing_left) {
            // The missing code is beyond those that go left.
            divide([&row_of, codes = node.codes, n_left = node.n_left](std::size_t i) {
                return codes[row_of(i)] < n_left;
            });
        } else {
            divide([&](std::size_t i) { return goes_left(at, row_of(i)); });
        }
    }

    // To be called when a node of the graph was changed.
    void read(std::int32_t node);

  private:
    struct Node {
        const std::uint8_t* codes = nullptr;  // of the column; null for a leaf and an oblique test
        std::uint32_t n_left = 0;             // codes below it go left
        std::int32_t set = -1;                // or those of them that are in this category set
        std::int32_t left = -1, right = -1;
        std::uint16_t missing = 0;  // this code goes where `missing_left` says
        bool missing_left = false;
        bool wide = false;
    };

    const DecisionGraph& graph_;
    const Dataset& data_;
    const double* numbers_;
    std::vector<Node> nodes_;
};

}  // namespace hedgerow
