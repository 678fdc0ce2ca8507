// What is to be predicted.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "data/dataset.hpp"

namespace hedgerow {

// `classes` or `numbers`, and `weights` (empty: all one), indexed by data-set row; several outputs
// of a row stand next to each other.
struct GrowTargets {
    std::span<const std::int32_t> classes;
    std::span<const double> numbers;
    std::span<const double> weights;
    std::uint32_t n_outputs = 1;

    double weight(Row row) const { return weights.empty() ? 1.0 : weights[row]; }
};

template <class T, class From>
std::vector<T> take(std::span<const From> values, const std::vector<Row>& rows) {
    std::vector<T> out(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) out[i] = static_cast<T>(values[rows[i]]);
    return out;
}

// The mean to 20 bits: subtracting it from targets with few digits (counts, cents) is exact, and so
// are the means of the leaves after it was put back. Targets that lie closer together than these
// bits tell apart have it to as many more as that takes; their differences are exact anyway.
inline double rounded_mean(const std::vector<double>& numbers) {
    const double mean =
        std::accumulate(numbers.begin(), numbers.end(), 0.0) / static_cast<double>(numbers.size());
    if (!std::isfinite(mean) || std::abs(mean) < 1e-300) return 0;
    int exponent = 0;
    std::frexp(mean, &exponent);
    double unit = std::ldexp(1.0, exponent - 20), spread = 0;
    for (const double y : numbers) {
        spread = std::max(spread, std::abs(y - mean));
        if (spread >= unit) break;  // the first, as a rule
    }
    if (spread > 0 && spread < unit) unit = std::ldexp(1.0, std::ilogb(spread));
    return std::round(mean / unit) * unit;
}

}  // namespace hedgerow
