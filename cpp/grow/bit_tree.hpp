// Subtrees grown on bits: the small ones of every tree that draws features (most nodes of a
// full-grown tree have two or three rows), and large ones where thresholds are drawn, too.
//
// set      rows of a subtree, a bit each; words without rows are left out. A child is its parent's
//          set without some bits: no row is moved
// piece    the rows of one class in one word of a node's set
// codes    those of a feature next to each other, copied when it is first drawn
// block    a subtree of several words. A node that fills few bits of its words becomes a block of
//          its own, and one of at most 64 rows a tree of one word
//
// A random threshold costs a few instructions for 64 rows: the range of the codes, the bits of
// those below it, and a population count for each piece and binary digit of the weights. The best
// threshold is found in one word only, over its rows in order.
//
// Gain, against the general search in one thread (letter, optdigits, mnist): extra trees take 0.66,
// 0.8 and 1.0 of its time, random forests 1.0 of it; their instructions are 0.65, 0.75, 1.0
// and 1.0.
//
// For Gini, whole weights and numbers of at most 255 bins without missing values. Such a subtree is
// that of the general search, split for split.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "grow/missing.hpp"
#include "grow/random_split.hpp"
#include "grow/row_bits.hpp"
#include "grow/split_search.hpp"
#include "grow/subtree.hpp"

namespace hedgerow {

inline bool reads_bits(const CodeView& view) {
    return view.narrow && !view.column->categorical && !view.column->has_missing;
}

namespace bits {

using subtree::GiniBorder;
using subtree::NodeStart;
using subtree::Site;

// `one_word`: the subtree has at most 64 rows, and all that is kept by word is a single one.
template <class Sides, bool one_word>
class BitTree {
    using Stats = typename Sides::Stats;
    using Sum = typename Stats::Sum;
    using Rows = NodeRows<Stats>;

    static constexpr std::uint32_t least_filled = 8;  // of the 64 bits of a word, on average

    struct Word {
        std::uint32_t at;  // which word of the subtree
        Set rows;
    };
    template <class T>
    using ByWord = std::conditional_t<one_word, std::array<T, 1>, std::vector<T>>;

    struct Node {
        NodeStart start;
        std::uint64_t set;  // one word, or where its words begin in `waiting_`, up to the end
    };

    struct Piece {
        std::uint32_t word;  // which word of the node
        std::uint32_t k;     // which class of the subtree
        Set rows;
    };

  public:
    // Takes the rows of a subtree, in the order of their classes; false if a weight is too large.
    bool take(const Rows& rows, std::uint32_t n_features) {
        if (!weights_.take(rows)) return false;
        subtree_ = rows;
        n_words_ = one_word ? 1 : words_for(rows.n);
        set_classes();
        const std::size_t size = std::size_t(n_words_) * word_rows * n_features;
        if (codes_.size() < size) codes_.resize(size);
        copied_.resize(n_features);
        if (++n_taken_ == 0) {
            std::fill(copied_.begin(), copied_.end(), 0u);
            n_taken_ = 1;
        }
        return true;
    }

    // Grows it; grow_apart(rows, start) is asked to grow what is too small for a block.
    template <class GrowApart>
    void grow(const NodeStart& root, const Site& site, const GrowApart& grow_apart) {
        push_all(root);
        while (!stack_.empty()) {
            Node node = stack_.back();
            stack_.pop_back();
            pop_words(node);
            if constexpr (!one_word) {
                const auto filled = least_filled * static_cast<std::uint32_t>(words_.size());
                if (n_ < subtree_.n && (n_ <= word_rows || n_ < filled)) {
                    copy_rows();
                    grow_apart(apart_.view(), node.start);
                    continue;
                }
            }
            read_pieces();
            const std::int32_t index = write(node.start.place, site.graph);
            if (n_present_ == 1 ||
                !site.limits.may_split(node.start.depth, n_, static_cast<double>(sum_),
                                       site.graph.impurity[index])) {
                continue;
            }
            const Split split = find_split(node.start, index, site);
            if (split.found()) divide(node.start, index, split, site);
        }
    }

  private:
    void set_classes() {
        if (class_of_.size() < subtree_.n) class_of_.resize(subtree_.n);
        classes_.clear();
        for (std::uint32_t i = 0; i < subtree_.n; ++i) {
            const std::int32_t y = subtree_.targets[i];
            if (classes_.empty() || classes_.back() != y) {
                classes_.push_back(y);
                class_end_.resize(classes_.size());
            }
            class_end_[classes_.size() - 1] = i + 1;
            class_of_[i] = static_cast<std::uint32_t>(classes_.size() - 1);
        }
        total_.resize(classes_.size());
        left_.resize(classes_.size());
    }

    void push_all(const NodeStart& root) {
        stack_.assign(1, {root, 0});
        if constexpr (one_word) {
            stack_[0].set = first_rows(subtree_.n);
        } else {
            waiting_.clear();
            for (std::uint32_t w = 0; w < n_words_; ++w) {
                waiting_.push_back(
                    {w, first_rows(std::min(subtree_.n - w * word_rows, word_rows))});
            }
        }
    }

    // The words of the node that comes next, and how many rows are in them.
    void pop_words(const Node& node) {
        if constexpr (one_word) {
            words_[0] = {0, node.set};
        } else {
            words_.assign(waiting_.begin() + static_cast<std::ptrdiff_t>(node.set), waiting_.end());
            waiting_.resize(node.set);
        }
        n_ = 0;
        for (const Word& word : words_) n_ += static_cast<std::uint32_t>(std::popcount(word.rows));
    }

    // The present node's rows, for a subtree of their own.
    void copy_rows() {
        apart_.clear();
        for (const Word& word : words_) {
            for (Set rest = word.rows; rest != 0; rest &= rest - 1) {
                apart_.add(subtree_, word.at * word_rows +
                                         static_cast<std::uint32_t>(std::countr_zero(rest)));
            }
        }
    }

    // The pieces of the present node, its classes and their weights. Rows are in the order of their
    // classes, so the pieces of a class follow each other.
    void read_pieces() {
        if (pieces_.size() < words_.size() + classes_.size()) {
            pieces_.resize(words_.size() + classes_.size());
        }
        n_pieces_ = n_present_ = 0;
        sum_ = squares_ = 0;
        std::uint32_t last = ~0u;
        Sum total = 0;
        const auto close = [&] {
            total_[last] = total;
            sum_ += total;
            squares_ += total * total;
            ++n_present_;
        };
        for (std::uint32_t w = 0; w < words_.size(); ++w) {
            const std::uint32_t begin = words_[w].at * word_rows;
            for (Set rest = words_[w].rows; rest != 0;) {
                const std::uint32_t k =
                    class_of_[begin + static_cast<std::uint32_t>(std::countr_zero(rest))];
                const std::uint32_t end = class_end_[k] - begin;
                const Set rows = end >= word_rows ? rest : rest & ((Set{1} << end) - 1);
                if (k != last) {
                    if (last != ~0u) close();
                    last = k;
                    total = 0;
                }
                pieces_[n_pieces_++] = {w, k, rows};
                total += weights_.of(words_[w].at, rows);
                rest &= ~rows;
            }
        }
        close();
    }

    double score() const { return static_cast<double>(squares_) / static_cast<double>(sum_); }

    std::int32_t write(Place place, DecisionGraph& graph) const {
        const auto weight = static_cast<double>(sum_);
        const std::int32_t index =
            graph.add_leaf(place, n_, weight, std::max(0.0, 1 - score() / weight));
        double* value = graph.value.data() + std::size_t(index) * graph.n_outputs;
        for (std::uint32_t i = 0; i < n_pieces_; ++i) {
            const std::uint32_t k = pieces_[i].k;
            value[classes_[k]] = static_cast<double>(total_[k]) / weight;
        }
        return index;
    }

    // The codes of a feature: those of the data set, which a gathered block ranks anew.
    const std::uint8_t* codes_of(std::uint32_t feature, const Site& site) {
        std::uint8_t* const codes =
            codes_.data() + std::size_t(feature) * (one_word ? 1 : n_words_) * word_rows;
        if (copied_[feature] != n_taken_) {
            copied_[feature] = n_taken_;
            const CodeView& view = site.views[feature];
            const Row* const rows = subtree_.rows;
            for (std::uint32_t i = 0; i < subtree_.n; ++i) {
                codes[i] = static_cast<std::uint8_t>(view.data_code(view.narrow[rows[i]]));
            }
        }
        return codes;
    }

    Split find_split(NodeStart& node, std::int32_t index, const Site& site) {
        const double loss =
            site.limits.loss_of(static_cast<double>(sum_), site.graph.impurity[index]);
        const SplitRules rules = site.limits.rules_for(loss, score(), node.key);
        const bool sorted = one_word && !site.random;
        if (sorted) {
            list_rows();
        } else {
            spread_rows();
        }
        Split best = site.draw.best(site.features, node.n_constant, node.key, rules, score() + loss,
                                    [&](std::uint32_t feature, Random& random, Split& best) {
                                        const std::uint8_t* codes = codes_of(feature, site);
                                        const auto f = static_cast<std::int32_t>(feature);
                                        if (sorted) return scan_sorted(f, codes, rules, best);
                                        return scan_random(f, codes, *site.views[feature].column,
                                                           rules, random, best);
                                    });
        if (best.found() && !site.limits.gains_enough(best.score, score())) best = {};
        return best;
    }

    void spread_rows() {
        if constexpr (!one_word) {
            left_words_.resize(words_.size());
            in_node_.resize(words_.size() * word_rows);
        }
        for (std::size_t w = 0; w < words_.size(); ++w) {
            spread(words_[w].rows, in_node_.data() + w * word_rows);
        }
    }

    // The rows of the node's words whose codes are at most `last`; returns how many.
    std::uint32_t find_left(const std::uint8_t* codes, std::uint8_t last) {
        std::uint32_t n_left = 0;
        for (std::size_t w = 0; w < words_.size(); ++w) {
            left_words_[w] =
                words_[w].rows & up_to(codes + std::size_t(words_[w].at) * word_rows, last);
            n_left += static_cast<std::uint32_t>(std::popcount(left_words_[w]));
        }
        return n_left;
    }

    bool scan_random(std::int32_t feature, const std::uint8_t* codes, const Column& column,
                     const SplitRules& rules, Random& random, Split& best) {
        const auto [low, high] = range_of(codes);
        if (low == high) return false;
        const Cut cut = random_cut(column, low, high, random);
        const auto last_left = static_cast<std::uint8_t>(cut.last_left);
        const std::uint32_t n_left = find_left(codes, last_left);
        GiniBorder<Sides> border{0, 0, 0, 0, n_left, n_ - n_left};
        Sum l = 0;
        for (std::uint32_t i = 0; i < n_pieces_; ++i) {
            const Piece& piece = pieces_[i];
            const std::uint32_t word = one_word ? 0 : piece.word;
            l += weights_.of(words_[word].at, left_words_[word] & piece.rows);
            if (!one_word && i + 1 < n_pieces_ && pieces_[i + 1].k == piece.k) continue;
            const Sum r = total_[piece.k] - l;
            border.sum_left += l;
            border.squares_left += l * l;
            border.squares_right += r * r;
            l = 0;
        }
        border.sum_right = sum_ - border.sum_left;
        if (detail::take_border(border, rules, feature, last_left, false, best)) {
            best.threshold = cut.threshold;
        }
        return true;
    }

    // The lowest and the highest code of the present node's rows.
    std::pair<std::uint8_t, std::uint8_t> range_of(const std::uint8_t* codes) const {
        std::array<std::uint8_t, word_rows> lows, highs;
        lows.fill(255);
        highs.fill(0);
        for (std::size_t w = 0; w < words_.size(); ++w) {
            const std::uint8_t* of_word = codes + std::size_t(words_[w].at) * word_rows;
            const std::uint8_t* in_node = in_node_.data() + w * word_rows;
            for (std::uint32_t i = 0; i < word_rows; ++i) {
                lows[i] = std::min(lows[i], static_cast<std::uint8_t>(of_word[i] | ~in_node[i]));
                highs[i] = std::max(highs[i], static_cast<std::uint8_t>(of_word[i] & in_node[i]));
            }
        }
        std::uint8_t low = 255, high = 0;
        for (std::uint32_t i = 0; i < word_rows; ++i) {
            low = std::min(low, lows[i]);
            high = std::max(high, highs[i]);
        }
        return {low, high};
    }

    void list_rows() {
        std::uint32_t n = 0;
        for (Set rest = words_[0].rows; rest != 0; rest &= rest - 1) {
            at_[n++] = static_cast<std::uint8_t>(std::countr_zero(rest));
        }
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
        for (std::uint32_t i = 0; i < n_pieces_; ++i) left_[pieces_[i].k] = 0;
        GiniBorder<Sides> border{0, squares_, 0, sum_, 0, n_};
        for (std::uint32_t i = 0; i + 1 < n_; ++i) {
            const std::uint32_t at = sorted_[i] & 63, k = class_of_[at];
            const Sum w = weights_.of_row(at), l = left_[k], r = total_[k] - l;
            border.squares_left += w * (2 * l + w);
            border.squares_right -= w * (2 * r - w);
            border.sum_left += w;
            border.sum_right -= w;
            ++border.count_left;
            --border.count_right;
            left_[k] = l + w;
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
        std::array<std::int16_t, word_rows> ranks;
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

    void divide(const NodeStart& node, std::int32_t index, const Split& split, const Site& site) {
        const auto feature = static_cast<std::uint32_t>(split.feature);
        find_left(codes_of(feature, site), static_cast<std::uint8_t>(split.a));
        Sum left_weight = 0;
        for (std::size_t w = 0; w < words_.size(); ++w) {
            left_weight += weights_.of(words_[w].at, left_words_[w]);
        }
        const double threshold =
            site.random ? split.threshold
                        : cut_between(*site.views[feature].column, split.a, split.b).threshold;
        site.graph.set_axis(
            index, split.feature, threshold,
            unseen_goes_left(static_cast<double>(left_weight), static_cast<double>(sum_)));
        for (const bool is_left : {false, true}) {
            const NodeStart start = node.child(index, is_left);
            if constexpr (one_word) {
                stack_.push_back(
                    {start, words_[0].rows & (is_left ? left_words_[0] : ~left_words_[0])});
            } else {
                stack_.push_back({start, waiting_.size()});
                for (std::size_t w = 0; w < words_.size(); ++w) {
                    const Set rows = words_[w].rows & (is_left ? left_words_[w] : ~left_words_[w]);
                    if (rows != 0) waiting_.push_back({words_[w].at, rows});
                }
            }
        }
    }

    // Rows that leave a block, with room that is kept.
    struct RowList {
        std::vector<Row> rows;
        std::vector<typename Stats::Target> targets;
        std::vector<typename Stats::Weight> weights;

        void clear() { rows.clear(), targets.clear(), weights.clear(); }
        void add(const Rows& from, std::uint32_t i) {
            rows.push_back(from.rows[i]);
            targets.push_back(from.targets[i]);
            if constexpr (Stats::weighted) weights.push_back(from.weights[i]);
        }
        Rows view() const {
            return {rows.data(), targets.data(), Stats::weighted ? weights.data() : nullptr,
                    static_cast<std::uint32_t>(rows.size()), nullptr};
        }
    };

    // The subtree.
    Rows subtree_{};
    std::uint32_t n_words_ = 1, n_taken_ = 0;
    Weights<Stats> weights_;
    std::vector<std::uint32_t> class_of_;  // by row: which of the classes that are there
    std::vector<std::int32_t> classes_;    // those of the data set
    std::vector<std::uint32_t> class_end_;
    std::vector<std::uint8_t> codes_;    // by feature
    std::vector<std::uint32_t> copied_;  // by feature: the subtree that its codes are of
    std::vector<Node> stack_;
    std::vector<Word> waiting_;  // the words of the nodes on the stack
    RowList apart_;

    // The node.
    std::uint32_t n_ = 0, n_present_ = 0, n_pieces_ = 0;
    Sum sum_ = 0, squares_ = 0;
    ByWord<Word> words_{};
    ByWord<Set> left_words_{};  // its rows left of a border
    std::vector<Piece> pieces_;
    std::vector<Sum> total_, left_;  // by class
    std::conditional_t<one_word, std::array<std::uint8_t, word_rows>, std::vector<std::uint8_t>>
        in_node_{};  // 255 for its rows
    std::array<std::uint8_t, word_rows> at_{};
    std::array<std::int16_t, word_rows> keys_{};
    std::array<std::uint16_t, word_rows> sorted_{};
};

}  // namespace bits

// Subtrees of any size, block within block.
template <class Sides>
class BitTrees {
    using Rows = NodeRows<typename Sides::Stats>;

  public:
    // Grows a subtree whose rows are in the order of their classes; false where it cannot: a weight
    // is too large, or the best of all thresholds is wanted for more than 64 rows.
    bool grow(const Rows& rows, const bits::NodeStart& root, const bits::Site& site,
              std::size_t level = 0) {
        if (rows.n <= bits::word_rows) return grow_with(small_, rows, root, site, level);
        if (!site.random) return false;
        if (blocks_.size() <= level) blocks_.push_back(std::make_unique<Block>());
        return grow_with(*blocks_[level], rows, root, site, level);
    }

  private:
    using Block = bits::BitTree<Sides, false>;

    template <class Tree>
    bool grow_with(Tree& tree, const Rows& rows, const bits::NodeStart& root,
                   const bits::Site& site, std::size_t level) {
        if (!tree.take(rows, site.draw.n_features)) return false;
        tree.grow(root, site, [&](const Rows& apart, const bits::NodeStart& start) {
            grow(apart, start, site, level + 1);
        });
        return true;
    }

    bits::BitTree<Sides, true> small_;
    std::vector<std::unique_ptr<Block>> blocks_;
};

}  // namespace hedgerow
