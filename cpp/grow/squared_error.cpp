#include "grow/by_criterion.hpp"

namespace hedgerow {

DecisionGraph grow_squared_error(const Dataset& data, Sample sample, const GrowTargets& targets,
                                 const GrowParams& params, Team& team) {
    return grow_regressor<SquaredErrorSides, true>(data, std::move(sample), targets, params, team);
}

}  // namespace hedgerow
