#include "grow/by_criterion.hpp"

namespace hedgerow {

DecisionGraph grow_quantile(const Dataset& data, Sample sample, const GrowTargets& targets,
                            const GrowParams& params, Team& team) {
    const bool median = params.criterion == GrowParams::Criterion::absolute_error;
    sample.sort_by_number(targets.numbers);
    auto numbers = take<double>(targets.numbers, sample.rows);
    const auto run = [&]<bool weighted>(QuantileStats<weighted> stats) {
        // Half of the absolute error is the pinball loss of the median.
        stats.quantile = median ? 0.5 : params.quantile;
        stats.scale = median ? 2 : 1;
        return TreeGrower<QuantileSides<QuantileStats<weighted>>>(
                   data, params, stats, std::move(sample.rows), std::move(numbers),
                   std::move(sample.weights), team, sample.by_row)
            .grow(std::move(sample.memory));
    };
    return sample.weights.empty() ? run(QuantileStats<false>{}) : run(QuantileStats<true>{});
}

}  // namespace hedgerow
