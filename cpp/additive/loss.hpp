// What a sum of trees is fitted to: the loss of a row at its raw scores, and its derivatives.
//
// score     what the trees of a sum add up to, before the link. One a row, or one a class where
//           there are more than two classes
// layout    score after score: score k of a row is at [k * n_rows + row]
//
// Loss, slope and curvature of one row of weight one, with target y and score s:
//
// - squared: (s - y)^2 / 2; s - y; 1
// - absolute: |s - y|; sign(s - y); 1, since there is none: a step of length one
// - quantile: q (y - s) above s, (1 - q)(s - y) below; as absolute
// - poisson: exp(s) - y s; exp(s) - y; exp(s)
// - gamma: s + y exp(-s); 1 - y exp(-s); y exp(-s)
// - log_loss: -log p(y); p(k) - [y = k]; p(k) (1 - p(k))
//
// Only the diagonal of the second derivatives of several classes is given.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace hedgerow {

// `classes` or `numbers`, and `weights` (empty: all one), by row of the table.
struct LossTargets {
    std::span<const std::int32_t> classes;
    std::span<const double> numbers;
    std::span<const double> weights;

    std::size_t n_rows() const { return classes.empty() ? numbers.size() : classes.size(); }
    double weight(std::size_t row) const { return weights.empty() ? 1.0 : weights[row]; }
};

struct Loss {
    enum class Name { squared, absolute, quantile, poisson, gamma, log_loss };

    Name name = Name::squared;
    std::uint32_t n_classes = 0;  // of log_loss; the others have none
    double level = 0.5;           // of quantile

    std::uint32_t n_scores() const { return n_classes > 2 ? n_classes : 1; }
    bool has_log_link() const { return name == Name::poisson || name == Name::gamma; }
    // Whether all second derivatives of rows of weight one are one.
    bool has_constant_hessian() const { return name == Name::squared || has_quantile_leaves(); }
    // Whether leaves are quantiles of what is left of the targets, in place of Newton steps.
    bool has_quantile_leaves() const { return name == Name::absolute || name == Name::quantile; }
    double quantile_level() const { return name == Name::quantile ? level : 0.5; }

    // The step of a leaf out of the Newton step. Counts that are far off let Newton overshoot
    // without bounds; there the step is that of a leaf whose rows share one score, which is known.
    double leaf_step(double newton) const {
        if (name == Name::poisson && newton > 0) return std::log1p(newton);
        if (name == Name::gamma && newton < 0) return -std::log1p(-newton);
        return newton;
    }

    // Throws std::invalid_argument for targets that the loss has no value for.
    void check(const LossTargets& targets) const;

    // The scores of the best constant for the given rows (of positive weight in all).
    std::vector<double> initial_scores(const LossTargets& targets,
                                       std::span<const std::uint32_t> rows) const;
    // Weighted derivatives of the rows first..end, into arrays of the layout of the scores.
    template <class T>
    void derivatives(const LossTargets& targets, const double* scores, std::size_t first,
                     std::size_t end, T* gradient, T* hessian) const;
    // The weighted loss of the rows first..end, summed up.
    double total(const LossTargets& targets, const double* scores, std::size_t first,
                 std::size_t end) const;
};

// A loss by the name that scikit-learn has for it. Throws std::invalid_argument for others.
Loss::Name loss_named(std::string_view name);

// The value below which a share `level` of the weight lies; in the middle between two values where
// both are right, as medians are. `values` is sorted on return; weights must be positive.
double weighted_quantile(std::vector<std::pair<double, double>>& values, double level);

}  // namespace hedgerow
