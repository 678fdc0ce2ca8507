// Gradient boosting: round after round a tree for each score, fitted to the slope of the loss.
//
// round     derivatives of all rows, then one tree for each score; its values are added to the
//           scores of all rows, those that it was not grown on too
// stopping  the loss of held-out rows is taken after each round; when it has not fallen for
//           `patience` rounds, by the share `least` of the loss before the first, boosting ends,
//           and the rounds after the best one are dropped
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "base/parallel.hpp"
#include "boost/params.hpp"
#include "data/dataset.hpp"
#include "graph/decision_graph.hpp"

namespace hedgerow {

struct Stopping {
    std::size_t patience = 0;  // 0: never
    double least = 0;
};

struct BoostInput {
    const Dataset& data;
    LossTargets targets;
    std::span<const Row> rows;  // to learn from, ascending
    std::span<const Row> held;  // to judge by; may be none
    // To go on: the scores after the earlier rounds, score after score, or nothing.
    std::span<const double> scores;
    std::size_t first_round = 0;
};

struct Boosted {
    std::vector<double> intercept;      // none where it went on from given scores
    std::vector<DecisionGraph> graphs;  // round after round, a tree for each score
    // Mean losses before the first round and after each; empty where nobody asked for them.
    std::vector<double> train_losses, held_losses;
};

// `track` asks for losses without stopping; `done` counts the rounds for whoever watches.
Boosted boost(const BoostInput& input, const BoostParams& params, std::size_t n_rounds,
              const Stopping& stopping, bool track, std::atomic<std::size_t>& done, Team& team);

}  // namespace hedgerow
