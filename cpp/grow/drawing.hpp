// Drawing the features that a node looks at.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "grow/split.hpp"

namespace hedgerow {

struct FeatureDraw {
    std::uint32_t n_features, max_features;

    // The best split of features drawn without replacement until max_features were looked at and
    // one of them varied. Known constants count as looked at, as in scikit-learn. A split into two
    // pure children ends the search: nothing can be better (most nodes of a full-grown tree have
    // two or three rows).
    //
    // `features` lists all features; the first `n_constant` are constant in the node, and those
    // found on the way join them. look(feature, random, best) tells whether a feature varies.
    template <class Look>
    Split best(std::vector<std::uint32_t>& features, std::uint32_t& n_constant, std::uint64_t key,
               const SplitRules& rules, double pure_score, const Look& look) const {
        Split best;
        Random random(key);
        const std::uint32_t n_known = n_constant;
        std::uint32_t open = n_features, drawn_constants = 0, found_constants = 0, looked_at = 0;
        while (open > n_constant && best.score < pure_score - rules.tolerance &&
               (looked_at < max_features || looked_at <= found_constants + drawn_constants)) {
            ++looked_at;
            auto at = static_cast<std::uint32_t>(
                drawn_constants + random.below(open - found_constants - drawn_constants));
            if (at < n_known) {  // which one does not matter, and the front stays as it is
                ++drawn_constants;
                continue;
            }
            at += found_constants;
            if (look(features[at], random, best)) {
                std::swap(features[at], features[--open]);
            } else {
                std::swap(features[at], features[n_constant++]);
                ++found_constants;
            }
        }
        return best;
    }
};

}  // namespace hedgerow
