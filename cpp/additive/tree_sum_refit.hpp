// The values of all leaves of a sum, fitted together.
//
// gram      for each score a matrix over the columns: the sum of second derivatives over the rows
//           that two columns share. Splits change two of its rows, joined leaves one
// residual  minus the derivative of the penalised loss by each value
// step      gram + ridge into the residual: Newton's step where the gram is of the present scores
//
// Squared loss: the gram never changes but by splits, and one step is the solution. Other losses:
// the gram is kept for as long as steps by it converge, and made anew where they do not. Steps are
// halved until the loss falls, so it never rises. Classes have a gram each; what they have in
// common is left to further steps.
//
// The ridge of the evidence (MacKay 1992): ridge = noise * freedom / squares of the values, where
// freedom = n_values - ridge * trace of the inverse, and noise is the variance of a row (one for
// classes, Pearson's for counts). It shrinks the values of leaves that say no more than noise
// would.
//
// Monotone features: a value must not be larger than another where a row can come from the leaf of
// the one to the leaf of the other by a change of that feature alone. Values that a step would put
// in the wrong order are made equal, the worst first, and the step is solved again with them as one
// unknown; so each step ends where all orders hold.
//
// Quantiles have no second derivative: |r| is majorised by r^2 / 2(|r0| + e) + ..., (Hunter and
// Lange 2000); a step on that lowers the loss, up to a smoothing of width e.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "additive/cholesky.hpp"
#include "additive/loss.hpp"
#include "additive/tree_sum_members.hpp"
#include "additive/tree_sum_table.hpp"
#include "base/parallel.hpp"

namespace hedgerow {

class SumFit {
  public:
    // `monotone` by feature: 1 rising, -1 falling; empty for none.
    SumFit(const SumTable& table, const SumMembers& members, const Loss& loss, double ridge,
           std::span<const std::int8_t> monotone, Team& team);

    std::uint32_t n_scores() const { return n_scores_; }
    double ridge() const { return ridge_; }
    double evidence_ridge() const { return evidence_ridge_; }
    double freedom() const { return freedom_; }
    double noise() const { return noise_of(loss_, freedom_); }
    double value(std::uint32_t score, std::size_t column) const { return values_[score][column]; }
    const double* gradient() const { return gradient_.data(); }  // score after score
    const double* hessian() const { return hessian_.data(); }
    const double* scores() const { return scores_.data(); }
    double loss() const { return loss_; }  // without the penalty
    double penalised_loss() const;

    // What happens to the members, told in the same order. The values of rows stay as they are,
    // except that joined leaves get the mean of both.
    void planted();
    void was_split(std::int32_t node);
    void will_join(std::int32_t node);
    void will_fell(std::size_t member);
    void rows_moved();

    // Fits all values, until a step is expected to lower the loss by `slack` at most.
    void fit(double slack);
    // After the last fit: the freedom is that of the ridge, orders hold to the last digit, and the
    // intercept of quantiles is exact.
    void finish();
    // Makes the ridge that of the evidence, times a factor. The values stay.
    void improve_ridge(double factor);
    // What the loss would rise by if the leaves of a node were joined and all values fitted again.
    // Reads the inverse of `invert`.
    void invert();
    double price_of_joining(std::int32_t node) const;

  private:
    // The variance of a row, in units of the loss.
    double noise_of(double loss, double freedom) const;
    double& gram(std::uint32_t score, std::size_t i, std::size_t j) {
        return grams_[score][i * capacity_ + j];
    }
    void reserve(std::size_t n_columns);
    void rebuild_grams();
    void move_last_column_to(std::size_t column);
    void factor();
    std::vector<double> column_sums(const double* of_rows) const;
    // The step that lowers the quadratic model of the loss most; returns by how much.
    double solve(const std::vector<std::vector<double>>& residuals);
    void find_orders();
    bool in_order(const std::vector<double>& values) const;
    // The step whose end keeps all orders.
    double solve_in_order(const std::vector<double>& residual);
    // Adds a share of the step to values and scores; derivatives and loss follow.
    void advance(double share);
    void derive();

    const SumTable& table_;
    const SumMembers& members_;
    const Loss loss_function_;
    const LossTargets targets_;
    Team& team_;
    const std::uint32_t n_scores_;
    const bool constant_hessian_;
    double total_weight_ = 0;
    double ridge_, evidence_ridge_, freedom_ = 0;
    double loss_ = 0;
    double smoothing_ = 0;  // of quantiles
    std::vector<double> scores_, gradient_, hessian_;
    std::vector<double> gram_hessian_;  // what the gram is of, where it is not constant
    std::vector<std::vector<double>> values_, step_;
    std::size_t capacity_ = 0;
    std::vector<std::vector<double>> grams_;
    std::vector<Cholesky> factors_;
    bool factored_ = false;
    bool gram_is_fresh_ = false;
    std::vector<std::vector<double>> inverses_;
    const std::span<const std::int8_t> monotone_;
    std::vector<std::pair<std::uint32_t, std::uint32_t>>
        orders_;  // columns, the smaller value first
    bool orders_known_ = false;
};

}  // namespace hedgerow
