// Splitting the categories of one feature into two sets.
//
// Two classes and real targets: categories ordered by mean target, best prefix: exact (Breiman et
// al. 1984). Several classes or outputs: all subsets up to 8 categories, beyond that the order of
// the first principal component of the class-probability vectors (Coppersmith et al. 1999). Missing
// values are tried on both sides.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "base/power_method.hpp"
#include "base/random.hpp"
#include "grow/criterion.hpp"
#include "grow/node_rows.hpp"
#include "grow/split.hpp"

namespace hedgerow {

inline constexpr std::uint32_t most_enumerated_categories = 8;

namespace detail {

// Scores of the categories along the first principal component of their class probabilities, or of
// their means, weighted by category weight; power iteration from a fixed start, sign fixed by the
// caller's sort.
template <class Stats>
std::vector<double> principal_scores(const Stats& stats, const typename Stats::Number* bins,
                                     const std::vector<std::uint32_t>& present) {
    const std::uint32_t k = stats.n_outputs(), width = stats.width();
    const std::size_t c = present.size();
    std::vector<double> p(c * k), mean(k, 0.0), weights(c);
    double total = 0;
    for (std::size_t i = 0; i < c; ++i) {
        const auto* bin = bins + std::size_t(present[i]) * width;
        weights[i] = stats.weight(bin);
        total += weights[i];
        for (std::uint32_t j = 0; j < k; ++j) {
            p[i * k + j] = static_cast<double>(bin[j]) / weights[i];
            mean[j] += static_cast<double>(bin[j]);
        }
    }
    for (double& m : mean) m /= total;
    for (std::size_t i = 0; i < c; ++i) {
        for (std::uint32_t j = 0; j < k; ++j) p[i * k + j] -= mean[j];
    }
    // Start from the category farthest from the mean: never orthogonal to the component by
    // accident.
    std::vector<double> direction(k), next, scores(c);
    double farthest = -1;
    for (std::size_t i = 0; i < c; ++i) {
        const double norm = std::inner_product(&p[i * k], &p[i * k] + k, &p[i * k], 0.0);
        if (norm * weights[i] > farthest) {
            farthest = norm * weights[i];
            std::copy(&p[i * k], &p[i * k] + k, direction.begin());
        }
    }
    power_method(50, direction, next, [&](const auto& from, auto& to) {
        std::fill(to.begin(), to.end(), 0.0);
        for (std::size_t i = 0; i < c; ++i) {
            scores[i] = std::inner_product(from.begin(), from.end(), &p[i * k], 0.0);
            for (std::uint32_t j = 0; j < k; ++j) to[j] += weights[i] * scores[i] * p[i * k + j];
        }
    });
    return scores;
}

// Takes the present state of the sides if it is the best so far; left_codes() is asked for then.
template <class Sides, class Codes>
void take_categories(const Sides& sides, const SplitRules& rules, std::int32_t feature,
                     bool missing_left, Split& best, const Codes& left_codes) {
    if (!rules.allow(sides, feature)) return;
    const double score = sides.score();
    if (!rules.better(score, feature, best)) return;
    best.feature = feature;
    best.score = score;
    best.categorical = true;
    best.missing_left = missing_left;
    best.left_codes = left_codes();
}

// The same for the codes that go left, the missing one perhaps among them.
template <class Sides>
void take_codes(const Sides& sides, const SplitRules& rules, std::int32_t feature,
                std::uint32_t missing, std::vector<std::uint32_t> codes, Split& best) {
    const bool missing_left = std::erase(codes, missing) > 0;
    take_categories(sides, rules, feature, missing_left, best, [&] { return std::move(codes); });
}

// A random order cut at a random place: both sides are never empty.
inline void draw_codes(std::vector<std::uint32_t>& present, Random& random) {
    for (std::size_t i = present.size() - 1; i > 0; --i) {
        std::swap(present[i], present[random.below(i + 1)]);
    }
    present.resize(1 + random.below(present.size() - 1));
}

}  // namespace detail

// Tries the category splits of a feature with a histogram over its categories; returns false when
// fewer than two categories (counting "missing" as one) are present.
template <class Sides>
bool scan_categories(Sides& sides, const typename Sides::Number* bins, const CodeView& view,
                     std::int32_t feature, const typename Sides::Number* total,
                     const SplitRules& rules, Split& best) {
    const auto& stats = sides.stats();
    const std::uint32_t width = stats.width();
    const auto bin = [&](std::uint32_t code) { return bins + std::size_t(code) * width; };
    std::vector<std::uint32_t> present;
    for (std::uint32_t code = 0; code < view.n_bins; ++code) {
        if (stats.count(bin(code)) > 0) present.push_back(code);
    }
    const bool has_missing = stats.count(bin(view.n_bins)) > 0;
    if (present.size() + has_missing < 2) return false;

    const auto attempt = [&](bool missing_left, const auto& left_codes) {
        detail::take_categories(sides, rules, feature, missing_left, best, left_codes);
    };

    using Stats = std::decay_t<decltype(stats)>;
    bool enumerate = false;
    if constexpr (Stats::classes || has_several<Stats>) {
        // Classes that the node does not have change nothing, whether they are counted or not.
        std::uint32_t n_classes = 0, last_class = 0;
        for (std::uint32_t k = 0; Stats::classes && k < stats.n_outputs(); ++k) {
            if (total[k] > 0) ++n_classes, last_class = k;
        }
        const bool two_classes = Stats::classes && n_classes <= 2;
        enumerate = !two_classes && present.size() <= most_enumerated_categories;
        if (!enumerate) {
            std::vector<double> order(view.n_bins);
            if (two_classes) {
                for (const auto code : present) {
                    order[code] =
                        static_cast<double>(bin(code)[last_class]) / stats.weight(bin(code));
                }
            } else {
                const auto scores = detail::principal_scores(stats, bins, present);
                for (std::size_t i = 0; i < present.size(); ++i) order[present[i]] = scores[i];
            }
            std::stable_sort(present.begin(), present.end(),
                             [&](auto x, auto y) { return order[x] < order[y]; });
        }
    } else {
        std::stable_sort(present.begin(), present.end(), [&](auto x, auto y) {
            return bin(x)[0] * bin(y)[1] < bin(y)[0] * bin(x)[1];
        });
    }

    const auto n = static_cast<std::uint32_t>(present.size());
    for (int pass = 0; pass <= int(has_missing); ++pass) {
        const bool missing_left = pass == 1;
        if (enumerate) {
            // The first category stays on the right: the mirror image of a split is the same split,
            // but then missing values must be free to go either way.
            for (std::uint32_t subset = 1; subset < (1u << (n - 1)); ++subset) {
                sides.start(total);
                if (missing_left) sides.move(bin(view.n_bins));
                for (std::uint32_t i = 1; i < n; ++i) {
                    if (subset >> (i - 1) & 1) sides.move(bin(present[i]));
                }
                attempt(missing_left, [&] {
                    std::vector<std::uint32_t> codes;
                    for (std::uint32_t i = 1; i < n; ++i) {
                        if (subset >> (i - 1) & 1) codes.push_back(present[i]);
                    }
                    return codes;
                });
            }
        } else {
            sides.start(total);
            if (missing_left) sides.move(bin(view.n_bins));
            for (std::uint32_t i = 0; i + 1 < n; ++i) {
                sides.move(bin(present[i]));
                attempt(missing_left, [&] {
                    return std::vector<std::uint32_t>(present.begin(), present.begin() + i + 1);
                });
            }
        }
    }
    if (has_missing && n > 0) {  // every category left, missing right
        sides.start(total);
        for (const auto code : present) sides.move(bin(code));
        attempt(false, [&] { return present; });
    }
    return true;
}

// One random split of the present categories into two sets.
template <class Sides>
bool scan_random_categories(Sides& sides, const typename Sides::Number* bins, const CodeView& view,
                            std::int32_t feature, const typename Sides::Number* total,
                            const SplitRules& rules, Random& random, Split& best) {
    const auto& stats = sides.stats();
    const auto bin = [&](std::uint32_t code) { return bins + std::size_t(code) * stats.width(); };
    std::vector<std::uint32_t> present;
    for (std::uint32_t code = 0; code <= view.n_bins; ++code) {
        if (stats.count(bin(code)) > 0) present.push_back(code);
    }
    if (present.size() < 2) return false;
    detail::draw_codes(present, random);
    sides.start(total);
    for (const auto code : present) sides.move(bin(code));
    detail::take_codes(sides, rules, feature, view.n_bins, std::move(present), best);
    return true;
}

}  // namespace hedgerow
