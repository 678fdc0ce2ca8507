// Finding the split after which the rows lose least to the quantiles of their sides.
//
// numbers     rows leave a list of all in the order of their codes, from the highest for the left
//             sides and from the lowest for the right ones
// categories  all sets up to eight categories, beyond that the order of the categories' quantiles
//             is cut, which need not be the best: no order is known that always has the best set
//
// Missing values are tried on both sides. Cost of a feature: rows + codes, where weights are equal.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "graph/route.hpp"
#include "grow/criterion.hpp"
#include "grow/node_rows.hpp"
#include "grow/quantile_list.hpp"
#include "grow/random_split.hpp"
#include "grow/split_search.hpp"

namespace hedgerow {

// Sums, and which quantile is meant; see grow/quantile_list.hpp.
template <bool weighted>
struct QuantileStats : SumStats<weighted> {
    double quantile = 0.5, scale = 1;
};

// A border that is known from both sides' lists.
template <class Stats_>
struct QuantileSides {
    using Stats = Stats_;
    using Number = typename Stats::Number;
    static constexpr bool on_bits = false;
    static constexpr bool ranked = true;

    Stats kept;
    QuantileSide left = {}, right = {};

    explicit QuantileSides(Stats stats) : kept(stats) {}
    const Stats& stats() const { return kept; }
    double score() const { return -(left.loss + right.loss); }
    bool may_beat(double) const { return true; }
    double value_left() const { return left.value; }
    double value_right() const { return right.value; }
    double weight_left() const { return left.weight; }
    double weight_right() const { return right.weight; }
    std::uint32_t n_left() const { return left.n; }
    std::uint32_t n_right() const { return right.n; }
};

template <class Stats>
class QuantileSearch {
    using Rows = NodeRows<Stats>;
    using Sides = QuantileSides<Stats>;

    // The rows of one code: a range of `order_`.
    struct Group {
        std::uint32_t code, begin, end;
    };

  public:
    // Another node; the quantile of all its rows.
    QuantileSide start(const Stats& stats, const Rows& rows) {
        list_.start(stats, rows);
        return list_.side();
    }

    // The best split of one feature of the node; false where the feature is constant.
    bool scan(Sides& sides, const CodeView& view, std::int32_t feature, const Rows& node,
              const SplitRules& rules, Split& best) {
        group(view, node);
        if (groups_.size() < 2) return false;
        if (view.column->categorical) {
            scan_categories(sides, feature, node, rules, best);
        } else {
            for_borders(sides, [&](std::uint32_t k, bool missing_left) {
                if (!detail::take_border(sides, rules, feature, groups_[k].code, missing_left,
                                         best)) {
                    return;
                }
                best.b = k + 1 < n_present_ ? groups_[k + 1].code : view.n_bins;
            });
        }
        return true;
    }

    // The same with one threshold or set drawn at random.
    bool scan_random(Sides& sides, const CodeView& view, std::int32_t feature, const Rows& node,
                     LeftStats<Stats>& left, const SplitRules& rules, Random& random, Split& best) {
        if (!view.column->categorical) {
            const auto range = left.read(sides.stats(), view, node);
            const auto border = draw_border(view, range, node.n, random);
            if (!border) return false;
            const std::uint32_t n_left = border->b == view.n_bins ? view.n_bins : border->a + 1;
            part(sides, [&](std::uint32_t i) {
                return code_goes_left(view.at(node.rows[i]), n_left, view.n_bins,
                                      border->missing_left);
            });
            take_drawn(sides, rules, feature, *border, best);
            return true;
        }
        group(view, node);
        if (groups_.size() < 2) return false;
        std::vector<std::uint32_t> codes;
        for (const Group& group : groups_) codes.push_back(group.code);
        detail::draw_codes(codes, random);
        std::vector<std::uint8_t> in_set(view.n_bins + 1);
        for (const auto code : codes) in_set[code] = 1;
        part(sides, [&](std::uint32_t i) { return in_set[view.at(node.rows[i])] != 0; });
        detail::take_codes(sides, rules, feature, view.n_bins, std::move(codes), best);
        return true;
    }

  private:
    // The rows by their codes, those without one last.
    void group(const CodeView& view, const Rows& node) {
        const std::uint32_t n_codes = view.n_bins + 1;
        groups_.clear();
        order_.resize(node.n);
        if (n_codes > 8 * std::uint64_t(node.n)) {  // few rows
            for (std::uint32_t i = 0; i < node.n; ++i) {
                order_[i] = view.at(node.rows[i]) << 16 | i;
            }
            sort_keys(order_, node.n, n_codes, scratch_);
            for (std::uint32_t i = 0; i < node.n; ++i) {
                const std::uint32_t code = order_[i] >> 16;
                if (groups_.empty() || groups_.back().code != code) groups_.push_back({code, i, i});
                groups_.back().end = i + 1;
                order_[i] &= 0xffff;
            }
        } else {
            scratch_.assign(n_codes + 1, 0);
            for (std::uint32_t i = 0; i < node.n; ++i) ++scratch_[view.at(node.rows[i]) + 1];
            for (std::uint32_t code = 0; code < n_codes; ++code) {
                const std::uint32_t begin = scratch_[code];
                scratch_[code + 1] += begin;
                if (scratch_[code + 1] > begin)
                    groups_.push_back({code, begin, scratch_[code + 1]});
            }
            for (std::uint32_t i = 0; i < node.n; ++i) {
                order_[scratch_[view.at(node.rows[i])]++] = i;
            }
        }
        has_missing_ = groups_.back().code == view.n_bins;
        n_present_ = static_cast<std::uint32_t>(groups_.size()) - has_missing_;
    }

    void remove(const Group& group) {
        for (std::uint32_t i = group.begin; i < group.end; ++i) list_.remove(order_[i]);
    }

    // Calls take(k, missing_left) with the sides for which groups up to k go left.
    template <class Take>
    void for_borders(Sides& sides, const Take& take) {
        left_.resize(n_present_);
        right_.resize(n_present_);
        for (int pass = 0; pass <= int(has_missing_); ++pass) {
            const bool missing_left = pass == 1;
            list_.refill();
            if (missing_left) remove(groups_.back());
            for (std::uint32_t k = 0; k < n_present_; ++k) {
                remove(groups_[k]);
                right_[k] = list_.side();
            }
            list_.refill();
            if (has_missing_ && !missing_left) remove(groups_.back());
            for (std::uint32_t k = n_present_; k-- > 0;) {
                left_[k] = list_.side();
                remove(groups_[k]);
            }
            for (std::uint32_t k = 0; k < n_present_; ++k) {
                if (right_[k].n == 0) continue;
                sides.left = left_[k];
                sides.right = right_[k];
                take(k, missing_left);
            }
        }
    }

    // The sides of any division of the node's rows.
    template <class GoesLeft>
    void part(Sides& sides, const GoesLeft& goes_left) {
        sides.left = list_.side_of(goes_left);
        sides.right = list_.side_of([&](std::uint32_t i) { return !goes_left(i); });
    }

    void scan_categories(Sides& sides, std::int32_t feature, const Rows& node,
                         const SplitRules& rules, Split& best) {
        if (n_present_ > most_enumerated_categories) {
            std::vector<double> quantile(groups_.back().code + 1);
            for (const Group& group : groups_) {
                std::vector<std::uint8_t> in_group(node.n);
                for (std::uint32_t i = group.begin; i < group.end; ++i) in_group[order_[i]] = 1;
                quantile[group.code] =
                    list_.side_of([&](std::uint32_t i) { return in_group[i] != 0; }).value;
            }
            std::stable_sort(groups_.begin(), groups_.begin() + n_present_,
                             [&](const Group& a, const Group& b) {
                                 return quantile[a.code] < quantile[b.code];
                             });
            for_borders(sides, [&](std::uint32_t k, bool missing_left) {
                detail::take_categories(sides, rules, feature, missing_left, best, [&] {
                    std::vector<std::uint32_t> codes;
                    for (std::uint32_t g = 0; g <= k; ++g) codes.push_back(groups_[g].code);
                    return codes;
                });
            });
            return;
        }
        std::vector<std::uint8_t> group_of(node.n);
        for (std::uint8_t g = 0; g < groups_.size(); ++g) {
            for (std::uint32_t i = groups_[g].begin; i < groups_[g].end; ++i) {
                group_of[order_[i]] = g;
            }
        }
        const auto attempt = [&](std::uint32_t set, bool missing_left) {
            const std::uint32_t all = set | std::uint32_t{missing_left} << n_present_;
            part(sides, [&](std::uint32_t i) { return (all >> group_of[i] & 1) != 0; });
            detail::take_categories(sides, rules, feature, missing_left, best, [&] {
                std::vector<std::uint32_t> codes;
                for (std::uint32_t g = 0; g < n_present_; ++g) {
                    if (set >> g & 1) codes.push_back(groups_[g].code);
                }
                return codes;
            });
        };
        // The first category stays on the right, as in grow/category_split.hpp.
        for (std::uint32_t set = 2; set < 1u << n_present_; set += 2) {
            attempt(set, false);
            if (has_missing_) attempt(set, true);
        }
        if (has_missing_) attempt((1u << n_present_) - 1, false);
    }

    QuantileList<Stats> list_;
    std::vector<std::uint32_t> order_, scratch_;
    std::vector<Group> groups_;
    bool has_missing_ = false;
    std::uint32_t n_present_ = 0;
    std::vector<QuantileSide> left_, right_;  // by group: of the border behind it
};

}  // namespace hedgerow
