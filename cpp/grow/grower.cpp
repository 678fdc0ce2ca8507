#include "grow/grower.hpp"

#include <stdexcept>

#include "grow/prune.hpp"
#include "grow/sample.hpp"

namespace hedgerow {

Sample::Sample(std::vector<Row> all_rows, std::vector<double> all_weights)
    : rows(std::move(all_rows)), weights(std::move(all_weights)) {
    if (rows.empty()) throw std::invalid_argument("no row with a positive weight");
    double total = 0;
    bool unit = true;
    for (const double w : weights) {
        unit &= w == 1;
        integral &= w == std::floor(w);
        total += w;
    }
    integral &= total < std::numeric_limits<std::int32_t>::max();
    if (unit) weights.clear();
}

void Sample::sort_by_class(std::span<const std::int32_t> classes, std::uint32_t n_classes) {
    std::vector<std::size_t> next(n_classes + 1);
    for (const Row row : rows) ++next[classes[row] + 1];
    std::partial_sum(next.begin(), next.end(), next.begin());
    std::vector<Row> sorted(rows.size());
    std::vector<double> sorted_weights(weights.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const std::size_t place = next[classes[rows[i]]]++;
        sorted[place] = rows[i];
        if (!weights.empty()) sorted_weights[place] = weights[i];
    }
    rows = std::move(sorted);
    weights = std::move(sorted_weights);
}

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
    switch (params.criterion) {
        case gini:
            return grow_gini(data, std::move(sample), targets, params, team);
        case entropy:
            return grow_entropy(data, std::move(sample), targets, params, team);
        case squared_error:
            return grow_squared_error(data, std::move(sample), targets, params, team);
        case poisson:
            return grow_poisson(data, std::move(sample), targets, params, team);
    }
    throw std::invalid_argument("unknown criterion");
}

}  // namespace

DecisionGraph grow_sample(const Dataset& data, Sample sample, const GrowTargets& targets,
                          const GrowParams& params, Team& team) {
    DecisionGraph tree = grow_whole(data, std::move(sample), targets, params, team);
    return params.ccp_alpha > 0 ? prune(tree, params.ccp_alpha) : tree;
}

}  // namespace hedgerow
