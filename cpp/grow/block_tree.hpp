// Subtrees with random thresholds, grown on bits.
//
// block    the rows of a subtree in the order of their classes, with the codes of the features that
//          were drawn so far next to each other
// set      rows of a block, a bit each; words without rows are left out
// piece    the rows of one class in one word of a node's set
//
// A feature costs a few instructions for 64 rows: the range of its codes, the bits of those below
// the threshold, and a population count for each piece and binary digit of the weights. No row is
// moved. A node that fills few bits of its words becomes a block of its own, and one of at
// most 64 rows a small tree.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <vector>

#include "grow/small_tree.hpp"

namespace hedgerow {

template <class Sides>
class BlockTree {
    using Stats = typename Sides::Stats;
    using Number = typename Stats::Number;
    using Sum = typename Stats::Sum;
    using Set = std::uint64_t;
    using Site = typename SmallTree<Sides>::Site;

    static constexpr std::uint32_t word_rows = 64;
    static constexpr std::uint32_t most_digits = 8;
    static constexpr std::uint32_t least_filled = 8;  // of the 64 bits of a word, on average

  public:
    // Grows a subtree whose rows are in the order of their classes; false where it cannot: a weight
    // is too large, or the best of all thresholds is wanted for more than 64 rows.
    bool grow(const NodeRows<Stats>& rows, const SmallNode& root, const Site& site) {
        if (rows.n > most_small_rows) return site.random && grow_block(0, rows, root, site);
        return grow_small(rows, root, site);
    }

  private:
    struct Node {
        SmallNode place;
        std::size_t words;  // where its words begin in Block::waiting, up to the end
    };

    struct Word {
        std::uint32_t at;  // which word of the block
        Set rows;
    };

    struct Piece {
        std::uint32_t word;  // which word of the node
        std::uint32_t k;     // which class of the block
        Set rows;
    };

    struct Block {
        std::vector<Row> rows;
        std::vector<typename Stats::Target> targets;
        std::vector<Number> weights;
        std::uint32_t n_words = 0, n_digits = 1;
        std::vector<std::uint32_t> class_end;  // behind the last row of each class that is there
        std::vector<Set> digits;               // by word, then by digit of the weights
        std::vector<std::uint8_t> codes;       // by feature
        std::vector<std::uint8_t> copied;      // whether a feature's codes are there
        std::vector<Node> stack;
        std::vector<Word> waiting;  // the words of the nodes on the stack

        NodeRows<Stats> view() const {
            return {rows.data(), targets.data(), Stats::weighted ? weights.data() : nullptr,
                    static_cast<std::uint32_t>(rows.size()), nullptr};
        }
    };

    bool grow_small(const NodeRows<Stats>& rows, const SmallNode& root, const Site& site) {
        if (!small_.take(rows, site.draw.n_features)) return false;
        small_.grow(root, site);
        return true;
    }

    bool grow_block(std::size_t level, const NodeRows<Stats>& rows, const SmallNode& root,
                    const Site& site) {
        if (blocks_.size() <= level) blocks_.push_back(std::make_unique<Block>());
        Block& block = *blocks_[level];
        if (!fill(block, rows, site.draw.n_features)) return false;
        block.stack.clear();
        block.waiting.clear();
        for (std::uint32_t w = 0; w < block.n_words; ++w) {
            const std::uint32_t n = std::min(rows.n - w * word_rows, word_rows);
            block.waiting.push_back({w, ~Set{0} >> (word_rows - n)});
        }
        block.stack.push_back({root, 0});
        while (!block.stack.empty()) {
            Node node = block.stack.back();
            block.stack.pop_back();
            words_.assign(block.waiting.begin() + node.words, block.waiting.end());
            block.waiting.resize(node.words);
            n_ = 0;
            for (const Word& word : words_) {
                n_ += static_cast<std::uint32_t>(std::popcount(word.rows));
            }
            const bool whole = n_ == block.rows.size();
            if (!whole && (n_ <= most_small_rows ||
                           n_ < least_filled * static_cast<std::uint32_t>(words_.size()))) {
                grow_apart(level, block, node.place, site);
                continue;
            }
            read(block);
            const std::int32_t index = write(block, node.place, site.graph);
            if (n_present_ == 1 ||
                !site.limits.may_split(node.place.depth, n_, static_cast<double>(sum_),
                                       site.graph.impurity[index])) {
                continue;
            }
            const Split split = find_split(block, node.place, index, site);
            if (split.found()) divide(block, node.place, index, split, site);
        }
        return true;
    }

    bool fill(Block& block, const NodeRows<Stats>& node, std::uint32_t n_features) {
        Number heaviest = 1;
        for (std::uint32_t i = 0; i < node.n; ++i) heaviest = std::max(heaviest, node.weight(i));
        const int n_digits = std::bit_width(static_cast<std::uint32_t>(heaviest));
        if (n_digits > static_cast<int>(most_digits)) return false;
        if (node.rows != block.rows.data()) {  // they may be there already
            block.rows.assign(node.rows, node.rows + node.n);
            block.targets.assign(node.targets, node.targets + node.n);
            if constexpr (Stats::weighted) {
                block.weights.assign(node.weights, node.weights + node.n);
            }
        }
        block.n_words = (node.n + word_rows - 1) / word_rows;
        block.n_digits = static_cast<std::uint32_t>(n_digits);
        if constexpr (Stats::weighted) {
            bytes_.assign(std::size_t(block.n_words) * word_rows, 0);
            std::copy_n(node.weights, node.n, bytes_.begin());
            block.digits.clear();
            for (std::uint32_t w = 0; w < block.n_words; ++w) {
                for (std::uint32_t d = 0; d < block.n_digits; ++d) {
                    block.digits.push_back(
                        detail::bits_of_digit(bytes_.data() + std::size_t(w) * word_rows, d));
                }
            }
        }
        block.class_end.clear();
        for (std::uint32_t at = 0; at < node.n;) {
            const auto* end =
                std::upper_bound(node.targets + at, node.targets + node.n, node.targets[at]);
            block.class_end.push_back(at = static_cast<std::uint32_t>(end - node.targets));
        }
        const std::size_t size = std::size_t(block.n_words) * word_rows * n_features;
        if (block.codes.size() < size) block.codes.resize(size);
        block.copied.assign(n_features, 0);
        return true;
    }

    // The rows of the present node as a small tree, or as a block of their own.
    void grow_apart(std::size_t level, const Block& block, const SmallNode& place,
                    const Site& site) {
        if (blocks_.size() <= level + 1) blocks_.push_back(std::make_unique<Block>());
        Block& apart = *blocks_[level + 1];
        apart.rows.clear();
        apart.targets.clear();
        apart.weights.clear();
        for (const Word& word : words_) {
            for (Set rest = word.rows; rest != 0; rest &= rest - 1) {
                const std::uint32_t at =
                    word.at * word_rows + static_cast<std::uint32_t>(std::countr_zero(rest));
                apart.rows.push_back(block.rows[at]);
                apart.targets.push_back(block.targets[at]);
                if constexpr (Stats::weighted) apart.weights.push_back(block.weights[at]);
            }
        }
        const NodeRows<Stats> rows = apart.view();
        if (n_ > most_small_rows || !grow_small(rows, place, site)) {
            grow_block(level + 1, rows, place, site);
        }
    }

    // The pieces of the present node, its classes and their weights.
    void read(const Block& block) {
        pieces_.clear();
        n_present_ = 0;
        sum_ = squares_ = 0;
        total_.resize(block.class_end.size());
        std::uint32_t k = 0;
        Sum total = 0;
        const auto close = [&] {
            if (total == 0) return;
            total_[n_present_++] = total;
            sum_ += total;
            squares_ += total * total;
            total = 0;
        };
        for (std::uint32_t w = 0; w < words_.size(); ++w) {
            const std::uint32_t begin = words_[w].at * word_rows;
            Set rest = words_[w].rows;
            while (rest != 0) {
                const auto first = begin + static_cast<std::uint32_t>(std::countr_zero(rest));
                if (first >= block.class_end[k]) {
                    close();
                    while (first >= block.class_end[k]) ++k;
                }
                const std::uint32_t end = block.class_end[k] - begin;
                const Set rows = end >= word_rows ? rest : rest & ((Set{1} << end) - 1);
                pieces_.push_back({w, k, rows});
                total += weight_of(block, words_[w].at, rows);
                rest &= ~rows;
            }
        }
        close();
    }

    static std::uint32_t weight_of(const Block& block, std::uint32_t word, Set rows) {
        if constexpr (!Stats::weighted) return static_cast<std::uint32_t>(std::popcount(rows));
        const Set* digits = block.digits.data() + std::size_t(word) * block.n_digits;
        std::uint32_t sum = 0;
        for (std::uint32_t d = 0; d < block.n_digits; ++d) {
            sum += static_cast<std::uint32_t>(std::popcount(rows & digits[d])) << d;
        }
        return sum;
    }

    double score() const { return static_cast<double>(squares_) / static_cast<double>(sum_); }

    std::int32_t write(const Block& block, const SmallNode& node, DecisionGraph& graph) const {
        const std::int32_t index = graph.add_node();
        const auto weight = static_cast<double>(sum_);
        graph.n_samples[index] = static_cast<std::int32_t>(n_);
        graph.weight[index] = weight;
        graph.impurity[index] = std::max(0.0, 1 - score() / weight);
        double* value = graph.value.data() + std::size_t(index) * graph.n_outputs;
        std::uint32_t j = 0;
        for (std::size_t i = 0; i < pieces_.size(); ++i) {
            if (i + 1 < pieces_.size() && pieces_[i + 1].k == pieces_[i].k) continue;
            const auto y = block.targets[block.class_end[pieces_[i].k] - 1];
            value[y] = static_cast<double>(total_[j++]) / weight;
        }
        if (node.parent >= 0) (node.is_left ? graph.left : graph.right)[node.parent] = index;
        return index;
    }

    const std::uint8_t* codes_of(Block& block, std::uint32_t feature, const Site& site) const {
        const std::size_t n = std::size_t(block.n_words) * word_rows;
        std::uint8_t* const codes = block.codes.data() + feature * n;
        if (!block.copied[feature]) {
            block.copied[feature] = 1;
            const CodeView& view = site.views[feature];
            const Row* const rows = block.rows.data();
            for (std::size_t i = 0; i < block.rows.size(); ++i) {
                codes[i] = static_cast<std::uint8_t>(view.data_code(view.narrow[rows[i]]));
            }
        }
        return codes;
    }

    Split find_split(Block& block, SmallNode& node, std::int32_t index, const Site& site) {
        const double loss =
            site.limits.loss_of(static_cast<double>(sum_), site.graph.impurity[index]);
        const SplitRules rules = site.limits.rules_for(loss, score(), node.key);
        bytes_.resize(words_.size() * word_rows);
        for (std::size_t w = 0; w < words_.size(); ++w) {
            detail::spread_bits(words_[w].rows, bytes_.data() + w * word_rows);
        }
        left_.resize(words_.size());
        Split best =
            site.draw.best(site.features, node.n_constant, node.key, rules, score() + loss,
                           [&](std::uint32_t feature, Random& random, Split& best) {
                               return scan(block, static_cast<std::int32_t>(feature),
                                           codes_of(block, feature, site),
                                           *site.views[feature].column, rules, random, best);
                           });
        if (best.found() && !site.limits.gains_enough(best.score, score())) best = {};
        return best;
    }

    bool scan(const Block& block, std::int32_t feature, const std::uint8_t* codes,
              const Column& column, const SplitRules& rules, Random& random, Split& best) {
        const auto [low, high] = range_of(codes);
        if (low == high) return false;
        const Cut cut = random_cut(column, low, high, random);
        const auto last_left = static_cast<std::uint8_t>(cut.last_left);
        std::uint32_t n_left = 0;
        for (std::size_t w = 0; w < words_.size(); ++w) {
            left_[w] = words_[w].rows &
                       detail::bits_up_to(codes + std::size_t(words_[w].at) * word_rows, last_left);
            n_left += static_cast<std::uint32_t>(std::popcount(left_[w]));
        }
        GiniBorder<Sides> border{0, 0, 0, 0, n_left, n_ - n_left};
        std::uint32_t j = 0;
        Sum l = 0;
        for (std::size_t i = 0; i < pieces_.size(); ++i) {
            const Piece& piece = pieces_[i];
            l += weight_of(block, words_[piece.word].at, left_[piece.word] & piece.rows);
            if (i + 1 < pieces_.size() && pieces_[i + 1].k == piece.k) continue;
            const Sum r = total_[j++] - l;
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
        std::uint8_t lows[word_rows], highs[word_rows];
        std::fill_n(lows, word_rows, std::uint8_t{255});
        std::fill_n(highs, word_rows, std::uint8_t{0});
        for (std::size_t w = 0; w < words_.size(); ++w) {
            const std::uint8_t* of_word = codes + std::size_t(words_[w].at) * word_rows;
            const std::uint8_t* in_node = bytes_.data() + w * word_rows;
            for (std::uint32_t i = 0; i < word_rows; ++i) {
                lows[i] = std::min(lows[i], static_cast<std::uint8_t>(of_word[i] | ~in_node[i]));
                highs[i] = std::max(highs[i], static_cast<std::uint8_t>(of_word[i] & in_node[i]));
            }
        }
        return {*std::min_element(lows, lows + word_rows),
                *std::max_element(highs, highs + word_rows)};
    }

    void divide(Block& block, const SmallNode& node, std::int32_t index, const Split& split,
                const Site& site) {
        DecisionGraph& graph = site.graph;
        const std::uint8_t* codes =
            codes_of(block, static_cast<std::uint32_t>(split.feature), site);
        const auto last_left = static_cast<std::uint8_t>(split.a);
        Sum left_weight = 0;
        const std::size_t right_words = block.waiting.size();
        for (std::size_t w = 0; w < words_.size(); ++w) {
            const auto [at, rows] = words_[w];
            left_[w] = rows & detail::bits_up_to(codes + std::size_t(at) * word_rows, last_left);
            left_weight += weight_of(block, at, left_[w]);
            if (const Set right = rows & ~left_[w]) block.waiting.push_back({at, right});
        }
        const std::size_t left_words = block.waiting.size();
        for (std::size_t w = 0; w < words_.size(); ++w) {
            if (left_[w]) block.waiting.push_back({words_[w].at, left_[w]});
        }
        graph.kind[index] = static_cast<std::uint8_t>(Kind::axis);
        graph.feature[index] = split.feature;
        graph.threshold[index] = split.threshold;
        graph.missing_left[index] = left_weight > sum_ - left_weight;
        block.stack.push_back({node.child(index, false), right_words});
        block.stack.push_back({node.child(index, true), left_words});
    }

    SmallTree<Sides> small_;
    std::vector<std::unique_ptr<Block>> blocks_;

    // The present node.
    std::uint32_t n_ = 0, n_present_ = 0;
    Sum sum_ = 0, squares_ = 0;
    std::vector<Sum> total_;  // of its classes
    std::vector<Word> words_;
    std::vector<Piece> pieces_;
    std::vector<std::uint8_t> bytes_;  // 255 for its rows
    std::vector<Set> left_;            // by word
};

}  // namespace hedgerow
