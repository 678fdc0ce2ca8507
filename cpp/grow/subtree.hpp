// What the general grower hands over to growers of small subtrees (bit_tree.hpp, row_tree.hpp).
#pragma once

#include <cstdint>
#include <vector>

#include "graph/decision_graph.hpp"
#include "grow/drawing.hpp"
#include "grow/limits.hpp"
#include "grow/split.hpp"

namespace hedgerow::subtree {

// Where a node belongs, and what its search starts from.
struct NodeStart {
    Place place;
    std::uint32_t depth;
    std::uint32_t n_constant;
    std::uint64_t key;

    NodeStart child(std::int32_t index, bool is_left) const {
        return {{index, is_left}, depth + 1, n_constant, key_of(key, is_left ? 1 : 2)};
    }
};

struct Site {
    const std::vector<CodeView>& views;
    DecisionGraph& graph;
    std::vector<std::uint32_t>& features;  // see FeatureDraw
    const FeatureDraw& draw;
    const Limits& limits;
    bool random;  // thresholds are drawn too
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

}  // namespace hedgerow::subtree
