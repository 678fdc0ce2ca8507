#include "explain/quadrature.hpp"

#include <cmath>
#include <numbers>

namespace hedgerow {

Quadrature gauss_legendre(std::size_t n) {
    Quadrature rule{std::vector<double>(n), std::vector<double>(n)};
    for (std::size_t i = 0; i < n; ++i) {
        double x = std::cos(std::numbers::pi * (double(i) + 0.75) / (double(n) + 0.5)), slope = 1;
        for (int round = 0; round < 100; ++round) {
            double p = 1, before = 0;  // Legendre's polynomials by their recurrence
            for (std::size_t k = 1; k <= n; ++k) {
                const double next =
                    ((2.0 * double(k) - 1) * x * p - (double(k) - 1) * before) / double(k);
                before = p;
                p = next;
            }
            slope = double(n) * (x * p - before) / (x * x - 1);
            const double step = p / slope;
            x -= step;
            if (std::abs(step) < 1e-16) break;
        }
        rule.point[i] = (1 - x) / 2;
        rule.weight[i] = 1 / ((1 - x * x) * slope * slope);
    }
    return rule;
}

}  // namespace hedgerow
