// One threshold for a feature, drawn uniformly between the node's smallest and largest value.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>
#ifdef __AVX2__
#include <immintrin.h>
#endif

#include "base/random.hpp"
#include "grow/left_stats.hpp"
#include "grow/split_search.hpp"

namespace hedgerow {

// The cut nearest to a place between the smallest value of one code and the largest of another.
inline Cut random_cut(const Column& column, std::uint32_t low, std::uint32_t high, Random& random) {
    const double from = column.smallest_of(low), to = column.largest_of(high);
    return cut_near(column, low, high, from + random.uniform() * (to - from));
}

// The same for columns of at most 256 bins, many times: where a search by halves waits for one
// comparison after the other, 16 are counted, and 16 again (extra trees on california_housing take
// 0.7 of the time).
class RandomCuts {
    static constexpr std::uint32_t step = 16;

  public:
    void take(const std::vector<CodeView>& views) {
        start_.clear();
        starts_.clear();
        for (const CodeView& view : views) {
            const auto& smallest = view.column->smallest;
            start_.push_back(starts_.size());
            // The first of every 16 bins, and then all of them, each filled up to whole steps.
            starts_.resize(starts_.size() + step, std::numeric_limits<double>::infinity());
            for (std::size_t i = 0; i * step < smallest.size(); ++i) {
                starts_[start_.back() + i] = smallest[i * step];
            }
            starts_.insert(starts_.end(), smallest.begin(), smallest.end());
            starts_.resize((starts_.size() + step - 1) / step * step,
                           std::numeric_limits<double>::infinity());
        }
    }

    Cut draw(const Column& column, std::uint32_t feature, std::uint32_t low, std::uint32_t high,
             Random& random) const {
        const double from = column.smallest_of(low), to = column.largest_of(high);
        const double threshold = from + random.uniform() * (to - from);
        const double* const starts = starts_.data() + start_[feature];
        const std::uint32_t group = n_up_to(starts, threshold) - 1;
        const std::uint32_t bin =
            group * step + n_up_to(starts + (1 + group) * step, threshold) - 1;
        return cut_at(column, std::min(bin, high - 1), low, high, threshold);
    }

  private:
    static std::uint32_t n_up_to(const double* starts, double threshold) {
#ifdef __AVX2__
        const __m256d at = _mm256_set1_pd(threshold);
        const auto four = [&](std::uint32_t i) {
            return _mm256_castpd_si256(_mm256_cmp_pd(_mm256_loadu_pd(starts + i), at, _CMP_LE_OQ));
        };
        const __m256i all = _mm256_packs_epi32(_mm256_packs_epi32(four(0), four(4)),
                                               _mm256_packs_epi32(four(8), four(12)));
        const auto bytes = static_cast<std::uint32_t>(_mm256_movemask_epi8(all));
        return static_cast<std::uint32_t>(std::popcount(bytes)) / 2;
#else
        std::uint32_t n = 0;
        for (std::uint32_t i = 0; i < step; ++i) n += starts[i] <= threshold;
        return n;
#endif
    }

    std::vector<std::size_t> start_;  // by feature
    std::vector<double> starts_;
};

// Codes up to `a` go left; the next present one may be `b`.
struct RandomBorder {
    std::uint32_t a, b;
    bool missing_left;
    double threshold;
};

// None for a feature that is constant in a node of n rows.
inline std::optional<RandomBorder> draw_border(const CodeView& view, const detail::CodeRange& range,
                                               std::uint32_t n, Random& random) {
    const auto [low, high, n_missing] = range;
    if (n_missing == n || (low == high && n_missing == 0)) return std::nullopt;
    const bool missing_left = n_missing > 0 && low != high && (random.next() & 1);
    if (low == high) {
        return RandomBorder{high, view.n_bins, false, std::numeric_limits<double>::infinity()};
    }
    const Cut cut = random_cut(*view.column, view.data_code(low), view.data_code(high), random);
    const std::uint32_t last_left = view.code_up_to(cut.last_left, low, high);
    return RandomBorder{last_left, last_left + 1, missing_left, cut.threshold};
}

template <class Sides>
void take_drawn(const Sides& sides, const SplitRules& rules, std::int32_t feature,
                const RandomBorder& border, Split& best) {
    if (detail::take_border(sides, rules, feature, border.a, border.missing_left, best)) {
        best.b = border.b;
        best.threshold = border.threshold;
    }
}

template <class Sides, class Stats>
bool scan_random(Sides& sides, const CodeView& view, std::int32_t feature,
                 const NodeRows<Stats>& node, LeftStats<Stats>& left, const SplitRules& rules,
                 Random& random, Split& best) {
    const auto border = draw_border(view, left.read(sides.stats(), view, node), node.n, random);
    if (!border) return false;
    sides.start(node.total);
    sides.move(left.sum(sides.stats(), view, node, border->a, border->missing_left));
    take_drawn(sides, rules, feature, *border, best);
    return true;
}

}  // namespace hedgerow
