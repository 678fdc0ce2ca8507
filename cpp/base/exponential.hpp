// The exponential function by additions and multiplications alone: a prediction has the same bits
// wherever it is computed, in this engine, in exported C, Python or JavaScript.
//
// steps    x = k ln 2 + r with |r| <= ln 2 / 2; e^r by its series up to r^13; times 2^k
// error    below one unit in the last place: the series leaves 4e-18, ln 2 is held in two parts
#pragma once

#include <bit>
#include <cstdint>
#include <initializer_list>
#include <limits>

namespace hedgerow {

inline double exponential(double x) {
    if (x != x) return x;
    if (x > 710) return std::numeric_limits<double>::infinity();
    if (x < -746) return 0;
    // The upper part of ln 2 has 40 bits: its products with k are exact.
    constexpr double upper = 0.6931471805592082, lower = 7.371002565167799e-13;
    const int k = static_cast<int>(x * 1.4426950408889634 + (x < 0 ? -0.5 : 0.5));
    const double high = x - k * upper, low = k * lower, r = high - low;
    double series = 1.0 / 6227020800;
    for (const double divisor : {479001600.0, 39916800.0, 3628800.0, 362880.0, 40320.0, 5040.0,
                                 720.0, 120.0, 24.0, 6.0, 2.0}) {
        series = 1 / divisor + r * series;
    }
    const double power = 1 + (high + (r * r * series - low));
    // Two factors: the first product is exact even where the result is beyond the normal numbers.
    const auto two_to = [](int n) {
        return std::bit_cast<double>(static_cast<std::uint64_t>(1023 + n) << 52);
    };
    const int half = k / 2;
    return power * two_to(half) * two_to(k - half);
}

}  // namespace hedgerow
