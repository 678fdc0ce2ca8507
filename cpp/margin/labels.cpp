#include "margin/labels.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace hedgerow {

namespace {

constexpr int n_steps = 10;

double dot(std::span<const double> a, std::span<const double> b) {
    double sum = 0;
    for (std::size_t k = 0; k < a.size(); ++k) sum += a[k] * b[k];
    return sum;
}

// The power method on the given places; `multiply` writes the covariance times its argument, up to
// a factor.
template <class Multiply>
std::vector<double> first_component(std::span<const std::uint32_t> places, Multiply multiply) {
    std::vector<double> component, next(places.size());
    for (const std::uint32_t k : places) component.push_back(std::sqrt(static_cast<double>(k + 1)));
    for (int step = 0; step < n_steps; ++step) {
        multiply(component, next);
        const double length = std::sqrt(dot(next, next));
        if (!(length > 0)) break;  // all labels are the same
        for (std::size_t k = 0; k < next.size(); ++k) component[k] = next[k] / length;
    }
    return component;
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

double Labels::impurity(std::span<const Row> rows, double total,
                        std::span<const double> centre) const {
    if (numbers.empty()) return 1 - dot(centre, centre);
    double sum = 0;
    for (const Row row : rows) {
        for (std::uint32_t k = 0; k < n_outputs; ++k) {
            const double distance = numbers[std::size_t(row) * n_outputs + k] - centre[k];
            sum += weight(row) * distance * distance;
        }
    }
    return sum / total / n_outputs;
}

// Which classes are in group T, given the shares of all. A class without rows has no part in the
// component after its first step, so the steps work on the others alone.
std::vector<std::uint8_t> Labels::classes_in_t(std::span<const double> shares) const {
    std::vector<std::uint8_t> in_t(n_outputs, 0);
    std::vector<std::uint32_t> present;
    for (std::uint32_t k = 0; k < n_outputs; ++k) {
        if (shares[k] > 0) present.push_back(k);
    }
    if (present.size() <= 2) {
        in_t[present.back()] = 1;
        return in_t;
    }
    std::vector<double> p;
    for (const std::uint32_t k : present) p.push_back(shares[k]);
    // The covariance of one-hot labels with the shares p is diag(p) - p p'.
    const auto component = first_component(present, [&](const auto& from, auto& to) {
        const double middle = dot(p, from);
        for (std::size_t k = 0; k < p.size(); ++k) to[k] = p[k] * (from[k] - middle);
    });
    const double middle = dot(p, component);
    for (std::size_t k = 0; k < p.size(); ++k) in_t[present[k]] = component[k] >= middle;
    return in_t;
}

std::size_t Labels::divide(std::span<const Row> rows, std::span<const double> centre,
                           std::uint8_t* in_t) const {
    std::size_t n_in_t = 0;
    if (numbers.empty()) {
        const auto in_group_t = classes_in_t(centre);
        for (std::size_t i = 0; i < rows.size(); ++i)
            n_in_t += in_t[i] = in_group_t[classes[rows[i]]];
        return n_in_t;
    }
    const auto along = [&](Row row, std::span<const double> component) {
        double sum = 0;
        for (std::uint32_t k = 0; k < n_outputs; ++k) {
            sum += (numbers[std::size_t(row) * n_outputs + k] - centre[k]) * component[k];
        }
        return sum;
    };
    std::vector<double> component{1.0};
    if (n_outputs > 1) {
        std::vector<std::uint32_t> places(n_outputs);
        std::iota(places.begin(), places.end(), 0u);
        component = first_component(places, [&](const auto& from, auto& to) {
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
        n_in_t += in_t[i] = along(rows[i], component) >= 0;
    }
    return n_in_t;
}

}  // namespace hedgerow
