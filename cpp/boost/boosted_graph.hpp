// Graphs as members: Tree in Tree on the slope of the loss.
//
// 1. The round's boosted tree is where it starts. A row's target is the Newton step it asks for,
// its
//    weight the second derivative: the squared loss of these is the loss to second order.
// 2. A split costs what the tree's cheapest one removes, so that new splits are worth an old one.
// 3. What is over the tree's number of splits is cut off; the tree stays where no graph is better.
// 4. Values of leaves are found anew, as in trees.
//
// Cost: some trees' for each tree.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "boost/boosted_tree.hpp"

namespace hedgerow {

class GraphBooster {
  public:
    GraphBooster(const Dataset& data, const BoostParams& params);

    // Puts a graph in the place of a tree that was grown on `rows`, which are ordered anew.
    // Derivatives are by row of the data.
    void improve(BoostedTree& tree, std::span<Row> rows, const float* gradient,
                 const float* hessian, const std::optional<Residuals>& residuals, Team& team);

  private:
    void set_leaves(BoostedTree& tree, DecisionGraph graph, std::span<Row> rows,
                    const float* gradient, const float* hessian,
                    const std::optional<Residuals>& residuals) const;
    double value_of(std::vector<Row>& rows, const float* gradient, const float* hessian,
                    const std::optional<Residuals>& residuals) const;

    const Dataset& data_;
    const BoostParams& params_;
    std::vector<double> step_, weight_;  // by row of the data
};

}  // namespace hedgerow
