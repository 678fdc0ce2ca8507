#include "grow/by_criterion.hpp"

namespace hedgerow {

DecisionGraph grow_entropy(const Dataset& data, Sample sample, const GrowTargets& targets,
                           const GrowParams& params, Team& team) {
    return grow_classifier<EntropySides>(data, std::move(sample), targets, params, team);
}

}  // namespace hedgerow
