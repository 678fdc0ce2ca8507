#include "margin/labels.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/power_method.hpp"
#include "base/random.hpp"
#include "grow/impurity.hpp"

namespace hedgerow {

namespace {

double dot(std::span<const double> a, std::span<const double> b) {
    double sum = 0;
    for (std::size_t k = 0; k < a.size(); ++k) sum += a[k] * b[k];
    return sum;
}

}  // namespace

double Labels::centre(std::span<const Row> rows, double* centre) const {
    std::fill_n(centre, n_outputs, 0.0);
    double total = 0;
    for (const Row row : rows) {
        const double w = weight(row);
        total += w;
        if (numbers.empty()) {
            centre[classes[row]] += w;
        } else {
            for (std::uint32_t k = 0; k < n_outputs; ++k) {
                centre[k] += w * numbers[std::size_t(row) * n_outputs + k];
            }
        }
    }
    for (std::uint32_t k = 0; k < n_outputs; ++k) centre[k] /= total;
    return total;
}

double Labels::impurity(std::span<const Row> rows, double total, std::span<const double> centre,
                        GrowParams::Criterion criterion) const {
    if (numbers.empty()) {
        return criterion == GrowParams::Criterion::entropy ? entropy_of_shares(centre)
                                                           : gini_of_shares(centre);
    }
    double sum = 0;
    for (const Row row : rows) {
        for (std::uint32_t k = 0; k < n_outputs; ++k) {
            const double distance = numbers[std::size_t(row) * n_outputs + k] - centre[k];
            sum += weight(row) * distance * distance;
        }
    }
    return sum / total / n_outputs;
}

// Where the power method starts, on the places in work.present, into work.component. The rows of a
// node are known by their first one and their number, in whatever order nodes are grown.
void Labels::start(std::span<const Row> rows, Workspace& work) const {
    work.component.clear();
    Random random(seed ? key_of(key_of(*seed, rows.front()), rows.size()) : 0);
    for (const std::uint32_t k : work.present) {
        work.component.push_back(seed ? 2 * random.uniform() - 1
                                      : std::sqrt(static_cast<double>(k + 1)));
    }
}

// Writes which classes are in group T, given the shares of all. A class without rows has no part in
// the component after its first step, so the steps work on the others alone.
void Labels::divide_classes(std::span<const Row> rows, std::span<const double> shares,
                            Workspace& work) const {
    work.in_t.assign(n_outputs, 0);
    work.present.clear();
    work.shares.clear();
    for (std::uint32_t k = 0; k < n_outputs; ++k) {
        if (!(shares[k] > 0)) continue;
        work.present.push_back(k);
        work.shares.push_back(shares[k]);
    }
    if (work.present.size() <= 2) {
        work.in_t[work.present.back()] = 1;
        return;
    }
    // The covariance of one-hot labels with the shares p is diag(p) - p p'.
    const auto& p = work.shares;
    start(rows, work);
    power_method(n_steps, work.component, work.next, [&](const auto& from, auto& to) {
        const double middle = dot(p, from);
        for (std::size_t k = 0; k < p.size(); ++k) to[k] = p[k] * (from[k] - middle);
    });
    const double middle = dot(p, work.component);
    for (std::size_t k = 0; k < p.size(); ++k) {
        work.in_t[work.present[k]] = work.component[k] >= middle;
    }
}

std::size_t Labels::divide(std::span<const Row> rows, std::span<const double> centre,
                           std::uint8_t* in_t, Workspace& work) const {
    std::size_t n_in_t = 0;
    if (numbers.empty()) {
        divide_classes(rows, centre, work);
        for (std::size_t i = 0; i < rows.size(); ++i)
            n_in_t += in_t[i] = work.in_t[classes[rows[i]]];
        return n_in_t;
    }
    const auto along = [&](Row row, std::span<const double> component) {
        double sum = 0;
        for (std::uint32_t k = 0; k < n_outputs; ++k) {
            sum += (numbers[std::size_t(row) * n_outputs + k] - centre[k]) * component[k];
        }
        return sum;
    };
    work.component = {1.0};
    if (n_outputs > 1) {
        work.present.resize(n_outputs);
        std::iota(work.present.begin(), work.present.end(), 0u);
        start(rows, work);
        power_method(n_steps, work.component, work.next, [&](const auto& from, auto& to) {
            std::fill(to.begin(), to.end(), 0.0);
            for (const Row row : rows) {
                const double share = weight(row) * along(row, from);
                for (std::uint32_t k = 0; k < n_outputs; ++k) {
                    to[k] += share * (numbers[std::size_t(row) * n_outputs + k] - centre[k]);
                }
            }
        });
    }
    for (std::size_t i = 0; i < rows.size(); ++i) {
        n_in_t += in_t[i] = along(rows[i], work.component) >= 0;
    }
    return n_in_t;
}

}  // namespace hedgerow
