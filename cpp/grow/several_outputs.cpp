#include "grow/several_outputs.hpp"

#include <numeric>
#include <stdexcept>
#include <utility>

#include "grow/sample.hpp"
#include "grow/tree_grower.hpp"

namespace hedgerow {

namespace {

template <class Value>
DecisionGraph grow_on(const Dataset& data, Sample sample, SeveralStats<Value> stats,
                      const std::vector<Value>& values, const GrowParams& params, Team& team) {
    stats.criterion = params.criterion;
    stats.values = values.data();
    std::vector<std::uint32_t> places(sample.rows.size());
    std::iota(places.begin(), places.end(), 0u);
    if (sample.weights.empty()) sample.weights.assign(sample.rows.size(), 1.0);
    return TreeGrower<SeveralSides<SeveralStats<Value>>>(
               data, params, stats, std::move(sample.rows), std::move(places),
               std::move(sample.weights), team, sample.by_row)
        .grow(std::move(sample.memory));
}

}  // namespace

DecisionGraph grow_several(const Dataset& data, Sample sample, const GrowTargets& targets,
                           const GrowParams& params, Team& team) {
    const std::uint32_t n_outputs = targets.n_outputs;
    const std::size_t n = sample.rows.size();
    if (params.for_classes()) {
        std::vector<std::int32_t> first(n_outputs), values(n * n_outputs);
        std::exclusive_scan(params.class_counts.begin(), params.class_counts.end(), first.begin(),
                            0);
        for (std::size_t i = 0; i < n; ++i) {
            const std::int32_t* row = &targets.classes[std::size_t(sample.rows[i]) * n_outputs];
            for (std::uint32_t o = 0; o < n_outputs; ++o) {
                values[i * n_outputs + o] = first[o] + row[o];
            }
        }
        SeveralStats<std::int32_t> stats;
        stats.n_outputs_each = n_outputs;
        stats.n_values = params.n_classes;
        return grow_on(data, std::move(sample), stats, values, params, team);
    }
    std::vector<double> values(n * n_outputs), offsets(n_outputs), column(n);
    for (std::uint32_t o = 0; o < n_outputs; ++o) {
        for (std::size_t i = 0; i < n; ++i) {
            column[i] = targets.numbers[std::size_t(sample.rows[i]) * n_outputs + o];
        }
        if (params.criterion == GrowParams::Criterion::squared_error) {
            offsets[o] = rounded_mean(column);
        }
        for (std::size_t i = 0; i < n; ++i) values[i * n_outputs + o] = column[i] - offsets[o];
    }
    SeveralStats<double> stats;
    stats.n_outputs_each = stats.n_values = n_outputs;
    stats.offsets = offsets.data();
    return grow_on(data, std::move(sample), stats, values, params, team);
}

}  // namespace hedgerow
