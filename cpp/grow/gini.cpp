#include "grow/by_criterion.hpp"

namespace hedgerow {

DecisionGraph grow_gini(const Dataset& data, Sample sample, const GrowTargets& targets,
                        const GrowParams& params, Team& team) {
    return grow_classifier<GiniSides>(data, std::move(sample), targets, params, team);
}

}  // namespace hedgerow
