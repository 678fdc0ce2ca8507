// What is to be predicted.
#pragma once

#include <cmath>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "data/dataset.hpp"

namespace hedgerow {

// `classes` or `numbers`, and `weights` (empty: all one), indexed by data-set row.
struct GrowTargets {
    std::span<const std::int32_t> classes;
    std::span<const double> numbers;
    std::span<const double> weights;

    double weight(Row row) const { return weights.empty() ? 1.0 : weights[row]; }
};

template <class T, class From>
std::vector<T> take(std::span<const From> values, const std::vector<Row>& rows) {
    std::vector<T> out(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) out[i] = static_cast<T>(values[rows[i]]);
    return out;
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

}  // namespace hedgerow
