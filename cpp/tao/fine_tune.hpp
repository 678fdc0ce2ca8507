// Tree alternating optimisation (Carreira-Perpinan and Tavallali 2018) of any tree or graph.
//
// visitor   a training row that reaches a node
// care row  a visitor for which one child of the node gives a smaller loss than the other; its gain
//           is the loss that going left saves, negative where going right is better
// loss      0/1 for classes, squared error for numbers, times the row's weight
//
// 1. Route the rows; every leaf takes the majority class or the mean of its visitors.
// 2. Nodes from the leaves up: the test of a node becomes the one that sends the largest gain left,
//    over all features, "all left" and "all right", or stays if none is better. The visitors of a
//    node depend on its ancestors alone, so one routing serves the whole pass, and nodes of equal
//    height have no visitor in common: they are tuned in parallel.
// 3. Back to 1, until no test changes; then dead splits are taken out (grow/tidy.hpp).
//
// The loss never rises. Cost of a pass: care rows x features, and visitors x depth for the routing.
// The graph depends on the arguments alone, never on the number of threads.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "base/parallel.hpp"
#include "data/dataset.hpp"
#include "graph/decision_graph.hpp"
#include "grow/grower.hpp"

namespace hedgerow {

struct TuneParams {
    std::uint32_t n_classes = 0;  // 0: regression
    std::uint32_t max_passes = 20;
    std::uint32_t min_samples_leaf = 1;  // rows that a new test must leave on both sides
};

// `numbers` is for oblique tests alone, as in CodedGraph. `after_pass` hears the mean loss at the
// start and after each pass.
DecisionGraph fine_tune(DecisionGraph graph, const Dataset& data, const RowChoice& rows,
                        const GrowTargets& targets, const TuneParams& params, Team& team,
                        const double* numbers = nullptr,
                        const std::function<void(double)>& after_pass = {});

}  // namespace hedgerow
