// Gauss's rule on [0, 1], exact for polynomials of a degree below twice the number of points.
#pragma once

#include <cstddef>
#include <vector>

namespace hedgerow {

struct Quadrature {
    std::vector<double> point, weight;
};

Quadrature gauss_legendre(std::size_t n);

}  // namespace hedgerow
