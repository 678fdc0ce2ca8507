// The way of rows through a graph, for everything that can read one.
//
// reader   knows a graph and how to read a row: is_leaf(node), goes_left(node, row) and
//          child(node, left). Readers: DecisionGraph (numbers), CodedGraph (codes by column),
//          and the packed graphs, which also have a router of eight rows abreast
//          (graph/packed.cpp)
// walk     one row from a node to its leaf
// groups   many rows, node by node: a test is read once for all rows that reach it, and no row
//          waits for another's memory
//
// The rule of a test of one feature stands here as well, once for numbers and once for their codes.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace hedgerow {

// At most the threshold goes left, NaN where missing values go.
inline bool number_goes_left(double v, double threshold, bool missing_left) {
    return v == v ? v <= threshold : missing_left;
}

// The same by the rank of the number: the first `n_left` codes go left. `missing` is beyond them.
inline bool code_goes_left(std::uint32_t code, std::uint32_t n_left, std::uint32_t missing,
                           bool missing_left) {
    return (code < n_left) | ((code == missing) & missing_left);
}

template <class R, class Node, class Row>
concept Reader = requires(const R& reader, Node node, Row row) {
    { reader.is_leaf(node) } -> std::same_as<bool>;
    { reader.goes_left(node, row) } -> std::same_as<bool>;
    { reader.child(node, true) } -> std::same_as<Node>;
};

template <class Node, class Row, Reader<Node, Row> R>
Node walk(const R& reader, Node node, Row row) {
    while (!reader.is_leaf(node)) node = reader.child(node, reader.goes_left(node, row));
    return node;
}

// Reorders the rows by their leaves and calls arrive(leaf, begin, end) for each range of them.
// row_at(r) is what the reader reads for r. Where reader.divides(node, n) is false for n rows at a
// node, each goes its own way from there; otherwise reader.test(node, n, row_of, divide) calls
// divide with a function that tells for i < n whether row_of(i) goes left.
template <class R, class Node, class Index, class RowAt, class Arrive>
void route_groups(const R& reader, Node root, std::span<Index> rows, const RowAt& row_at,
                  const Arrive& arrive) {
    struct Group {
        Node node;
        std::size_t begin, end;
    };
    std::vector<Index> right(rows.size());
    std::vector<Group> stack;
    if (!rows.empty()) stack.push_back({root, 0, rows.size()});
    while (!stack.empty()) {
        const auto [node, begin, end] = stack.back();
        stack.pop_back();
        if (reader.is_leaf(node)) {
            arrive(node, begin, end);
            continue;
        }
        if (!reader.divides(node, end - begin)) {
            for (std::size_t i = begin; i < end; ++i) {
                arrive(walk(reader, node, row_at(rows[i])), i, i + 1);
            }
            continue;
        }
        const std::size_t n = end - begin;
        Index* const here = rows.data() + begin;
        std::size_t n_left = 0;
        reader.test(
            node, n, [&](std::size_t i) { return row_at(here[i]); },
            [&, to_right = right.data()](const auto& goes_left) {
                std::size_t to = 0;
                for (std::size_t i = 0; i < n; ++i) {
                    // Both places are written, one of them for good: no branch to mispredict.
                    const Index row = here[i];
                    const bool left = goes_left(i);
                    here[to] = to_right[i - to] = row;
                    to += left;
                }
                n_left = to;
            });
        const std::size_t n_right = n - n_left;
        std::copy_n(right.begin(), n_right, here + n_left);
        if (n_right > 0) stack.push_back({reader.child(node, false), begin + n_left, end});
        if (n_left > 0) stack.push_back({reader.child(node, true), begin, begin + n_left});
    }
}

}  // namespace hedgerow
