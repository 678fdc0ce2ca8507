#include "additive/loss.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

namespace hedgerow {

namespace {

// Beyond it the exponential of a score would leave the range of doubles.
constexpr double largest_exponent = 700;

double exp_of(double score) { return std::exp(std::min(score, largest_exponent)); }
double logistic(double score) { return 1 / (1 + std::exp(-score)); }
// log(1 + exp(score)) without overflow.
double softplus(double score) {
    return std::max(score, 0.0) + std::log1p(std::exp(-std::abs(score)));
}

struct Derivatives {
    double first, second;
};

// Calls body(derivatives of one row, loss of one row) with functions of (y, score).
template <class Body>
void with_number_loss(const Loss& loss, const Body& body) {
    const double q = loss.quantile_level();
    switch (loss.name) {
        case Loss::Name::squared:
            return body([](double y, double s) { return Derivatives{s - y, 1}; },
                        [](double y, double s) { return 0.5 * (s - y) * (s - y); });
        case Loss::Name::absolute:
            return body(
                [](double y, double s) {
                    return Derivatives{static_cast<double>(s > y) - static_cast<double>(s < y), 1};
                },
                [](double y, double s) { return std::abs(s - y); });
        case Loss::Name::quantile:
            return body(
                [q](double y, double s) { return Derivatives{s >= y ? 1 - q : -q, 1}; },
                [q](double y, double s) { return s >= y ? (1 - q) * (s - y) : q * (y - s); });
        case Loss::Name::poisson:
            return body(
                [](double y, double s) {
                    const double mean = exp_of(s);
                    return Derivatives{mean - y, mean};
                },
                [](double y, double s) { return exp_of(s) - y * s; });
        case Loss::Name::gamma:
            return body(
                [](double y, double s) {
                    const double ratio = y * exp_of(-s);
                    return Derivatives{1 - ratio, ratio};
                },
                [](double y, double s) { return s + y * exp_of(-s); });
        case Loss::Name::log_loss:
            break;
    }
    throw std::logic_error("the loss of classes was asked for numbers");
}

// Softmax of the scores of one row; returns the logarithm of the sum of exponentials.
double softmax(const double* scores, std::size_t n_rows, std::size_t row, std::uint32_t n,
               double* shares) {
    double largest = scores[row];
    for (std::uint32_t k = 1; k < n; ++k) largest = std::max(largest, scores[k * n_rows + row]);
    double sum = 0;
    for (std::uint32_t k = 0; k < n; ++k) {
        shares[k] = std::exp(scores[k * n_rows + row] - largest);
        sum += shares[k];
    }
    for (std::uint32_t k = 0; k < n; ++k) shares[k] /= sum;
    return largest + std::log(sum);
}

}  // namespace

Loss::Name loss_named(std::string_view name) {
    using enum Loss::Name;
    if (name == "squared_error") return squared;
    if (name == "absolute_error") return absolute;
    if (name == "quantile") return quantile;
    if (name == "poisson") return poisson;
    if (name == "gamma") return gamma;
    if (name == "log_loss") return log_loss;
    throw std::invalid_argument("there is no loss '" + std::string(name) + "'");
}

void Loss::check(const LossTargets& targets) const {
    if ((name == Name::log_loss) != !targets.classes.empty()) {
        throw std::invalid_argument("log-loss needs classes, the other losses numbers");
    }
    if (!has_log_link()) return;
    double sum = 0, smallest = INFINITY;
    for (std::size_t row = 0; row < targets.n_rows(); ++row) {
        if (targets.weight(row) == 0) continue;
        smallest = std::min(smallest, targets.numbers[row]);
        sum += targets.numbers[row];
    }
    if (name == Name::poisson && !(smallest >= 0 && sum > 0)) {
        throw std::invalid_argument(
            "Poisson loss needs targets that are not negative, and one above zero");
    }
    if (name == Name::gamma && !(smallest > 0)) {
        throw std::invalid_argument("gamma loss needs targets above zero");
    }
}

std::vector<double> Loss::initial_scores(const LossTargets& targets,
                                         std::span<const std::uint32_t> rows) const {
    double weight = 0;
    if (name == Name::log_loss) {
        std::vector<double> by_class(n_classes, 0.0);
        for (const auto row : rows) {
            by_class[targets.classes[row]] += targets.weight(row);
            weight += targets.weight(row);
        }
        // A class without rows, as early stopping may leave one, stays possible.
        const double least = weight * 1e-15;
        for (double& w : by_class) w = std::log(std::max(w, least) / weight);
        if (n_classes > 2) return by_class;
        return {n_classes == 2 ? by_class[1] - by_class[0] : 0.0};
    }
    if (has_quantile_leaves()) {
        std::vector<std::pair<double, double>> values;
        values.reserve(rows.size());
        for (const auto row : rows) {
            if (targets.weight(row) > 0) {
                values.emplace_back(targets.numbers[row], targets.weight(row));
            }
        }
        return {weighted_quantile(values, quantile_level())};
    }
    double sum = 0;
    for (const auto row : rows) {
        sum += targets.weight(row) * targets.numbers[row];
        weight += targets.weight(row);
    }
    const double mean = sum / weight;
    if (!has_log_link()) return {mean};
    // Rows drawn for training may all be zero though the table is not.
    return {std::log(std::max(mean, 1e-15))};
}

template <class T>
void Loss::derivatives(const LossTargets& targets, const double* scores, std::size_t first,
                       std::size_t end, T* gradient, T* hessian) const {
    const bool weighted = !targets.weights.empty();
    const auto put = [&](std::size_t at, std::size_t row, Derivatives d) {
        const double w = weighted ? targets.weights[row] : 1.0;
        gradient[at] = static_cast<T>(w * d.first);
        hessian[at] = static_cast<T>(w * d.second);
    };
    if (name != Name::log_loss) {
        with_number_loss(*this, [&](const auto& derive, const auto&) {
            for (std::size_t row = first; row < end; ++row) {
                put(row, row, derive(targets.numbers[row], scores[row]));
            }
        });
    } else if (n_scores() == 1) {
        for (std::size_t row = first; row < end; ++row) {
            const double p = logistic(scores[row]);
            put(row, row, {p - static_cast<double>(targets.classes[row]), p * (1 - p)});
        }
    } else {
        const std::size_t n_rows = targets.n_rows();
        std::vector<double> shares(n_classes);
        for (std::size_t row = first; row < end; ++row) {
            softmax(scores, n_rows, row, n_classes, shares.data());
            const auto y = static_cast<std::uint32_t>(targets.classes[row]);
            for (std::uint32_t k = 0; k < n_classes; ++k) {
                const double p = shares[k];
                put(k * n_rows + row, row, {p - static_cast<double>(y == k), p * (1 - p)});
            }
        }
    }
}

template void Loss::derivatives(const LossTargets&, const double*, std::size_t, std::size_t, float*,
                                float*) const;
template void Loss::derivatives(const LossTargets&, const double*, std::size_t, std::size_t,
                                double*, double*) const;

double Loss::total(const LossTargets& targets, const double* scores, std::size_t first,
                   std::size_t end) const {
    double sum = 0;
    if (name != Name::log_loss) {
        with_number_loss(*this, [&](const auto&, const auto& lose) {
            for (std::size_t row = first; row < end; ++row) {
                sum += targets.weight(row) * lose(targets.numbers[row], scores[row]);
            }
        });
    } else if (n_scores() == 1) {
        for (std::size_t row = first; row < end; ++row) {
            const double toward = targets.classes[row] ? scores[row] : -scores[row];
            sum += targets.weight(row) * softplus(-toward);
        }
    } else {
        const std::size_t n_rows = targets.n_rows();
        std::vector<double> shares(n_classes);
        for (std::size_t row = first; row < end; ++row) {
            const double log_sum = softmax(scores, n_rows, row, n_classes, shares.data());
            const auto y = static_cast<std::size_t>(targets.classes[row]);
            sum += targets.weight(row) * (log_sum - scores[y * n_rows + row]);
        }
    }
    return sum;
}

double weighted_quantile(std::vector<std::pair<double, double>>& values, double level) {
    std::sort(values.begin(), values.end());
    double total = 0;
    for (const auto& [value, weight] : values) total += weight;
    const double wanted = level * total;
    double below = 0;
    for (std::size_t i = 0; i + 1 < values.size(); ++i) {
        below += values[i].second;
        if (below > wanted) return values[i].first;
        if (below == wanted) return values[i].first / 2 + values[i + 1].first / 2;
    }
    return values.back().first;
}

}  // namespace hedgerow
