#include "grow/by_criterion.hpp"

namespace hedgerow {

DecisionGraph grow_poisson(const Dataset& data, Sample sample, const GrowTargets& targets,
                           const GrowParams& params, Team& team) {
    return grow_regressor<PoissonSides, false>(data, std::move(sample), targets, params, team);
}

}  // namespace hedgerow
