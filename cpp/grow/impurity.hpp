// The impurity of a set of rows, from its sums or shares.
//
// impurity   Gini, entropy in bits, or the mean squared distance to the mean
// loss       weight * impurity, from the sums themselves: sets whose rows come and go compare these
//
// Growth has forms of its own for whole weights (grow/criterion.hpp). A form is never exchanged for
// another: they differ in the last digits, and pruning compares them.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>

namespace hedgerow {

inline double sum_of_squares(std::span<const double> numbers) {
    double sum = 0;
    for (const double v : numbers) sum += v * v;
    return sum;
}

inline double gini_of_shares(std::span<const double> shares) { return 1 - sum_of_squares(shares); }

inline double p_log2_p(double p) { return p > 0 ? p * std::log2(p) : 0.0; }

inline double entropy_of_shares(std::span<const double> shares) {
    double entropy = 0;
    for (const double p : shares) entropy -= p_log2_p(p);
    return std::max(0.0, entropy);
}

inline double gini_loss(std::span<const double> sums, double weight) {
    return std::max(0.0, weight - sum_of_squares(sums) / weight);
}

inline double entropy_loss(std::span<const double> sums, double weight) {
    double loss = 0;
    for (const double sum : sums) {
        if (sum > 0) loss -= sum * std::log2(sum / weight);
    }
    return std::max(0.0, loss);
}

inline double squared_loss(double sum, double squares, double weight) {
    return std::max(0.0, squares - sum * sum / weight);
}

}  // namespace hedgerow
