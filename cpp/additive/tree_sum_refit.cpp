#include "additive/tree_sum_refit.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace hedgerow {

namespace {

constexpr std::size_t rows_per_block = 2048;

// Log-loss of two classes and its derivatives, with one exponential a row and a logarithm for many:
// that of a product of terms between one and two. Half of the time of a fit otherwise goes there.
double derive_two_classes(const LossTargets& targets, const double* scores, std::size_t begin,
                          std::size_t end, double* gradient, double* hessian) {
    double linear = 0, logarithms = 0, product = 1;
    for (std::size_t row = begin; row < end; ++row) {
        const double s = scores[row], e = std::exp(-std::abs(s)), w = targets.weight(row);
        const double smaller = e / (1 + e), p = s >= 0 ? 1 - smaller : smaller;
        const bool is_second = targets.classes[row] != 0;
        gradient[row] = w * (p - (is_second ? 1 : 0));
        hessian[row] = w * smaller * (1 - smaller);
        linear += w * std::max(is_second ? -s : s, 0.0);
        if (targets.weights.empty()) {
            product *= 1 + e;
            if (row % 512 == 0) logarithms += std::log(product), product = 1;
        } else {
            logarithms += w * std::log1p(e);
        }
    }
    return linear + logarithms + std::log(product);
}

}  // namespace

SumFit::SumFit(const SumTable& table, const SumMembers& members, const Loss& loss, double ridge,
               std::span<const std::int8_t> monotone, Team& team)
    : table_(table),
      members_(members),
      loss_function_(loss),
      targets_(table.targets()),
      team_(team),
      n_scores_(loss.n_scores()),
      constant_hessian_(loss.name == Loss::Name::squared),
      values_(n_scores_),
      step_(n_scores_),
      grams_(n_scores_),
      factors_(n_scores_),
      inverses_(n_scores_),
      monotone_(monotone) {
    const std::size_t n = table.n_rows();
    std::vector<std::uint32_t> all(n);
    std::iota(all.begin(), all.end(), 0u);
    auto start = loss.initial_scores(targets_, all);
    if (n_scores_ > 1) {
        const double mean = std::accumulate(start.begin(), start.end(), 0.0) / n_scores_;
        for (double& score : start) score -= mean;
    }
    scores_.resize(n * n_scores_);
    gradient_.resize(scores_.size());
    hessian_.resize(scores_.size());
    for (std::uint32_t k = 0; k < n_scores_; ++k) {
        values_[k] = {start[k]};
        std::fill_n(scores_.begin() + k * n, n, start[k]);
    }
    total_weight_ = targets_.weights.empty()
                        ? static_cast<double>(n)
                        : std::accumulate(targets_.weights.begin(), targets_.weights.end(), 0.0);
    for (auto& step : step_) step.assign(1, 0.0);
    advance(0);
    if (loss.has_quantile_leaves()) {
        smoothing_ = 1e-3 * loss_ / total_weight_;
        advance(0);
    }
    reserve(64);
    rebuild_grams();
    double sum = 0;
    for (const double h : hessian_) sum += h;
    evidence_ridge_ = sum / (total_weight_ * n_scores_);
    ridge_ = ridge >= 0 ? ridge : evidence_ridge_;
}

void SumFit::reserve(std::size_t n_columns) {
    if (n_columns <= capacity_) return;
    const std::size_t old = capacity_, n = std::min(old, members_.n_columns());
    capacity_ = std::max(n_columns, old + old / 2);
    for (auto& matrix : grams_) {
        std::vector<double> larger(capacity_ * capacity_, 0.0);
        for (std::size_t i = 0; i < n; ++i) {
            std::copy_n(&matrix[i * old], n, &larger[i * capacity_]);
        }
        matrix = std::move(larger);
    }
}

double SumFit::penalised_loss() const {
    double squares = 0;
    for (const auto& values : values_) {
        for (std::size_t c = 1; c < values.size(); ++c) squares += values[c] * values[c];
    }
    return loss_ + 0.5 * ridge_ * squares;
}

void SumFit::rebuild_grams() {
    const std::size_t n_members = members_.n_members(), n = table_.n_rows();
    if (!constant_hessian_) gram_hessian_ = hessian_;
    const std::vector<double>& of = constant_hessian_ ? hessian_ : gram_hessian_;
    // Each task writes the rows of one member's columns, or the intercept's.
    team_.for_each((n_members + 1) * n_scores_, [&](std::size_t task, int) {
        const auto k = static_cast<std::uint32_t>(task / (n_members + 1));
        const std::size_t a = task % (n_members + 1);
        const double* h = &of[k * n];
        if (a == n_members) {
            double sum = 0;
            for (std::size_t row = 0; row < n; ++row) sum += h[row];
            gram(k, 0, 0) = sum;
            return;
        }
        std::vector<double> sums(members_.n_columns());
        for (std::size_t c = 1; c < members_.n_columns(); ++c) {
            const std::int32_t leaf = members_.leaf_at(c);
            if (members_.node(leaf).member != a) continue;
            std::fill(sums.begin(), sums.end(), 0.0);
            const auto rows = members_.rows(leaf);
            for (const auto row : rows) sums[0] += h[row];
            sums[c] = sums[0];
            for (std::size_t b = a + 1; b < n_members; ++b) {
                const auto* column = members_.columns(b);
                for (const auto row : rows) sums[column[row]] += h[row];
            }
            std::copy(sums.begin(), sums.end(), &gram(k, c, 0));
        }
    });
    // What was counted once stands on both sides of the diagonal.
    for (std::uint32_t k = 0; k < n_scores_; ++k) {
        for (std::size_t c = 1; c < members_.n_columns(); ++c) {
            gram(k, 0, c) = gram(k, c, 0);
            const auto a = members_.node(members_.leaf_at(c)).member;
            for (std::size_t d = 1; d < members_.n_columns(); ++d) {
                if (members_.node(members_.leaf_at(d)).member > a) gram(k, d, c) = gram(k, c, d);
            }
        }
    }
    gram_is_fresh_ = true;
    factored_ = orders_known_ = false;
}

void SumFit::planted() {
    const std::size_t c = members_.n_columns() - 1;
    reserve(c + 1);
    for (std::uint32_t k = 0; k < n_scores_; ++k) {
        values_[k].push_back(0);
        for (std::size_t d = 0; d < c; ++d) gram(k, c, d) = gram(k, d, c) = gram(k, 0, d);
        gram(k, c, c) = gram(k, 0, 0);
    }
    factored_ = orders_known_ = false;
}

void SumFit::was_split(std::int32_t at) {
    const SumNode& node = members_.node(at);
    const std::size_t left = members_.node(node.left).column;
    const std::size_t right = members_.node(node.right).column;
    reserve(right + 1);
    const bool left_is_smaller =
        members_.node(node.left).n_rows() < members_.node(node.right).n_rows();
    const auto rows = members_.rows(left_is_smaller ? node.left : node.right);
    const std::vector<double>& of = constant_hessian_ ? hessian_ : gram_hessian_;
    const std::size_t n_members = members_.n_members(), n_columns = right + 1;
    for (std::uint32_t k = 0; k < n_scores_; ++k) {
        values_[k].push_back(values_[k][left]);
        const double* h = &of[k * table_.n_rows()];
        // The columns of the smaller side; the rest of the parent's row is the other side's.
        std::vector<double> smaller(n_columns, 0.0);
        team_.for_each(n_members, [&](std::size_t b, int) {
            if (b == node.member) {
                for (const auto row : rows) smaller[0] += h[row];
                return;
            }
            const auto* column = members_.columns(b);
            for (const auto row : rows) smaller[column[row]] += h[row];
        });
        const std::size_t small = left_is_smaller ? left : right;
        const std::size_t large = left_is_smaller ? right : left;
        std::vector<double> larger(n_columns, 0.0);
        for (std::size_t d = 0; d < right; ++d) larger[d] = gram(k, left, d) - smaller[d];
        larger[small] = larger[large] = smaller[small] = smaller[large] = 0;
        for (std::size_t d = 0; d < n_columns; ++d) {
            gram(k, small, d) = gram(k, d, small) = smaller[d];
            gram(k, large, d) = gram(k, d, large) = larger[d];
        }
        gram(k, small, large) = gram(k, large, small) = 0;
        gram(k, small, small) = smaller[0];
        gram(k, large, large) = larger[0];
    }
    factored_ = orders_known_ = false;
}

void SumFit::move_last_column_to(std::size_t column) {
    const std::size_t last = values_[0].size() - 1;
    for (std::uint32_t k = 0; k < n_scores_; ++k) {
        if (column != last) {
            values_[k][column] = values_[k][last];
            const double own = gram(k, last, last);
            for (std::size_t d = 0; d < last; ++d) {
                gram(k, column, d) = gram(k, d, column) = gram(k, last, d);
            }
            gram(k, column, column) = own;
        }
        values_[k].pop_back();
    }
    factored_ = orders_known_ = false;
}

void SumFit::will_join(std::int32_t at) {
    const SumNode& node = members_.node(at);
    const std::size_t left = members_.node(node.left).column;
    const std::size_t right = members_.node(node.right).column;
    double on_left = 0, on_right = 0;
    for (std::uint32_t k = 0; k < n_scores_; ++k) {
        on_left += gram(k, left, left), on_right += gram(k, right, right);
    }
    for (std::uint32_t k = 0; k < n_scores_; ++k) {
        const double before = values_[k][left], beside = values_[k][right];
        const double joined = on_left + on_right > 0
                                  ? (on_left * before + on_right * beside) / (on_left + on_right)
                                  : before;
        double* scores = &scores_[k * table_.n_rows()];
        for (const auto row : members_.rows(node.left)) scores[row] += joined - before;
        for (const auto row : members_.rows(node.right)) scores[row] += joined - beside;
        values_[k][left] = joined;
        const std::size_t n_columns = values_[k].size();
        for (std::size_t d = 0; d < n_columns; ++d) {
            if (d == left || d == right) continue;
            gram(k, left, d) += gram(k, right, d);
            gram(k, d, left) = gram(k, left, d);
        }
        gram(k, left, left) += gram(k, right, right);
        gram(k, left, right) = gram(k, right, left) = 0;
    }
    move_last_column_to(right);
    derive();
}

void SumFit::will_fell(std::size_t member) {
    const std::size_t column = members_.node(members_.root(member)).column;
    for (auto& values : values_) values[0] += values[column];
    move_last_column_to(column);
}

void SumFit::rows_moved() {
    const std::size_t n = table_.n_rows();
    for (std::uint32_t k = 0; k < n_scores_; ++k) {
        double* scores = &scores_[k * n];
        std::fill_n(scores, n, values_[k][0]);
        for (std::size_t member = 0; member < members_.n_members(); ++member) {
            const auto* column = members_.columns(member);
            for (std::size_t row = 0; row < n; ++row) scores[row] += values_[k][column[row]];
        }
    }
    derive();
    rebuild_grams();
}

void SumFit::derive() {
    for (auto& step : step_) step.assign(values_[0].size(), 0.0);
    advance(0);
}

void SumFit::advance(double share) {
    const std::size_t n = table_.n_rows();
    const std::size_t n_blocks = (n + rows_per_block - 1) / rows_per_block;
    std::vector<double> losses(n_blocks);
    team_.for_each(n_blocks, [&](std::size_t block, int worker) {
        team_.checkpoint(worker);
        const std::size_t begin = block * rows_per_block;
        const std::size_t end = std::min(n, begin + rows_per_block);
        for (std::uint32_t k = 0; share != 0 && k < n_scores_; ++k) {
            double* scores = &scores_[k * n];
            double sums[rows_per_block];
            std::fill_n(sums, end - begin, step_[k][0]);
            for (std::size_t member = 0; member < members_.n_members(); ++member) {
                const auto* column = members_.columns(member) + begin;
                for (std::size_t i = 0; i < end - begin; ++i) sums[i] += step_[k][column[i]];
            }
            for (std::size_t i = 0; i < end - begin; ++i) scores[begin + i] += share * sums[i];
        }
        if (loss_function_.name == Loss::Name::log_loss && n_scores_ == 1) {
            losses[block] = derive_two_classes(targets_, scores_.data(), begin, end,
                                               gradient_.data(), hessian_.data());
            return;
        }
        loss_function_.derivatives(targets_, scores_.data(), begin, end, gradient_.data(),
                                   hessian_.data());
        // Second derivatives between classes are left out; where all classes are as probable as
        // each other, this makes up for them.
        for (std::uint32_t k = 0; n_scores_ > 1 && k < n_scores_; ++k) {
            const double factor = n_scores_ / (n_scores_ - 1.0);
            for (std::size_t row = begin; row < end; ++row) hessian_[k * n + row] *= factor;
        }
        losses[block] = loss_function_.total(targets_, scores_.data(), begin, end);
        if (smoothing_ > 0) {
            const double q = loss_function_.quantile_level();
            const double scale = loss_function_.name == Loss::Name::absolute ? 2 : 1;
            for (std::size_t row = begin; row < end; ++row) {
                const double r = targets_.numbers[row] - scores_[row];
                const double near = smoothing_ + std::abs(r);
                const double w = scale * targets_.weight(row);
                gradient_[row] = -0.5 * w * (r / near + 2 * q - 1);
                hessian_[row] = 0.5 * w / near;
                losses[block] -= 0.5 * w * smoothing_ * std::log(near / smoothing_);
            }
        }
    });
    for (std::uint32_t k = 0; share != 0 && k < n_scores_; ++k) {
        for (std::size_t c = 0; c < step_[k].size(); ++c) values_[k][c] += share * step_[k][c];
    }
    loss_ = std::accumulate(losses.begin(), losses.end(), 0.0);
    if (!constant_hessian_ && share != 0) gram_is_fresh_ = false;
}

std::vector<double> SumFit::column_sums(const double* of_rows) const {
    std::vector<double> sums(values_[0].size(), 0.0);
    const std::size_t n = table_.n_rows(), n_members = members_.n_members();
    if (n_members == 0) sums[0] = std::accumulate(of_rows, of_rows + n, 0.0);
    // Four members at a time: neighbouring rows are often of the same leaf, and would wait for each
    // other.
    team_.for_each((n_members + 3) / 4, [&](std::size_t task, int) {
        const std::size_t first = 4 * task, last = n_members - 1;
        const auto* a = members_.columns(first);
        const auto* b = members_.columns(std::min(first + 1, last));
        const auto* c = members_.columns(std::min(first + 2, last));
        const auto* d = members_.columns(std::min(first + 3, last));
        std::vector<double> here(4 * sums.size(), 0.0);
        double* of[4];
        for (std::size_t i = 0; i < 4; ++i) of[i] = &here[i * sums.size()];
        for (std::size_t row = 0; row < n; ++row) {
            const double x = of_rows[row];
            of[0][a[row]] += x, of[1][b[row]] += x, of[2][c[row]] += x, of[3][d[row]] += x;
        }
        for (std::size_t i = 0; first + i < n_members && i < 4; ++i) {
            for (std::size_t column = 1; column < sums.size(); ++column) {
                if (members_.node(members_.leaf_at(column)).member == first + i) {
                    sums[column] = of[i][column];
                }
            }
        }
    });
    // Every row is in one leaf of the first member.
    for (std::size_t column = 1; n_members > 0 && column < sums.size(); ++column) {
        if (members_.node(members_.leaf_at(column)).member == 0) sums[0] += sums[column];
    }
    return sums;
}

void SumFit::factor() {
    if (factored_) return;
    const std::size_t n = values_[0].size();
    team_.for_each(n_scores_, [&](std::size_t k, int) {
        auto& matrix = grams_[k];
        for (std::size_t c = 1; c < n; ++c) matrix[c * capacity_ + c] += ridge_;
        factors_[k].factor(matrix.data(), n, capacity_);
        for (std::size_t c = 1; c < n; ++c) matrix[c * capacity_ + c] -= ridge_;
    });
    factored_ = true;
}

double SumFit::solve(const std::vector<std::vector<double>>& residuals) {
    factor();
    for (std::uint32_t k = 0; k < n_scores_; ++k) {
        step_[k] = residuals[k];
        factors_[k].solve(step_[k].data());
    }
    if (!monotone_.empty()) {
        find_orders();
        std::vector<double> end = values_[0];
        for (std::size_t c = 0; c < end.size(); ++c) end[c] += step_[0][c];
        if (!in_order(end)) return solve_in_order(residuals[0]);
    }
    double expected = 0;
    for (std::size_t c = 0; c < step_[0].size(); ++c) {
        // What all classes have in common, the loss does not see: it stays zero.
        double common = 0;
        for (std::uint32_t k = 0; n_scores_ > 1 && k < n_scores_; ++k) {
            common += step_[k][c] / n_scores_;
        }
        for (std::uint32_t k = 0; k < n_scores_; ++k) {
            step_[k][c] -= common;
            expected += 0.5 * residuals[k][c] * step_[k][c];
        }
    }
    return expected;
}

void SumFit::fit(double slack) {
    constexpr int most_steps = 200, most_halvings = 40;
    double before = INFINITY;
    for (int step = 0; step < most_steps; ++step) {
        std::vector<std::vector<double>> residuals(n_scores_);
        for (std::uint32_t k = 0; k < n_scores_; ++k) {
            residuals[k] = column_sums(&gradient_[k * table_.n_rows()]);
            for (std::size_t c = 0; c < residuals[k].size(); ++c) {
                residuals[k][c] = -residuals[k][c] - (c > 0 ? ridge_ * values_[k][c] : 0);
            }
        }
        double expected = solve(residuals);
        // Below what rounding leaves of a loss, only steps that still shrink are worth taking.
        const bool is_noise = expected <= 1e-14 * std::abs(loss_) && expected > 0.9 * before;
        if ((!(expected > slack) || is_noise) && in_order(values_[0])) break;
        if (expected > 0.25 * before && !gram_is_fresh_ && !constant_hessian_) {
            rebuild_grams();
            expected = solve(residuals);
        }
        before = expected;
        // What rounding may add to a sum over all rows.
        const double limit =
            in_order(values_[0]) ? penalised_loss() + 1e-14 * std::abs(penalised_loss()) : INFINITY;
        double share = 1;
        advance(share);
        for (int halving = 0; !(penalised_loss() <= limit); ++halving) {
            if (halving == most_halvings) {
                advance(-share);
                return;
            }
            advance(-share / 2);
            share /= 2;
        }
        if (constant_hessian_) break;
    }
}

void SumFit::finish() {
    invert();
    const std::size_t n = values_[0].size();
    freedom_ = static_cast<double>((n - 1) * n_scores_);
    for (std::uint32_t k = 0; k < n_scores_; ++k) {
        for (std::size_t c = 1; c < n; ++c) freedom_ -= ridge_ * inverses_[k][c * n + c];
    }
    for (bool moved = true; moved;) {
        moved = false;
        for (const auto& [a, b] : orders_) {
            if (values_[0][a] <= values_[0][b]) continue;
            values_[0][b] = values_[0][a];
            moved = true;
        }
    }
    if (!loss_function_.has_quantile_leaves()) return;
    std::vector<std::pair<double, double>> left_over;
    for (std::size_t row = 0; row < table_.n_rows(); ++row) {
        left_over.emplace_back(targets_.numbers[row] - scores_[row], targets_.weight(row));
    }
    values_[0][0] += weighted_quantile(left_over, loss_function_.quantile_level());
}

double SumFit::noise_of(double loss, double freedom) const {
    const double rows_left = std::max(total_weight_ - freedom, 1.0);
    double squares = 0;  // of Pearson's residuals
    switch (loss_function_.name) {
        case Loss::Name::squared:
            return 2 * loss / rows_left;
        case Loss::Name::poisson:
            for (std::size_t row = 0; row < table_.n_rows(); ++row) {
                if (hessian_[row] > 0) squares += gradient_[row] * gradient_[row] / hessian_[row];
            }
            return squares / rows_left;
        case Loss::Name::gamma:
            for (std::size_t row = 0; row < table_.n_rows(); ++row) {
                squares += gradient_[row] * gradient_[row] / targets_.weight(row);
            }
            return squares / rows_left;
        case Loss::Name::absolute:
        case Loss::Name::quantile:
            return loss / rows_left;
        default:
            return 1;
    }
}

void SumFit::improve_ridge(double factor) {
    const std::size_t n = values_[0].size();
    // The right side that the values solve, whatever the ridge: near the fit the loss is quadratic.
    std::vector<std::vector<double>> side(n_scores_), pull(n_scores_);
    double weight = 0;
    for (std::uint32_t k = 0; k < n_scores_; ++k) {
        weight += gram(k, 0, 0);
        pull[k] = column_sums(&gradient_[k * table_.n_rows()]);
        side[k].resize(n);
        for (std::size_t i = 0; i < n; ++i) {
            side[k][i] = -pull[k][i];
            for (std::size_t j = 0; j < n; ++j) side[k][i] += gram(k, i, j) * values_[k][j];
        }
    }
    const double least = 1e-6 * weight / (total_weight_ * n_scores_), most = 1e3 * weight;
    constexpr int most_rounds = 30;
    for (int round = 0; round < most_rounds; ++round) {
        ridge_ = evidence_ridge_;
        factored_ = false;
        invert();
        double trace = 0, squares = 0, loss = loss_;
        for (std::uint32_t k = 0; k < n_scores_; ++k) {
            std::vector<double> values = side[k];
            factors_[k].solve(values.data());
            for (std::size_t i = 0; i < n; ++i) {
                const double moved = values[i] - values_[k][i];
                double curved = 0;
                for (std::size_t j = 0; j < n; ++j) {
                    curved += gram(k, i, j) * (values[j] - values_[k][j]);
                }
                loss += moved * (pull[k][i] + 0.5 * curved);
                if (i == 0) continue;
                squares += values[i] * values[i];
                trace += inverses_[k][i * n + i];
            }
        }
        freedom_ = std::max(static_cast<double>((n - 1) * n_scores_) - ridge_ * trace, 0.0);
        if (!(squares > 0)) break;
        const double better = noise_of(std::max(loss, 0.0), freedom_) * freedom_ / squares;
        evidence_ridge_ = std::clamp(better, least, most);
        if (std::abs(evidence_ridge_ - ridge_) <= 1e-3 * ridge_) break;
    }
    ridge_ = std::min(factor * evidence_ridge_, most);
    factored_ = false;
}

void SumFit::invert() {
    factor();
    team_.for_each(n_scores_, [&](std::size_t k, int) { inverses_[k] = factors_[k].inverse(); });
}

double SumFit::price_of_joining(std::int32_t at) const {
    const SumNode& node = members_.node(at);
    const std::size_t a = members_.node(node.left).column, b = members_.node(node.right).column;
    const std::size_t n = values_[0].size();
    double price = 0;
    for (std::uint32_t k = 0; k < n_scores_; ++k) {
        const auto& inverse = inverses_[k];
        const double spread = inverse[a * n + a] + inverse[b * n + b] - 2 * inverse[a * n + b];
        const double apart = values_[k][a] - values_[k][b];
        if (spread > 0) price += 0.5 * apart * apart / spread;
        // The joined leaf is paid for once.
        const double mean = (values_[k][a] + values_[k][b]) / 2;
        price -= 0.5 * ridge_ * mean * mean;
    }
    return price;
}

}  // namespace hedgerow
