// The stats of the rows of a node that go left of a border, without a histogram.
//
// For features with one border to look at: a threshold drawn at random, or a feature of two values.
// The codes of the node's rows are copied next to each other, which takes a read per row. Rows are
// in the order of their classes, so classes are then counted 64 rows at a time, in the bits of the
// rows that go left. Whole weights are cut into their binary digits, each with bits of its own: a
// bag of rows needs three or four counts a word.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "grow/node_rows.hpp"
#include "grow/row_bits.hpp"
#include "grow/split.hpp"

namespace hedgerow {

namespace detail {

inline constexpr std::uint8_t never_left = 255;

struct CodeRange {
    std::uint32_t low, high, n_missing;  // of the codes that are not missing
};

}  // namespace detail

template <class Stats>
class LeftStats {
    using Number = typename Stats::Number;
    static constexpr bool may_count_bits = Stats::classes && std::is_integral_v<Number>;

  public:
    // Another node begins: what was prepared for the last one is void.
    void forget() { prepared_ = false; }

    // Whether one pass over the bits takes the place of adding row by row.
    bool counts_bits(const Stats& stats, const NodeRows<Stats>& node) {
        if (!prepared_) prepare(stats, node);
        return counts_bits_;
    }

    // The node's codes of a feature as they are, with their range.
    detail::CodeRange read(const Stats& stats, const CodeView& view, const NodeRows<Stats>& node) {
        if (!prepared_) prepare(stats, node);
        if (view.wide) return range_of(view.wide, view.n_bins, node);
        copy_codes(view.narrow, node.rows, node.n, codes_.data());
        if (view.column->has_missing) return range_of(view.narrow, view.n_bins, node);
        // One more than each code, so that the padding wraps to 0 and is not the highest.
        std::uint8_t low = 255, past_high = 0;
        const std::uint8_t* const codes = codes_.data();
        for (std::uint32_t i = 0; i < n_words_ * bits::word_rows; ++i) {
            low = std::min(low, codes[i]);
            past_high = std::max(past_high, static_cast<std::uint8_t>(codes[i] + 1));
        }
        return {low, past_high - 1u, 0};
    }

    // The stats of the rows that go left: codes up to `last`, and missing ones if these do.
    const Number* sum(const Stats& stats, const CodeView& view, const NodeRows<Stats>& node,
                      std::uint32_t last, bool missing_left) {
        const auto replaced = [&](std::uint32_t code, std::uint8_t otherwise) {
            if (code == view.n_bins) return missing_left ? std::uint8_t{0} : detail::never_left;
            return otherwise;
        };
        if (view.wide) {
            for (std::uint32_t i = 0; i < node.n; ++i) {
                const std::uint32_t code = view.wide[node.rows[i]];
                codes_[i] = replaced(code, code <= last ? 0 : detail::never_left);
            }
            last = 0;
        } else if (view.column->has_missing) {
            for (std::uint32_t i = 0; i < node.n; ++i) codes_[i] = replaced(codes_[i], codes_[i]);
        }
        sum_up_to(stats, node, static_cast<std::uint8_t>(last));
        return sums_.data();
    }

  private:
    // Bytes may alias anything: without `restrict` every pointer is read again for each row.
    static void copy_codes(const std::uint8_t* __restrict from, const Row* __restrict rows,
                           std::uint32_t n, std::uint8_t* __restrict to) {
        for (std::uint32_t i = 0; i < n; ++i) to[i] = from[rows[i]];
    }

    void prepare(const Stats& stats, const NodeRows<Stats>& node) {
        prepared_ = true;
        n_words_ = bits::words_for(node.n);
        if (codes_.size() < n_words_ * bits::word_rows) {
            codes_.resize(n_words_ * bits::word_rows);
        }
        std::fill(codes_.begin() + node.n, codes_.begin() + n_words_ * bits::word_rows,
                  detail::never_left);
        sums_.assign(2 * stats.width(), Number{0});
        counts_bits_ = false;
        if constexpr (may_count_bits) set_class_bits(stats, node);
    }

    void set_class_bits(const Stats& stats, const NodeRows<Stats>& node) {
        counts_bits_ = weights_.take(node);
        if (!counts_bits_) return;
        class_end_.resize(stats.n_outputs());
        const auto* const begin = node.targets;
        const auto* next = begin;
        for (std::uint32_t k = 0; k < stats.n_outputs(); ++k) {
            next = std::upper_bound(next, begin + node.n, static_cast<std::int32_t>(k));
            class_end_[k] = static_cast<std::uint32_t>(next - begin);
        }
    }

    template <class Code>
    detail::CodeRange range_of(const Code* codes, std::uint32_t missing,
                               const NodeRows<Stats>& node) const {
        std::uint32_t low = ~0u, high = 0, n_missing = 0;
        for (std::uint32_t i = 0; i < node.n; ++i) {
            const std::uint32_t code = codes[node.rows[i]];
            n_missing += code == missing;
            low = std::min(low, code);
            high = std::max(high, code == missing ? 0 : code);
        }
        return {low, high, n_missing};
    }

    void sum_up_to(const Stats& stats, const NodeRows<Stats>& node, std::uint8_t last) {
        if constexpr (!Stats::classes && !has_several<Stats>) {
            sum_numbers(node, last);
        } else {
            if constexpr (Stats::classes) {
                if (counts_bits_) return count_classes(stats, last);
            }
            // There is no branch on the side, and the right side is summed for nothing.
            std::fill(sums_.begin(), sums_.end(), Number{0});
            for (std::uint32_t i = 0; i < node.n; ++i) {
                Number* side = sums_.data() + (codes_[i] <= last ? 0 : stats.width());
                stats.add(side, node.targets[i], node.weight(i));
            }
        }
    }

    void count_classes(const Stats& stats, std::uint8_t last) {
        const std::uint32_t n_words = n_words_;
        left_bits_.resize(n_words);
        std::uint64_t* const left = left_bits_.data();
        std::uint32_t n = 0;
        for (std::uint32_t word = 0; word < n_words; ++word) {
            left[word] = bits::up_to(codes_.data() + std::size_t(word) * 64, last);
            n += static_cast<std::uint32_t>(std::popcount(left[word]));
        }
        std::uint32_t at = 0;
        for (std::uint32_t k = 0; k < stats.n_outputs(); ++k) {
            std::uint32_t sum = 0;
            for (const std::uint32_t end = class_end_[k]; at < end;) {
                const std::uint32_t word = at / 64, stop = std::min(end, (word + 1) * 64);
                const bits::Set rows = bits::first_rows(stop - at) << (at % 64);
                sum += weights_.of(word, left[word] & rows);
                at = stop;
            }
            sums_[k] = static_cast<Number>(sum);
        }
        if constexpr (Stats::weighted) sums_[stats.n_padded()] = static_cast<Number>(n);
    }

    // The number or 0, without a branch that random thresholds would mispredict.
    static double kept(bool keep, double number) {
        return std::bit_cast<double>(std::bit_cast<std::uint64_t>(number) & -std::uint64_t{keep});
    }

    // Four sums side by side, so that rows do not wait for each other.
    void sum_numbers(const NodeRows<Stats>& node, std::uint8_t last) {
        constexpr std::uint32_t lanes = 4;
        std::array<double, lanes> sum{}, weight{};
        std::uint32_t n = 0, i = 0;
        const std::uint8_t* const codes = codes_.data();
        const auto add = [&](std::uint32_t lane, std::uint32_t row) {
            const bool left = codes[row] <= last;
            sum[lane] += kept(left, node.weight(row) * node.targets[row]);
            if constexpr (Stats::weighted) weight[lane] += kept(left, node.weight(row));
        };
        for (; i + lanes <= node.n; i += lanes) {
            for (std::uint32_t lane = 0; lane < lanes; ++lane) add(lane, i + lane);
        }
        for (; i < node.n; ++i) add(i % lanes, i);
        for (std::uint32_t word = 0; word < n_words_; ++word) {
            n += static_cast<std::uint32_t>(
                std::popcount(bits::up_to(codes_.data() + std::size_t(word) * 64, last)));
        }
        const auto total = [](const auto& of) { return (of[0] + of[1]) + (of[2] + of[3]); };
        sums_[0] = total(sum);
        sums_[1] = Stats::weighted ? total(weight) : n;
        if constexpr (Stats::weighted) sums_[2] = n;
    }

    bool prepared_ = false;
    std::uint32_t n_words_ = 0;
    bool counts_bits_ = false;
    std::vector<std::uint8_t> codes_;  // padded to whole words
    bits::Weights<Stats> weights_;
    std::vector<std::uint32_t> class_end_;  // the position behind the last row of each class
    std::vector<std::uint64_t> left_bits_;  // n_words: the rows that go left
    std::vector<Number> sums_;              // left, and right where it is summed too
};

}  // namespace hedgerow
