// Trees with monotone constraints. They are compiled apart, for one kind of numbers: the growth of
// all other trees knows nothing of bounds.
#include <stdexcept>

#include "grow/by_criterion.hpp"

namespace hedgerow {
namespace {

template <class Stats>
using BoundedGini = BoundedSides<GiniSides<Stats>>;
template <class Stats>
using BoundedEntropy = BoundedSides<EntropySides<Stats>>;
template <class Stats>
using BoundedSquaredError = BoundedSides<SquaredErrorSides<Stats>>;
template <class Stats>
using BoundedPoisson = BoundedSides<PoissonSides<Stats>>;

void check(const GrowParams& params) {
    if (params.for_classes() && params.n_classes != 2) {
        throw std::invalid_argument("directions are for numbers and for two classes");
    }
}

}  // namespace

DecisionGraph grow_bounded(const Dataset& data, Sample sample, const GrowTargets& targets,
                           const GrowParams& params, Team& team) {
    using enum GrowParams::Criterion;
    check(params);
    if (sample.weights.empty()) sample.weights.assign(sample.rows.size(), 1.0);
    switch (params.criterion) {
        case gini:
            return grow_classifier<BoundedGini>(data, std::move(sample), targets, params, team);
        case entropy:
            return grow_classifier<BoundedEntropy>(data, std::move(sample), targets, params, team);
        case squared_error:
            return grow_regressor<BoundedSquaredError, true>(data, std::move(sample), targets,
                                                             params, team);
        case poisson:
            return grow_regressor<BoundedPoisson, false>(data, std::move(sample), targets, params,
                                                         team);
        default:
            break;
    }
    throw std::invalid_argument("unknown criterion");
}

}  // namespace hedgerow
