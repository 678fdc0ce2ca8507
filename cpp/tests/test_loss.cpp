// Losses of sums: derivatives against differences, best constants against their neighbours.
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "additive/loss.hpp"
#include "base/random.hpp"
#include "check.hpp"

using namespace hedgerow;

namespace {

struct RandomTargets {
    std::vector<std::int32_t> classes;
    std::vector<double> numbers, weights;
    std::vector<std::uint32_t> rows;
    LossTargets targets;

    RandomTargets(const Loss& loss, std::size_t n, std::uint64_t seed) : rows(n) {
        Random random(seed);
        std::iota(rows.begin(), rows.end(), 0u);
        for (std::size_t i = 0; i < n; ++i) {
            weights.push_back(0.5 + random.uniform());
            if (loss.name == Loss::Name::log_loss) {
                classes.push_back(static_cast<std::int32_t>(random.below(loss.n_classes)));
            } else {
                numbers.push_back(0.1 + 3 * random.uniform());
            }
        }
        targets = {classes, numbers, weights};
    }
};

const Loss all_losses[] = {{Loss::Name::squared, 0, 0.5},  {Loss::Name::absolute, 0, 0.5},
                           {Loss::Name::quantile, 0, 0.8}, {Loss::Name::poisson, 0, 0.5},
                           {Loss::Name::gamma, 0, 0.5},    {Loss::Name::log_loss, 2, 0.5},
                           {Loss::Name::log_loss, 4, 0.5}};

}  // namespace

TEST(derivatives_of_losses_are_those_of_their_values) {
    constexpr std::size_t n = 20;
    for (const Loss& loss : all_losses) {
        NOTE("loss", static_cast<int>(loss.name), loss.n_classes);
        const RandomTargets data(loss, n, 3);
        Random random(4);
        std::vector<double> scores(n * loss.n_scores());
        for (double& s : scores) s = 2 * random.uniform() - 1;
        std::vector<double> g(scores.size()), h(scores.size());
        loss.derivatives(data.targets, scores.data(), 0, n, g.data(), h.data());
        const auto at = [&](std::size_t i, double step) {
            auto moved = scores;
            moved[i] += step;
            return loss.total(data.targets, moved.data(), 0, n);
        };
        for (std::size_t i = 0; i < scores.size(); ++i) {
            const double step = 1e-4;
            const double first = (at(i, step) - at(i, -step)) / (2 * step);
            const double second = (at(i, step) - 2 * at(i, 0) + at(i, -step)) / (step * step);
            CHECK(std::abs(first - g[i]) < 1e-6);
            if (loss.has_quantile_leaves()) {
                CHECK(h[i] == data.weights[i]);
            } else {
                CHECK(std::abs(second - h[i]) < 1e-4);
            }
        }
    }
}

TEST(initial_scores_are_the_best_constants) {
    constexpr std::size_t n = 101;
    for (const Loss& loss : all_losses) {
        NOTE("loss", static_cast<int>(loss.name), loss.n_classes);
        const RandomTargets data(loss, n, 5);
        const auto best = loss.initial_scores(data.targets, data.rows);
        CHECK_EQ(best.size(), loss.n_scores());
        const auto total = [&](const std::vector<double>& constant) {
            std::vector<double> scores;
            for (const double c : constant) scores.insert(scores.end(), n, c);
            return loss.total(data.targets, scores.data(), 0, n);
        };
        for (std::size_t k = 0; k < best.size(); ++k) {
            for (const double step : {-1e-3, 1e-3}) {
                auto other = best;
                other[k] += step;
                CHECK(total(best) <= total(other));
            }
        }
    }
}

TEST(losses_stay_finite_far_out) {
    for (const Loss& loss : all_losses) {
        const RandomTargets data(loss, 2, 6);
        for (const double far : {-1e4, 1e4}) {
            std::vector<double> scores(2 * loss.n_scores(), 0.0);
            scores[0] = scores[1] = far;
            std::vector<double> g(scores.size()), h(scores.size());
            loss.derivatives(data.targets, scores.data(), 0, 2, g.data(), h.data());
            for (const double v : g) CHECK(std::isfinite(v));
            for (const double v : h) CHECK(std::isfinite(v) && v >= 0);
            CHECK(std::isfinite(loss.total(data.targets, scores.data(), 0, 2)));
        }
    }
}

TEST(quantiles_count_weights_as_copies) {
    std::vector<std::pair<double, double>> values{{3, 1}, {1, 2}, {2, 1}};  // 1 1 2 3
    CHECK_EQ(weighted_quantile(values, 0.5), 1.5);
    CHECK_EQ(weighted_quantile(values, 0.25), 1.0);
    CHECK_EQ(weighted_quantile(values, 0.6), 2.0);
    CHECK_EQ(weighted_quantile(values, 0.0), 1.0);
    CHECK_EQ(weighted_quantile(values, 1.0), 3.0);
}

TEST(targets_without_a_loss_are_refused) {
    const std::vector<double> with_negative{1, -1}, zeros{0, 0};
    const std::vector<std::int32_t> classes{0, 1};
    CHECK_THROWS(std::invalid_argument, (Loss{Loss::Name::poisson}.check({{}, with_negative, {}})));
    CHECK_THROWS(std::invalid_argument, (Loss{Loss::Name::poisson}.check({{}, zeros, {}})));
    CHECK_THROWS(std::invalid_argument, (Loss{Loss::Name::gamma}.check({{}, zeros, {}})));
    CHECK_THROWS(std::invalid_argument, (Loss{Loss::Name::squared}.check({classes, {}, {}})));
    Loss{Loss::Name::squared}.check({{}, with_negative, {}});
}
