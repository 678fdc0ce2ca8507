// Monotone features: which leaf values must not be larger than which, and steps that keep to it.
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "additive/tree_sum_refit.hpp"

namespace hedgerow {

namespace {

// The codes of each feature that lead to a leaf; a feature that is not tested on the way has none.
using Region = std::map<std::int32_t, std::vector<std::uint8_t>>;

struct PlacedLeaf {
    std::uint32_t column;
    Region region;
};

bool overlap_but_for(std::int32_t feature, const Region& a, const Region& b) {
    for (const auto& [tested, codes] : a) {
        const auto other = b.find(tested);
        if (tested == feature || other == b.end()) continue;
        bool shared = false;
        for (std::size_t c = 0; c < codes.size(); ++c) shared |= codes[c] && other->second[c];
        if (!shared) return false;
    }
    return true;
}

}  // namespace

void SumFit::find_orders() {
    if (orders_known_) return;
    orders_known_ = true;
    orders_.clear();
    // The leaves below a node; pairs of them that its test puts in an order are noted.
    const auto walk = [&](const auto& self, std::int32_t at,
                          const Region& region) -> std::vector<PlacedLeaf> {
        const SumNode& node = members_.node(at);
        if (node.is_leaf()) return {{node.column, region}};
        const std::int32_t feature = node.test.feature;
        const std::uint32_t missing = table_.data().column(feature).n_bins;
        const auto below = [&](bool left) {
            Region narrowed = region;
            auto& codes = narrowed.try_emplace(feature, missing + 1, 1).first->second;
            for (std::uint32_t c = 0; c <= missing; ++c) {
                codes[c] = codes[c] && node.test.code_left(c, missing) == left;
            }
            return self(self, left ? node.left : node.right, narrowed);
        };
        auto leaves = below(true);
        auto others = below(false);
        for (const auto& a : leaves) {
            for (const auto& b : others) {
                if (monotone_[feature] == 0 || !overlap_but_for(feature, a.region, b.region)) {
                    continue;
                }
                orders_.emplace_back(a.column, b.column);
                if (monotone_[feature] < 0) std::swap(orders_.back().first, orders_.back().second);
            }
        }
        std::move(others.begin(), others.end(), std::back_inserter(leaves));
        return leaves;
    };
    for (std::size_t member = 0; member < members_.n_members(); ++member) {
        walk(walk, members_.root(member), {});
    }
}

bool SumFit::in_order(const std::vector<double>& values) const {
    return std::all_of(orders_.begin(), orders_.end(), [&](const auto& order) {
        const double a = values[order.first], b = values[order.second];
        return a <= b + 1e-12 * (std::abs(a) + std::abs(b));
    });
}

double SumFit::solve_in_order(const std::vector<double>& residual) {
    const std::size_t n = residual.size();
    const std::vector<double>& values = values_[0];
    // The quadratic model's right side, and its matrix with the ridge.
    const auto entry = [&](std::size_t i, std::size_t j) {
        return gram(0, i, j) + (i == j && i > 0 ? ridge_ : 0);
    };
    std::vector<double> side(n);
    for (std::size_t i = 0; i < n; ++i) {
        side[i] = residual[i];
        for (std::size_t j = 0; j < n; ++j) side[i] += entry(i, j) * values[j];
    }
    std::vector<std::uint32_t> unknown(n);  // columns with the same one are equal
    std::iota(unknown.begin(), unknown.end(), 0u);
    std::vector<double> end(n);
    Cholesky factor;
    while (true) {
        std::vector<std::uint32_t> place(n, 0);
        std::uint32_t n_unknowns = 0;
        for (std::size_t c = 0; c < n; ++c) {
            if (unknown[c] == c) place[c] = n_unknowns++;
        }
        for (std::size_t c = 0; c < n; ++c) place[c] = place[unknown[c]];
        std::vector<double> matrix(n_unknowns * n_unknowns, 0.0), solution(n_unknowns, 0.0);
        for (std::size_t i = 0; i < n; ++i) {
            solution[place[i]] += side[i];
            for (std::size_t j = 0; j < n; ++j) {
                matrix[place[i] * n_unknowns + place[j]] += entry(i, j);
            }
        }
        factor.factor(matrix.data(), n_unknowns, n_unknowns);
        factor.solve(solution.data());
        for (std::size_t c = 0; c < n; ++c) end[c] = solution[place[c]];
        double worst = 0;
        for (const auto& [a, b] : orders_) worst = std::max(worst, end[a] - end[b]);
        if (!(worst > 0)) break;
        for (const auto& [a, b] : orders_) {
            if (end[a] - end[b] < worst / 2) continue;
            const std::uint32_t from = std::max(unknown[a], unknown[b]);
            const std::uint32_t to = std::min(unknown[a], unknown[b]);
            for (auto& u : unknown) {
                if (u == from) u = to;
            }
        }
    }
    double expected = 0;
    step_[0].resize(n);
    for (std::size_t c = 0; c < n; ++c) step_[0][c] = end[c] - values[c];
    for (std::size_t i = 0; i < n; ++i) {
        expected += residual[i] * step_[0][i];
        for (std::size_t j = 0; j < n; ++j) {
            expected -= 0.5 * step_[0][i] * entry(i, j) * step_[0][j];
        }
    }
    return expected;
}

}  // namespace hedgerow
