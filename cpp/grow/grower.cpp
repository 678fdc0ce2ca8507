#include "grow/grower.hpp"

#include <stdexcept>

#include "grow/sample.hpp"

namespace hedgerow {

Sample::Sample(const Dataset& data, std::span<const Row> wanted,
               std::span<const double> all_weights) {
    const std::size_t n = wanted.empty() ? data.n_rows() : wanted.size();
    rows.reserve(n);
    double total = 0;
    bool unit = true;
    for (std::size_t i = 0; i < n; ++i) {
        const Row row = wanted.empty() ? static_cast<Row>(i) : wanted[i];
        const double w = all_weights.empty() ? 1.0 : all_weights[row];
        if (w == 0) continue;
        rows.push_back(row);
        if (all_weights.empty()) continue;
        weights.push_back(w);
        unit &= w == 1;
        integral &= w == std::floor(w);
        total += w;
    }
    integral &= total < std::numeric_limits<std::int32_t>::max();
    if (unit) weights.clear();
}

DecisionGraph grow(const Dataset& data, std::span<const Row> rows, const GrowTargets& targets,
                   const GrowParams& params, Team& team) {
    Sample sample(data, rows, targets.weights);
    if (sample.rows.empty()) throw std::invalid_argument("no row with a positive weight");
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

}  // namespace hedgerow
