// From the caller's rows, targets and weights to the grower's own arrays.
#pragma once

#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "grow/grower.hpp"
#include "grow/tree_grower.hpp"

namespace hedgerow {

// The rows that count, with their weights.
struct Sample {
    std::vector<Row> rows;
    std::vector<double> weights;       // empty: all one
    bool integral = true;              // class counts fit into 32-bit integers
    const RowCodes* by_row = nullptr;  // the data set's codes, where there is a copy by row
    DecisionGraph memory;              // of an earlier tree, to be used again

    Sample(std::vector<Row> rows, std::vector<double> weights);

    // Puts the rows in the order of their classes. Splits keep it, so rows of a class can be
    // counted together in every node (see grow/left_stats.hpp).
    void sort_by_class(std::span<const std::int32_t> classes, std::uint32_t n_classes);
};

DecisionGraph grow_sample(const Dataset&, Sample, const GrowTargets&, const GrowParams&, Team&);

// One function per criterion, each in a file of its own so that they compile in parallel.
DecisionGraph grow_gini(const Dataset&, Sample, const GrowTargets&, const GrowParams&, Team&);
DecisionGraph grow_entropy(const Dataset&, Sample, const GrowTargets&, const GrowParams&, Team&);
DecisionGraph grow_squared_error(const Dataset&, Sample, const GrowTargets&, const GrowParams&,
                                 Team&);
DecisionGraph grow_poisson(const Dataset&, Sample, const GrowTargets&, const GrowParams&, Team&);

template <class T, class From>
std::vector<T> take(std::span<const From> values, const std::vector<Row>& rows) {
    std::vector<T> out(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) out[i] = static_cast<T>(values[rows[i]]);
    return out;
}

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
    if (sample.weights.empty()) return run(ClassStats<std::int32_t, false>{});
    if (sample.integral) return run(ClassStats<std::int32_t, true>{});
    return run(ClassStats<double, true>{});
}

// The mean to 20 bits: subtracting it from targets with few digits (counts, cents) is exact, and so
// are the means of the leaves after it was put back.
inline double rounded_mean(const std::vector<double>& numbers) {
    const double mean =
        std::accumulate(numbers.begin(), numbers.end(), 0.0) / static_cast<double>(numbers.size());
    if (!std::isfinite(mean)) return 0;
    int exponent = 0;
    const double fraction = std::frexp(mean, &exponent);
    return std::ldexp(std::round(std::ldexp(fraction, 20)), exponent - 20);
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
    return sample.weights.empty() ? run(SumStats<false>{}) : run(SumStats<true>{});
}

}  // namespace hedgerow
