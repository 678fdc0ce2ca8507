#include "grow/grower.hpp"

#include <stdexcept>
#include <utility>

#include "grow/prune.hpp"
#include "grow/sample.hpp"

namespace hedgerow {

// One function per criterion, each in a file of its own so that they compile in parallel.
DecisionGraph grow_gini(const Dataset&, Sample, const GrowTargets&, const GrowParams&, Team&);
DecisionGraph grow_entropy(const Dataset&, Sample, const GrowTargets&, const GrowParams&, Team&);
DecisionGraph grow_squared_error(const Dataset&, Sample, const GrowTargets&, const GrowParams&,
                                 Team&);
DecisionGraph grow_poisson(const Dataset&, Sample, const GrowTargets&, const GrowParams&, Team&);
DecisionGraph grow_several(const Dataset&, Sample, const GrowTargets&, const GrowParams&, Team&);
DecisionGraph grow_quantile(const Dataset&, Sample, const GrowTargets&, const GrowParams&, Team&);
DecisionGraph grow_bounded(const Dataset&, Sample, const GrowTargets&, const GrowParams&, Team&);

DecisionGraph grow(const Dataset& data, const RowChoice& rows, const GrowTargets& targets,
                   const GrowParams& params, Team& team, const RowCodes* by_row) {
    std::vector<Row> kept = rows_that_count(data.n_rows(), rows, targets.weights);
    std::vector<double> weights;
    if (!targets.weights.empty()) weights = take<double>(targets.weights, kept);
    Sample sample(std::move(kept), std::move(weights));
    sample.by_row = by_row;
    return grow_sample(data, std::move(sample), targets, params, team);
}

namespace {

DecisionGraph grow_whole(const Dataset& data, Sample sample, const GrowTargets& targets,
                         const GrowParams& params, Team& team) {
    using enum GrowParams::Criterion;
    const bool by_rank = params.criterion == absolute_error || params.criterion == quantile;
    if (targets.n_outputs > 1) {
        if (by_rank || !params.monotonic.empty()) {
            throw std::invalid_argument("quantiles and directions are for one output");
        }
        return grow_several(data, std::move(sample), targets, params, team);
    }
    if (!params.monotonic.empty() && params.monotonic.size() != data.n_features()) {
        throw std::invalid_argument("one direction is needed for each feature");
    }
    if (by_rank) return grow_quantile(data, std::move(sample), targets, params, team);
    if (!params.monotonic.empty()) {
        return grow_bounded(data, std::move(sample), targets, params, team);
    }
    switch (params.criterion) {
        case gini:
            return grow_gini(data, std::move(sample), targets, params, team);
        case entropy:
            return grow_entropy(data, std::move(sample), targets, params, team);
        case squared_error:
            return grow_squared_error(data, std::move(sample), targets, params, team);
        case poisson:
            return grow_poisson(data, std::move(sample), targets, params, team);
        default:
            break;
    }
    throw std::invalid_argument("unknown criterion");
}

}  // namespace

DecisionGraph grow_sample(const Dataset& data, Sample sample, const GrowTargets& targets,
                          const GrowParams& params, Team& team) {
    DecisionGraph tree = grow_whole(data, std::move(sample), targets, params, team);
    return params.ccp_alpha > 0 && !params.stem ? prune(tree, params.ccp_alpha) : tree;
}

}  // namespace hedgerow
