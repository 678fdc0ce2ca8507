// One tree by a criterion that is known only now.
#pragma once

#include <utility>
#include <vector>

#include "grow/sample.hpp"
#include "grow/tree_grower.hpp"

namespace hedgerow {

template <template <class> class Sides>
DecisionGraph grow_classifier(const Dataset& data, Sample sample, const GrowTargets& targets,
                              const GrowParams& params, Team& team) {
    const auto run = [&]<class Number, bool weighted>(ClassStats<Number, weighted> stats) {
        stats.n_classes = params.n_classes;
        if (sample.integral) sample.sort_by_class(targets.classes, params.n_classes);
        auto classes = take<std::int32_t>(targets.classes, sample.rows);
        std::vector<Number> weights(sample.weights.begin(), sample.weights.end());
        return TreeGrower<Sides<ClassStats<Number, weighted>>>(
                   data, params, stats, std::move(sample.rows), std::move(classes),
                   std::move(weights), team, sample.by_row)
            .grow(std::move(sample.memory));
    };
    if constexpr (!HasBounds<Sides<ClassStats<double, true>>>) {
        if (sample.weights.empty()) return run(ClassStats<std::int32_t, false>{});
        if (sample.integral) return run(ClassStats<std::int32_t, true>{});
    }
    return run(ClassStats<double, true>{});
}

// `centred`: take the mean off the targets, so that sums of squares lose no digits to it.
template <template <class> class Sides, bool centred>
DecisionGraph grow_regressor(const Dataset& data, Sample sample, const GrowTargets& targets,
                             const GrowParams& params, Team& team) {
    auto numbers = take<double>(targets.numbers, sample.rows);
    double offset = 0;
    if constexpr (centred) {
        offset = rounded_mean(numbers);
        for (double& y : numbers) y -= offset;
    }
    const auto run = [&]<bool weighted>(SumStats<weighted> stats) {
        stats.offset = offset;
        return TreeGrower<Sides<SumStats<weighted>>>(data, params, stats, std::move(sample.rows),
                                                     std::move(numbers), std::move(sample.weights),
                                                     team, sample.by_row)
            .grow(std::move(sample.memory));
    };
    if constexpr (!HasBounds<Sides<SumStats<true>>>) {
        if (sample.weights.empty()) return run(SumStats<false>{});
    }
    return run(SumStats<true>{});
}

}  // namespace hedgerow
