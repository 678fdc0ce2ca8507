#include "grow/sample.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

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

void Sample::sort_by_number(std::span<const double> numbers) {
    std::vector<std::uint32_t> order(rows.size());
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(),
                     [&](auto a, auto b) { return numbers[rows[a]] < numbers[rows[b]]; });
    std::vector<Row> sorted(rows.size());
    std::vector<double> sorted_weights(weights.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
        sorted[i] = rows[order[i]];
        if (!weights.empty()) sorted_weights[i] = weights[order[i]];
    }
    rows = std::move(sorted);
    weights = std::move(sorted_weights);
}

}  // namespace hedgerow
