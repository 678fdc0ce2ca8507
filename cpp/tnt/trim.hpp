// A graph cut down to a number of splits.
//
// The split whose rows lose least when all of them go the same way is taken out, and what is dead
// then goes with it. Both sides of every row at every node are routed for this; an eighth of the
// splits that are too many go at a time. Cost of a pass: rows x path length squared.
#pragma once

#include <cstdint>
#include <span>

#include "tnt/tree_in_tree.hpp"

namespace hedgerow {

// The graph with at most `max_splits` splits, tidied; its leaves are merged as `params` says.
// `numbers` is for oblique tests, see graph/coded.hpp. Rows of weight zero are left out.
TidyGraph trim(const DecisionGraph& graph, const Dataset& data, const double* numbers,
               const RowChoice& rows, const GrowTargets& targets, const TreeInTreeParams& params,
               std::size_t max_splits, Team& team);

}  // namespace hedgerow
