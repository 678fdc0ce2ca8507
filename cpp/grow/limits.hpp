// What growth must respect, whatever the node: limits of the tree, and what a gain is.
#pragma once

#include <cmath>
#include <cstdint>

#include "grow/params.hpp"
#include "grow/split.hpp"

namespace hedgerow {

struct Limits {
    GrowParams params;
    double total_weight = 0;  // of the whole tree

    // Whether a node may be split as far as its size goes.
    bool may_split(std::uint32_t depth, std::uint32_t n, double weight, double impurity) const {
        if (params.max_depth >= 0 && depth >= params.max_depth) return false;
        if (n < params.min_samples_split || n < 2 * params.min_samples_leaf) return false;
        if (weight < 2 * params.min_weight_leaf) return false;
        // No subtree removes more than the node's whole loss: pruning would take it away again.
        return params.ccp_alpha <= 0 || weight * impurity / total_weight > params.ccp_alpha;
    }

    // weight * impurity, in the units of scores.
    double loss_of(double weight, double impurity) const {
        return in_bits() ? weight * impurity * std::log(2.0) : weight * impurity;
    }

    SplitRules rules_for(double loss, double node_score, std::uint64_t key) const {
        return {static_cast<std::uint32_t>(params.min_samples_leaf), params.min_weight_leaf,
                1e-12 * (loss + std::abs(node_score)), key};
    }

    // The impurity decrease of a split, as a share of the whole tree's weight.
    double gain_of(double score, double node_score) const {
        const double gain = (score - node_score) / total_weight;
        return in_bits() ? gain / std::log(2.0) : gain;
    }
    bool gains_enough(double score, double node_score) const {
        return gain_of(score, node_score) + 1e-15 >= params.min_impurity_decrease;
    }

  private:
    bool in_bits() const { return params.criterion == GrowParams::Criterion::entropy; }
};

// The key of a tree's root. A tree that draws nothing does not depend on the seed either: it is the
// same in every run. 3 is as good as any other; with it iris is split on petal length first.
inline std::uint64_t root_key(const GrowParams& params, std::size_t n_features) {
    return scramble(params.draws(n_features) ? params.seed : 3);
}

}  // namespace hedgerow
