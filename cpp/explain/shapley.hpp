// Shapley values of rows: what each feature adds to the values of graphs.
//
// game       the players are the features. A coalition's worth is the expected value of a graph
// when
//            only its features are known
// by paths   a test of an unknown feature sends shares of the row both ways, as the rows were
//            divided that the graph was grown on (Lundberg et al., "From local explanations to
//            global understanding with explainable AI for trees")
// by rows    unknown features are those of a background row, averaged over all of these
//
// Shapley values are an integral along the diagonal of the game's multilinear extension (Owen):
// a leaf of value v, whose path asks the distinct features j, gives feature i
//
//     v (o_i - z_i)  integral over t in [0, 1] of  prod over j != i of (z_j + t (o_j - z_j))
//
// with o_j = 1 if the row passes all tests of j on the path, and z_j the share of the rows that do.
// The product is a polynomial in t, so Gauss's rule with half as many points as features is exact.
// Going down a graph multiplies the product at the points, once for all leaves below; going up adds
// value times product over the leaves, and a test divides its feature's factor out of the sum of
// all leaves below. A second test of a feature replaces the factor of the first one, below it
// alone. Eight rows go through a graph side by side, blocks of them while it is in the cache.
// Values of pairs of features divide the factors out at every leaf.
//
// By rows, a leaf counts by how many features lead to it that are the row's and the other's; up to
// 64 background rows go through a graph together, with a bit for each.
//
// A shared node is walked once for each path to it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/parallel.hpp"
#include "graph/decision_graph.hpp"

namespace hedgerow {

// Throws std::invalid_argument where a test weighs several features.
void refuse_oblique(const DecisionGraph& graph);

// The share of rows that each test of a graph sends left, out of the weights of its nodes; throws
// std::invalid_argument where these do not tell it.
std::vector<double> left_shares(const DecisionGraph& graph);
// The same by the given rows.
template <class T>
std::vector<double> left_shares(const DecisionGraph& graph, const T* x, std::size_t n_rows);

// Values by paths, summed over graphs.
class PathShapley {
  public:
    PathShapley(std::uint32_t n_features, std::uint32_t n_outputs);
    // The graph must stay where it is.
    void add(const DecisionGraph& graph, std::span<const double> left_share);

    // The value of a row of which nothing is known: n_outputs numbers.
    const std::vector<double>& expected() const { return expected_; }
    // n_rows x n_features x n_outputs numbers; each row's, with `expected`, sum to its value.
    template <class T>
    void values(const T* x, std::size_t n_rows, double* out, Team& team) const;
    // n_rows x n_features x n_features x n_outputs: values shared out to pairs of features.
    template <class T>
    void interactions(const T* x, std::size_t n_rows, double* out, Team& team) const;

  private:
    // A node on one path.
    struct Step {
        std::int32_t node;                   // in its graph
        std::int32_t left = -1, right = -1;  // steps to its children
        std::int32_t feature = -1;           // of the test above it
        std::int32_t same = -1;              // the last step above it for the same feature
        std::int32_t place = 0;              // of the feature among the distinct ones of the path
        double share = 1;  // of rows that pass this and all tests of the feature above
        std::uint32_t first = 0,
                      end = 0;  // of a leaf its values that are not zero, else `outputs_`
    };
    struct Value {
        std::uint32_t output;
        double number;
    };
    template <class T>
    class Walk;
    template <class T, class AtLeaf>
    class PairWalk;
    std::int32_t unroll(const DecisionGraph& graph, std::span<const double> left_share,
                        std::int32_t node, std::int32_t same, std::int32_t feature, double share,
                        double reach, std::vector<std::int32_t>& last, std::uint32_t n_distinct,
                        std::uint32_t depth);
    void note_outputs(Step& step, const Step& left, const Step& right);
    // Calls at_leaf(walk, numbers of the row) at every leaf of every graph, for pairs of features.
    template <class T, class AtLeaf>
    void for_rows(const T* x, std::size_t n_rows, std::size_t n_numbers, double* out, Team& team,
                  const AtLeaf& at_leaf) const;

    std::uint32_t n_features_, n_outputs_;
    std::uint32_t n_distinct_ = 1, depth_ = 0;  // at most on a path
    std::vector<const DecisionGraph*> graphs_;
    std::vector<std::vector<Step>> steps_;  // of each graph, in preorder
    std::vector<Value> values_;             // of leaves
    std::vector<std::uint32_t> outputs_;    // of each step: those that leaves below have values of
    std::vector<double> expected_;
};

// Values by background rows: n_rows x n_features x n_outputs numbers, summed over graphs.
template <class T>
void background_shapley(std::span<const DecisionGraph* const> graphs, const T* x,
                        std::size_t n_rows, const T* background, std::size_t n_background,
                        double* out, Team& team);

}  // namespace hedgerow
