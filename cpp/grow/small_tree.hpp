// Subtrees of at most 64 rows, grown on bits: most nodes of a full-grown tree.
//
// set     rows of the subtree as one word; a child is its parent's set without some bits
// digit   weights are cut into binary digits, and a class has a set of rows for each: the weight of
//         a class in a set is a few population counts
// codes   those of a feature, 64 bytes next to each other, copied when it is first drawn
//
// For Gini, whole weights and numbers of at most 255 bins without missing values, in trees that
// draw features. Such a subtree is that of the general search, split for split.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "graph/decision_graph.hpp"
#include "grow/drawing.hpp"
#include "grow/left_stats.hpp"
#include "grow/limits.hpp"
#include "grow/random_split.hpp"
#include "grow/split_search.hpp"

namespace hedgerow {

inline constexpr std::uint32_t most_small_rows = 64;

inline bool reads_bits(const CodeView& view) {
    return view.narrow && !view.column->categorical && !view.column->has_missing;
}

// A node by its rows, and where it belongs.
struct SmallNode {
    std::uint64_t rows;
    std::uint64_t key;
    std::uint32_t depth;
    std::uint32_t n_constant;
    std::int32_t parent;
    bool is_left;

    SmallNode child(std::int32_t index, bool left, std::uint64_t its_rows = 0) const {
        return {its_rows, key_of(key, left ? 1 : 2), depth + 1, n_constant, index, left};
    }
};

// A border by its sums of squared class weights, as detail::take_border sees it.
template <class Sides>
struct GiniBorder {
    using Sum = typename Sides::Stats::Sum;
    Sum squares_left, squares_right, sum_left, sum_right;
    std::uint32_t count_left, count_right;

    std::uint32_t n_left() const { return count_left; }
    std::uint32_t n_right() const { return count_right; }
    double weight_left() const { return static_cast<double>(sum_left); }
    double weight_right() const { return static_cast<double>(sum_right); }
    double score() const {
        return Sides::score_of(squares_left, sum_left, squares_right, sum_right);
    }
    bool may_beat(double bar) const {
        return Sides::may_beat(squares_left, sum_left, squares_right, sum_right, bar);
    }
};

template <class Sides>
class SmallTree {
    using Stats = typename Sides::Stats;
    using Number = typename Stats::Number;
    using Sum = typename Stats::Sum;
    using Set = std::uint64_t;
    using Node = SmallNode;

    static constexpr std::uint32_t most_digits = 4;

    static constexpr std::uint32_t most_rows = most_small_rows;

    using Border = GiniBorder<Sides>;

  public:
    // What the general grower hands over.
    struct Site {
        const std::vector<CodeView>& views;
        DecisionGraph& graph;
        std::vector<std::uint32_t>& features;  // see FeatureDraw
        const FeatureDraw& draw;
        const Limits& limits;
        bool random;  // thresholds are drawn too
    };

    // Takes the rows of a subtree, whose root has them all; false if a weight is too large.
    bool take(const NodeRows<Stats>& node, std::uint32_t n_features) {
        Number heaviest = 1;
        for (std::uint32_t i = 0; i < node.n; ++i) heaviest = std::max(heaviest, node.weight(i));
        const int n_digits = std::bit_width(static_cast<std::uint32_t>(heaviest));
        if (n_digits > static_cast<int>(most_digits)) return false;
        n_digits_ = static_cast<std::uint32_t>(n_digits);
        subtree_ = node;
        set_classes();
        if (codes_.empty()) {
            codes_.resize(std::size_t(n_features) * most_rows);
            copied_.resize(n_features);
        }
        if (++n_taken_ == 0) {
            std::fill(copied_.begin(), copied_.end(), 0u);
            n_taken_ = 1;
        }
        return true;
    }

    void grow(Node root, const Site& site) {
        root.rows = ~Set{0} >> (most_rows - subtree_.n);
        stack_.assign(1, root);
        while (!stack_.empty()) {
            Node node = stack_.back();
            stack_.pop_back();
            read(node);
            const std::int32_t index = write(node, site.graph);
            if (n_present_ == 1 ||
                !site.limits.may_split(node.depth, n_, weight_, site.graph.impurity[index])) {
                continue;
            }
            const Split split = find_split(node, site, index);
            if (split.found()) divide(node, index, split, site);
        }
    }

  private:
    void set_classes() {
        std::array<std::int32_t, most_rows> classes;
        std::uint32_t n_classes = 0;
        for (std::uint32_t i = 0; i < subtree_.n; ++i) {
            const std::int32_t y = subtree_.targets[i];
            std::uint32_t k = 0;
            while (k < n_classes && classes[k] != y) ++k;
            if (k == n_classes) {
                classes[n_classes++] = y;
                digits_[k].fill(0);
                rows_of_class_[k] = 0;
            }
            class_of_[i] = static_cast<std::uint8_t>(k);
            weight_of_[i] = static_cast<std::uint8_t>(subtree_.weight(i));
            rows_of_class_[k] |= Set{1} << i;
            for (std::uint32_t d = 0; d < n_digits_; ++d) {
                digits_[k][d] |= Set{weight_of_[i] >> d & 1u} << i;
            }
        }
    }

    // The 64 codes of a feature: those of the data set, which a gathered block ranks anew.
    const std::uint8_t* codes_of(std::uint32_t feature, const Site& site) {
        std::uint8_t* codes = codes_.data() + std::size_t(feature) * most_rows;
        if (copied_[feature] != n_taken_) {
            copied_[feature] = n_taken_;
            const CodeView& view = site.views[feature];
            for (std::uint32_t i = 0; i < subtree_.n; ++i) {
                codes[i] = static_cast<std::uint8_t>(view.data_code(view.narrow[subtree_.rows[i]]));
            }
        }
        return codes;
    }

    // The classes of a node and their weights.
    void read(const Node& node) {
        n_ = static_cast<std::uint32_t>(std::popcount(node.rows));
        n_present_ = 0;
        Sum weight = 0, squares = 0;
        for (Set rest = node.rows; rest != 0;) {
            const std::uint32_t k = class_of_[std::countr_zero(rest)];
            Number sum = 0;
            for (std::uint32_t d = 0; d < n_digits_; ++d) {
                const Set rows = digits_[k][d] & node.rows;
                present_digits_[n_present_][d] = rows;
                sum += static_cast<Number>(std::popcount(rows)) << d;
            }
            present_[n_present_++] = static_cast<std::uint8_t>(k);
            total_[k] = sum;
            weight += sum;
            squares += Sum(sum) * sum;
            rest &= ~rows_of_class_[k];
        }
        sum_ = weight;
        squares_ = squares;
        weight_ = static_cast<double>(weight);
    }

    std::int32_t write(const Node& node, DecisionGraph& graph) const {
        const std::int32_t index = graph.add_node();
        graph.n_samples[index] = static_cast<std::int32_t>(n_);
        graph.weight[index] = weight_;
        graph.impurity[index] = std::max(0.0, 1 - score() / weight_);
        double* value = graph.value.data() + std::size_t(index) * graph.n_outputs;
        for (std::uint32_t j = 0; j < n_present_; ++j) {
            const std::uint32_t k = present_[j];
            const auto first = std::countr_zero(rows_of_class_[k]);
            value[subtree_.targets[first]] = static_cast<double>(total_[k]) / weight_;
        }
        if (node.parent >= 0) (node.is_left ? graph.left : graph.right)[node.parent] = index;
        return index;
    }

    double score() const { return static_cast<double>(squares_) / weight_; }

    Split find_split(Node& node, const Site& site, std::int32_t index) {
        const double loss = site.limits.loss_of(weight_, site.graph.impurity[index]);
        const SplitRules rules = site.limits.rules_for(loss, score(), node.key);
        if (site.random) {
            detail::spread_bits(node.rows, in_node_.data());
        } else {
            std::uint32_t n = 0;
            for (Set rest = node.rows; rest != 0; rest &= rest - 1) {
                at_[n++] = static_cast<std::uint8_t>(std::countr_zero(rest));
            }
        }
        Split best = site.draw.best(site.features, node.n_constant, node.key, rules, score() + loss,
                                    [&](std::uint32_t feature, Random& random, Split& best) {
                                        const std::uint8_t* codes = codes_of(feature, site);
                                        const Column& column = *site.views[feature].column;
                                        const auto f = static_cast<std::int32_t>(feature);
                                        return site.random ? scan_random(node, f, codes, column,
                                                                         rules, random, best)
                                                           : scan_sorted(f, codes, rules, best);
                                    });
        if (best.found() && !site.limits.gains_enough(best.score, score())) best = {};
        return best;
    }

    bool scan_random(const Node& node, std::int32_t feature, const std::uint8_t* codes,
                     const Column& column, const SplitRules& rules, Random& random,
                     Split& best) const {
        std::uint8_t low = 255, high = 0;
        for (std::uint32_t i = 0; i < most_rows; ++i) {
            low = std::min(low, static_cast<std::uint8_t>(codes[i] | ~in_node_[i]));
            high = std::max(high, static_cast<std::uint8_t>(codes[i] & in_node_[i]));
        }
        if (low == high) return false;
        const Cut cut = random_cut(column, low, high, random);
        const auto last_left = static_cast<std::uint8_t>(cut.last_left);
        const Set left = detail::bits_up_to(codes, last_left) & node.rows;
        Border border{0, 0, 0, 0, static_cast<std::uint32_t>(std::popcount(left)), 0};
        border.count_right = n_ - border.count_left;
        for (std::uint32_t j = 0; j < n_present_; ++j) {
            Sum l = 0;
            for (std::uint32_t d = 0; d < n_digits_; ++d) {
                l += static_cast<Sum>(std::popcount(left & present_digits_[j][d])) << d;
            }
            const Sum r = total_[present_[j]] - l;
            border.sum_left += l;
            border.squares_left += l * l;
            border.squares_right += r * r;
        }
        border.sum_right = sum_ - border.sum_left;
        if (detail::take_border(border, rules, feature, last_left, false, best)) {
            best.threshold = cut.threshold;
        }
        return true;
    }

    bool scan_sorted(std::int32_t feature, const std::uint8_t* codes, const SplitRules& rules,
                     Split& best) {
        const std::uint8_t first = codes[at_[0]];
        std::uint8_t differences = 0;
        for (std::uint32_t i = 0; i < n_; ++i) {
            const std::uint8_t at = at_[i];
            differences |= codes[at] ^ first;
            keys_[i] = static_cast<std::int16_t>(codes[at] << 6 | at);
        }
        if (differences == 0) return false;
        sort_keys();
        for (std::uint32_t j = 0; j < n_present_; ++j) left_[present_[j]] = 0;
        Border border{0, squares_, 0, sum_, 0, n_};
        for (std::uint32_t i = 0; i + 1 < n_; ++i) {
            const std::uint32_t at = sorted_[i] & 63, k = class_of_[at];
            const Sum w = weight_of_[at], l = left_[k], r = total_[k] - l;
            border.squares_left += w * (2 * l + w);
            border.squares_right -= w * (2 * r - w);
            border.sum_left += w;
            border.sum_right -= w;
            ++border.count_left;
            --border.count_right;
            left_[k] = static_cast<Number>(l + w);
            const std::uint32_t code = sorted_[i] >> 6, next = sorted_[i + 1] >> 6;
            if (code != next && detail::take_border(border, rules, feature, code, false, best)) {
                best.b = next;
            }
        }
        return true;
    }

    // A key's rank is the number of those below it, found for all of them side by side.
    void sort_keys() {
        constexpr std::uint32_t lanes = 16;
        std::array<std::int16_t, most_rows> ranks;
        for (std::uint32_t from = 0; from < n_; from += lanes) {
            std::array<std::int16_t, lanes> rank{};
            for (std::uint32_t j = 0; j < n_; ++j) {
                for (std::uint32_t i = 0; i < lanes; ++i) rank[i] += keys_[j] < keys_[from + i];
            }
            std::copy(rank.begin(), rank.end(), ranks.begin() + from);
        }
        for (std::uint32_t i = 0; i < n_; ++i) {
            sorted_[ranks[i]] = static_cast<std::uint16_t>(keys_[i]);
        }
    }

    void divide(const Node& node, std::int32_t index, const Split& split, const Site& site) {
        DecisionGraph& graph = site.graph;
        const auto feature = static_cast<std::uint32_t>(split.feature);
        const Column& column = *site.views[feature].column;
        const Set left = node.rows & detail::bits_up_to(codes_of(feature, site),
                                                        static_cast<std::uint8_t>(split.a));
        graph.kind[index] = static_cast<std::uint8_t>(Kind::axis);
        graph.feature[index] = split.feature;
        graph.threshold[index] =
            site.random ? split.threshold : cut_between(column, split.a, split.b).threshold;
        Sum left_weight = 0;
        for (std::uint32_t j = 0; j < n_present_; ++j) {
            for (std::uint32_t d = 0; d < n_digits_; ++d) {
                left_weight += static_cast<Sum>(std::popcount(left & present_digits_[j][d])) << d;
            }
        }
        graph.missing_left[index] = left_weight > sum_ - left_weight;
        stack_.push_back(node.child(index, false, node.rows & ~left));
        stack_.push_back(node.child(index, true, left));
    }

    // The subtree.
    NodeRows<Stats> subtree_{};
    std::uint32_t n_digits_ = 1, n_taken_ = 0;
    std::array<std::uint8_t, most_rows> class_of_{}, weight_of_{};
    std::array<Set, most_rows> rows_of_class_{};
    std::array<std::array<Set, most_digits>, most_rows> digits_{};  // by class
    std::vector<std::uint8_t> codes_;
    std::vector<std::uint32_t> copied_;  // by feature: the subtree that its codes are of
    std::vector<Node> stack_;

    // The node.
    std::uint32_t n_ = 0, n_present_ = 0;
    Sum sum_ = 0, squares_ = 0;
    double weight_ = 0;
    std::array<std::uint8_t, most_rows> present_{};  // its classes
    std::array<std::array<Set, most_digits>, most_rows> present_digits_{};
    std::array<Number, most_rows> total_{}, left_{};  // by class
    std::array<std::uint8_t, most_rows> in_node_{}, at_{};
    std::array<std::int16_t, most_rows> keys_{};
    std::array<std::uint16_t, most_rows> sorted_{};
};

}  // namespace hedgerow
