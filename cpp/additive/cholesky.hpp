// Symmetric positive definite systems of a few hundred unknowns.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

namespace hedgerow {

// The lower factor of a matrix, row by row. A pivot that rounding has made zero or negative is
// taken for infinite: its unknown becomes zero.
class Cholesky {
  public:
    // Reads the lower triangle of a matrix with `stride` numbers a row.
    void factor(const double* matrix, std::size_t n, std::size_t stride) {
        n_ = n;
        lower_.resize(n * n);
        for (std::size_t i = 0; i < n; ++i) {
            double* row = &lower_[i * n];
            for (std::size_t j = 0; j < i; ++j) {
                row[j] = (matrix[i * stride + j] - dot(row, &lower_[j * n], j)) * lower_[j * n + j];
            }
            const double whole = matrix[i * stride + i];
            const double pivot = whole - dot(row, row, i);
            row[i] = pivot > 1e-13 * whole ? 1 / std::sqrt(pivot) : 0;  // its inverse
        }
    }

    // Overwrites the right side with the solution.
    void solve(double* x) const {
        for (std::size_t i = 0; i < n_; ++i) {
            x[i] = (x[i] - dot(&lower_[i * n_], x, i)) * lower_[i * n_ + i];
        }
        for (std::size_t i = n_; i-- > 0;) {
            x[i] *= lower_[i * n_ + i];
            const double* row = &lower_[i * n_];
            for (std::size_t j = 0; j < i; ++j) x[j] -= row[j] * x[i];
        }
    }

    // The inverse of the matrix, row by row.
    std::vector<double> inverse() const {
        // Columns of the inverse factor, as rows: L^-1 e_i is zero above i.
        std::vector<double> inverse_factor(n_ * n_), out(n_ * n_);
        for (std::size_t c = 0; c < n_; ++c) {
            double* column = &inverse_factor[c * n_];
            column[c] = lower_[c * n_ + c];
            for (std::size_t i = c + 1; i < n_; ++i) {
                column[i] = -dot(&lower_[i * n_ + c], column + c, i - c) * lower_[i * n_ + i];
            }
        }
        for (std::size_t i = 0; i < n_; ++i) {
            for (std::size_t j = 0; j <= i; ++j) {
                out[i * n_ + j] = out[j * n_ + i] =
                    dot(&inverse_factor[i * n_ + i], &inverse_factor[j * n_ + i], n_ - i);
            }
        }
        return out;
    }

  private:
    // Eight sums side by side, added in a fixed order: they fit vectors.
    static double dot(const double* a, const double* b, std::size_t n) {
        double sums[8] = {};
        std::size_t i = 0;
        for (; i + 8 <= n; i += 8) {
            for (std::size_t j = 0; j < 8; ++j) sums[j] += a[i + j] * b[i + j];
        }
        double rest = 0;
        for (; i < n; ++i) rest += a[i] * b[i];
        return ((sums[0] + sums[4]) + (sums[1] + sums[5])) +
               ((sums[2] + sums[6]) + (sums[3] + sums[7])) + rest;
    }

    std::size_t n_ = 0;
    std::vector<double> lower_;
};

}  // namespace hedgerow
