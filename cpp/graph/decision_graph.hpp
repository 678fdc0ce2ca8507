// The one model type: a rooted acyclic graph of tests with values at its leaves.
//
// node      an index into the columns below; node 0 is the root, children have larger numbers in a
//           tree (preorder) and any number in a graph
// test      axis: x[feature] <= threshold goes left
//           category: the category x[feature] is in the node's set goes left; `threshold` is the
//           number of categories that the training table had
//           oblique: the sum of its terms < threshold goes left (graph/oblique.hpp)
// missing   NaN in an axis or category test, and a category outside the training table, follow
//           `missing_left`; an oblique test leaves missing numbers out
// none      children are -1 at a leaf, its feature and threshold -2, as in scikit-learn; an oblique
//           test has no one feature either: -2
//
// A structure of arrays, made for building, export and zero-copy views; prediction in bulk uses
// the packed form (graph/packed.hpp).
#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
#include <vector>

#include "graph/oblique.hpp"
#include "graph/route.hpp"

namespace hedgerow {

enum class Kind : std::uint8_t { leaf = 0, axis = 1, category = 2, oblique = 3 };

// The parts of category and oblique tests that do not fit into a node, shared by both layouts.
struct TestPool {
    std::vector<std::uint64_t> words;          // category sets, 64 categories a word
    std::vector<std::uint32_t> word_start{0};  // set s is words[word_start[s]..word_start[s + 1]]
    std::vector<std::shared_ptr<const ObliqueTest>> oblique;

    void validate(std::uint32_t n_features) const;
    std::int32_t add_set(std::span<const std::uint64_t> set);
    std::int32_t add_oblique(std::shared_ptr<const ObliqueTest> test);
    std::span<const std::uint64_t> set(std::int32_t index) const {
        return {words.data() + word_start[index], words.data() + word_start[index + 1]};
    }
    // Whether a set has a bit for each of n categories.
    bool knows(std::int32_t index, double n) const {
        return n >= 0 && n <= 64.0 * static_cast<double>(set(index).size());
    }
    // Whether a category goes left, where the set says it for `n_known` of them; the others, and
    // what is no category at all, are missing.
    bool goes_left(std::int32_t index, double code, double n_known, bool missing_left) const {
        if (!(code >= 0 && code < n_known)) return missing_left;
        const auto bit = static_cast<std::uint64_t>(code);
        return words[word_start[index] + bit / 64] >> (bit % 64) & 1;
    }
};

// Where a node hangs: on a side of its parent, or nowhere (a root).
struct Place {
    std::int32_t parent = -1;
    bool is_left = false;
};

struct DecisionGraph {
    std::uint32_t n_features = 0;
    std::uint32_t n_outputs = 1;
    std::vector<std::uint8_t> kind, missing_left;
    std::vector<std::int32_t> feature, left, right;
    std::vector<std::int32_t> detail;  // index into `tests` of a category or oblique node, else -1
    std::vector<double> threshold;
    std::vector<std::int32_t> n_samples;
    std::vector<double> weight, impurity;
    std::vector<double> value;  // n_outputs numbers a node
    TestPool tests;

    static constexpr std::int32_t no_feature = -2;
    static constexpr double no_threshold = -2;

    std::size_t n_nodes() const { return kind.size(); }
    std::size_t n_leaves() const;
    std::size_t depth() const;
    bool is_leaf(std::int32_t node) const { return kind[node] == 0; }
    std::span<const double> value_of(std::int32_t node) const {
        return {value.data() + std::size_t(node) * n_outputs, n_outputs};
    }

    // A reader of rows of numbers (graph/route.hpp).
    template <class T>
    bool goes_left(std::int32_t node, const T* x) const {
        if (static_cast<Kind>(kind[node]) == Kind::oblique) {
            return tests.oblique[detail[node]]->goes_left(x, threshold[node]);
        }
        const double v = static_cast<double>(x[feature[node]]);
        return static_cast<Kind>(kind[node]) == Kind::axis
                   ? number_goes_left(v, threshold[node], missing_left[node])
                   : tests.goes_left(detail[node], v, threshold[node], missing_left[node]);
    }
    std::int32_t child(std::int32_t node, bool go_left) const {
        return go_left ? left[node] : right[node];
    }
    bool divides(std::int32_t, std::size_t n) const { return n >= 4; }
    template <class RowOf, class Divide>
    void test(std::int32_t node, std::size_t n, const RowOf& row_of, const Divide& divide) const {
        if (static_cast<Kind>(kind[node]) == Kind::oblique) {
            std::vector<std::uint8_t> is_left(n);
            tests.oblique[detail[node]]->go_left(n, row_of, threshold[node], is_left.data());
            divide([&](std::size_t i) { return is_left[i] != 0; });
        } else if (static_cast<Kind>(kind[node]) == Kind::axis) {
            const auto f = feature[node];
            const double t = threshold[node];
            const bool missing = missing_left[node];
            divide([&](std::size_t i) {
                return number_goes_left(static_cast<double>(row_of(i)[f]), t, missing);
            });
        } else {
            divide([&](std::size_t i) { return goes_left(node, row_of(i)); });
        }
    }

    // The child that the row goes to, -1 at a leaf.
    template <class T>
    std::int32_t next(std::int32_t node, const T* x) const {
        return is_leaf(node) ? -1 : child(node, goes_left(node, x));
    }
    template <class T>
    std::int32_t leaf_of(const T* x, std::int32_t node = 0) const {
        return walk(*this, node, x);
    }
    // Writes the leaf of each of n rows, where at(i) is the i-th.
    template <class At>
    void find_leaves(std::size_t n, const At& at, std::int32_t* leaves) const {
        std::vector<std::uint32_t> rows(n);
        std::iota(rows.begin(), rows.end(), 0u);
        route_groups(*this, 0, std::span(rows), at,
                     [&](std::int32_t leaf, std::size_t begin, std::size_t end) {
                         for (std::size_t i = begin; i < end; ++i) leaves[rows[i]] = leaf;
                     });
    }

    void reserve(std::size_t nodes);
    // Without nodes and tests; memory is kept.
    void clear();
    // Appends a leaf without children; returns its index.
    std::int32_t add_node();
    // The same in its place, with its statistics; its value is zero so far.
    std::int32_t add_leaf(Place place, std::uint32_t n, double node_weight, double node_impurity) {
        const std::int32_t node = add_node();
        n_samples[node] = static_cast<std::int32_t>(n);
        weight[node] = node_weight;
        impurity[node] = node_impurity;
        hang(node, place);
        return node;
    }
    void hang(std::int32_t node, Place place) {
        if (place.parent >= 0) (place.is_left ? left : right)[place.parent] = node;
    }
    // Appends a copy of another graph's node, its test included, without children.
    std::int32_t copy_node(const DecisionGraph& from, std::int32_t node);
    // The same without the node's statistics and value.
    std::int32_t copy_test(const DecisionGraph& from, std::int32_t node);
    // Gives a node another test; its children stay.
    void make_leaf(std::int32_t node);
    void set_axis(std::int32_t node, std::int32_t of, double at, bool missing_goes_left);
    void set_category(std::int32_t node, std::int32_t of, std::span<const std::uint64_t> set,
                      double n_known, bool missing_goes_left);
    void set_oblique(std::int32_t node, std::shared_ptr<const ObliqueTest> test, double at);

    // Throws std::invalid_argument unless the graph is whole: equal lengths, indices in range,
    // acyclic, every node reachable from the root, finite numbers.
    void validate() const;
};

// Nodes with every parent before its children; throws std::invalid_argument if there is a cycle or
// a node that the root does not reach.
std::vector<std::int32_t> topological_order(const DecisionGraph& graph);

// One graph from several, numbered in preorder: child -2 - i of `top` stands for the root of
// parts[i].
DecisionGraph join_in_preorder(const DecisionGraph& top, std::span<const DecisionGraph> parts);

}  // namespace hedgerow
