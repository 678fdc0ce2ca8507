// The first principal component of something by the power method.
#pragma once

#include <cmath>
#include <vector>

namespace hedgerow {

// Turns `direction`; multiply(from, to) writes the covariance times its argument, up to a factor.
// `next` is room to work in. Ends early where the product is zero: nothing varies.
template <class Multiply>
void power_method(int n_steps, std::vector<double>& direction, std::vector<double>& next,
                  const Multiply& multiply) {
    next.resize(direction.size());
    for (int step = 0; step < n_steps; ++step) {
        multiply(direction, next);
        double squares = 0;
        for (const double d : next) squares += d * d;
        const double length = std::sqrt(squares);
        if (!(length > 0)) return;
        for (double& d : next) d /= length;
        direction.swap(next);
    }
}

}  // namespace hedgerow
