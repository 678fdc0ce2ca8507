// Mean-margin trees: oblique tests half-way between the means of two groups of rows
// (Gashler, Giraud-Carrier and Martinez 2008, "Decision tree ensemble: small heterogeneous is
// better than large homogeneous").
//
// place     a coordinate: one for a number, one for each category of a categorical feature
// groups    T and F, by the labels (margin/labels.hpp)
// boundary  normal = mean of T - mean of F, centre = their midpoint; (x - centre) . normal >= 0
//           goes right
// scale     divides every number before all this; folded into the normal as 1 / scale^2
// missing   a number is left out of the mean and of the product; a category counts as equal shares
//           of all categories
//
// 1. A node's labels give the two groups; one pass over its rows gives their means.
// 2. One product of the node's rows with the normal gives the sides; the rows are partitioned in
//    place, in their order. The node is a leaf when a group or a side is empty, when the means
//    coincide, or at a limit.
// 3. Large nodes share their blocks of rows among the threads; smaller nodes are grown whole, as
//    tasks in parallel. Sums have one order: rows within a block, then blocks.
//
// Cost: two passes over rows x places for each level of the tree, at the speed of memory. The tree
// depends on the arguments alone, never on the number of threads.
#pragma once

#include <cstdint>
#include <span>

#include "base/parallel.hpp"
#include "data/rows.hpp"
#include "graph/decision_graph.hpp"
#include "grow/params.hpp"
#include "margin/labels.hpp"

namespace hedgerow {

// A matrix of rows: numbers, and category codes in the columns with n_categories > 0; NaN is
// missing.
template <class T>
struct MarginTable {
    const T* data;
    std::size_t n_rows;
    std::uint32_t n_features;
    std::span<const std::uint32_t> n_categories;

    const T* row(Row r) const { return data + std::size_t(r) * n_features; }
};

// Rows of weight zero are left out. `scale` has one positive entry per feature, or none. Of
// `params` the depth, the least rows and weights, the criterion (of classes) and the price of a
// leaf count.
template <class T>
DecisionGraph grow_mean_margin(const MarginTable<T>& table, const RowChoice& rows,
                               const Labels& labels, std::span<const double> scale,
                               const GrowParams& params, Team& team);

// The standard deviation of each feature over the rows, 1 for constant and categorical features;
// `weights` may be empty.
template <class T>
std::vector<double> standard_scale(const MarginTable<T>& table, const RowChoice& rows,
                                   std::span<const double> weights, Team& team);

}  // namespace hedgerow
