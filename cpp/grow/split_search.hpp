// Finding the best split of one feature in one node.
//
// scan_bins    over a histogram of the node (large nodes), cost: bins
// scan_sorted  over the node's rows sorted by code (small nodes), cost: rows
// scan_two     a feature of two values, which has one border
//
// Each returns false when the feature is constant in the node, and otherwise updates `best`.
// Missing values are tried on both sides; where a node has none they later follow the heavier
// child.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/portable.hpp"
#include "base/random.hpp"
#include "grow/category_split.hpp"
#include "grow/criterion.hpp"
#include "grow/left_stats.hpp"
#include "grow/split.hpp"

namespace hedgerow {

namespace detail {

// Takes the present state of the sides if it is the best so far; a border right after code `a`.
template <class Sides>
HEDGEROW_INLINE bool take_border(const Sides& sides, const SplitRules& rules, std::int32_t feature,
                                 std::uint32_t a, bool missing_left, Split& best) {
    if (!rules.allow(sides, feature) || !sides.may_beat(best.score - 2 * rules.tolerance))
        return false;
    const double score = sides.score();
    if (!rules.better(score, feature, best)) return false;
    best.feature = feature;
    best.score = score;
    best.categorical = false;
    best.missing_left = missing_left;
    best.a = a;
    if constexpr (HasBounds<Sides>) best.middle = (sides.value_left() + sides.value_right()) / 2;
    return true;
}

}  // namespace detail

template <class Sides>
bool scan_bins(Sides& sides, const typename Sides::Number* bins, const CodeView& view,
               std::int32_t feature, const typename Sides::Number* total, const SplitRules& rules,
               Split& best) {
    const auto& stats = sides.stats();
    const std::uint32_t width = stats.width();
    const auto* missing = bins + std::size_t(view.n_bins) * width;
    const std::uint32_t n_missing = view.column->has_missing ? stats.count(missing) : 0;
    if constexpr (requires { sides.two_classes(); }) {
        if (n_missing == 0 && sides.two_classes()) {
            const auto look =
                sides.glance(bins, view.n_bins, total, best.score - 3 * rules.tolerance);
            if (!look.may_beat) return look.varies;
        }
    }
    bool varies = false;
    for (int pass = 0; pass <= int(n_missing > 0); ++pass) {
        const bool missing_left = pass == 1;
        sides.start(total);
        if (missing_left) sides.move(missing);
        bool open = false;  // the best border so far waits for the next present code
        std::uint32_t n_left = sides.n_left();
        for (std::uint32_t code = 0; code < view.n_bins && sides.n_right() > 0; ++code) {
            const auto* bin = bins + std::size_t(code) * width;
            if (stats.empty(bin)) continue;
            sides.move(bin);
            if (sides.n_left() == n_left) continue;
            n_left = sides.n_left();
            if (open) best.b = code;
            open = sides.n_right() > 0 &&
                   detail::take_border(sides, rules, feature, code, missing_left, best);
            varies |= sides.n_right() > 0;
        }
        if (open) best.b = view.n_bins;  // all numbers left, missing right
        if (!varies) return false;
    }
    return true;
}

// Puts keys of (code, position) in order of their codes: by insertion for a handful, by counting
// while the codes are few, by comparison otherwise.
inline void sort_keys(std::vector<std::uint32_t>& keys, std::uint32_t n, std::uint32_t n_codes,
                      std::vector<std::uint32_t>& scratch) {
    if (n <= 20) {
        for (std::uint32_t i = 1; i < n; ++i) {
            const std::uint32_t key = keys[i];
            std::uint32_t j = i;
            for (; j > 0 && keys[j - 1] > key; --j) keys[j] = keys[j - 1];
            keys[j] = key;
        }
    } else if (n_codes <= 8 * n) {
        scratch.assign(n_codes + 1 + n, 0);
        std::uint32_t* end_of = scratch.data() + 1;
        std::uint32_t* sorted = end_of + n_codes;
        for (std::uint32_t i = 0; i < n; ++i) ++end_of[keys[i] >> 16];
        for (std::uint32_t code = 1; code < n_codes; ++code) end_of[code] += end_of[code - 1];
        std::uint32_t* start_of = scratch.data();
        for (std::uint32_t i = 0; i < n; ++i) sorted[start_of[keys[i] >> 16]++] = keys[i];
        std::copy_n(sorted, n, keys.begin());
    } else {
        std::sort(keys.begin(), keys.begin() + n);
    }
}

// Codes and positions of the node's rows in one number, so that sorting is by code, then by row.
inline constexpr std::uint32_t most_sorted_rows = 1 << 16;

// Writes the keys of the rows whose code is not the lowest one, 0; returns how many there are.
// Most pixels, word counts, flags and class vectors are 0, so these are few.
template <class Stats>
std::uint32_t fill_keys(const CodeView& view, const NodeRows<Stats>& node,
                        std::vector<std::uint32_t>& keys) {
    if (keys.size() < node.n + 1) keys.resize(node.n + 1);
    const auto fill = [&](const auto* codes, std::uint32_t* out) {
        std::uint32_t n = 0;
        for (std::uint32_t i = 0; i < node.n; ++i) {
            const std::uint32_t code = codes[node.rows[i]];
            out[n] = code << 16 | i;
            n += code != 0;
        }
        return n;
    };
    return view.narrow ? fill(view.narrow, keys.data()) : fill(view.wide, keys.data());
}

// Over the first n of the given keys. Rows of code 0 are never sorted: they are the first group,
// and what is left of the node's total when the others are taken off.
template <class Sides, class Stats>
bool scan_sorted(Sides& sides, const CodeView& view, std::int32_t feature,
                 const NodeRows<Stats>& node, std::vector<std::uint32_t>& keys, std::uint32_t n,
                 std::vector<std::uint32_t>& scratch, std::vector<typename Stats::Number>& zeros,
                 const SplitRules& rules, Split& best) {
    if (n == 0) return false;
    sort_keys(keys, n, view.n_bins + 1, scratch);
    const bool has_zeros = n < node.n;
    if (!has_zeros && keys[0] >> 16 == keys[n - 1] >> 16) return false;
    std::uint32_t n_present = n;
    while (n_present > 0 && keys[n_present - 1] >> 16 == view.n_bins) --n_present;

    const auto& stats = sides.stats();
    if (has_zeros) {
        zeros.assign(stats.width(), 0);
        for (std::uint32_t i = 0; i < n; ++i) {
            const std::uint32_t at = keys[i] & 0xffff;
            stats.add(zeros.data(), node.targets[at], node.weight(at));
        }
        for (std::size_t k = 0; k < zeros.size(); ++k) zeros[k] = node.total[k] - zeros[k];
    }
    const auto move = [&](std::uint32_t i) {
        const std::uint32_t at = keys[i] & 0xffff;
        sides.move_row(node.targets[at], node.weight(at));
    };
    const auto code_at = [&](std::uint32_t i) {
        return i < n_present ? keys[i] >> 16 : view.n_bins;
    };
    const bool has_missing = n_present < n;
    for (int pass = 0; pass <= int(has_missing); ++pass) {
        const bool missing_left = pass == 1;
        const auto take = [&](std::uint32_t a, std::uint32_t b) {
            if (sides.n_right() > 0 &&
                detail::take_border(sides, rules, feature, a, missing_left, best)) {
                best.b = b;
            }
        };
        sides.start(node.total);
        if (missing_left) {
            for (std::uint32_t i = n_present; i < n; ++i) move(i);
        }
        if (has_zeros) {
            sides.move(zeros.data());
            take(0, code_at(0));
        }
        for (std::uint32_t i = 0; i < n_present; ++i) {
            move(i);
            if (code_at(i) != code_at(i + 1)) take(code_at(i), code_at(i + 1));
        }
    }
    return true;
}

template <class Sides, class Stats>
bool scan_two(Sides& sides, const CodeView& view, std::int32_t feature, const NodeRows<Stats>& node,
              LeftStats<Stats>& left, const SplitRules& rules, Split& best) {
    const auto range = left.read(sides.stats(), view, node);
    if (range.low == range.high) return false;
    sides.start(node.total);
    sides.move(left.sum(sides.stats(), view, node, 0, false));
    if (detail::take_border(sides, rules, feature, 0, false, best)) best.b = 1;
    return true;
}

}  // namespace hedgerow
