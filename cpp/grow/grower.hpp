// Growing one tree: the single entry to the engine's growth.
//
// 1. The rows, targets and weights are copied into arrays that each split partitions in place, so
//    a node is a range and its targets are read in order.
// 2. Large nodes: one histogram per feature, the larger child's by subtraction; features in
//    parallel.
// 3. Nodes below a size that depends on the data alone are grown whole, as tasks in parallel; a
//    task gathers the codes of its rows into a block that fits the cache and grows there.
// 4. With a leaf limit the frontier is a heap (best-first) instead of a stack; blocks and
// histograms
//    wait there with the nodes.
//
// Cost: rows x features x depth, about 1 ns each. The tree depends on the arguments alone, never on
// the number of threads.
#pragma once

#include <cstdint>
#include <span>

#include "base/parallel.hpp"
#include "data/row_codes.hpp"
#include "data/rows.hpp"
#include "graph/decision_graph.hpp"
#include "grow/params.hpp"
#include "grow/targets.hpp"

namespace hedgerow {

// Rows of weight zero are left out. `by_row` may be null; it speeds up many trees on few rows each.
DecisionGraph grow(const Dataset& data, const RowChoice& rows, const GrowTargets& targets,
                   const GrowParams& params, Team& team, const RowCodes* by_row = nullptr);

}  // namespace hedgerow
