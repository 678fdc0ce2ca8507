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
        draw(
            features, n_constant, key, [&] { return best.score >= pure_score - rules.tolerance; },
            [&](std::uint32_t feature, Random& random) { return look(feature, random, best); },
            [&](std::uint32_t& a, std::uint32_t& b) { std::swap(a, b); });
        return best;
    }

    // The same draws for whoever judges them afterwards: look(feature, random) as above, ended()
    // for the end of the search, and exchange(a, b) for each swap of two places of `features`.
    template <class Ended, class Look, class Exchange>
    void draw(std::vector<std::uint32_t>& features, std::uint32_t& n_constant, std::uint64_t key,
              const Ended& ended, const Look& look, const Exchange& exchange) const {
        Random random(key);
        const std::uint32_t n_known = n_constant;
        std::uint32_t open = n_features, drawn_constants = 0, found_constants = 0, looked_at = 0;
        while (open > n_constant && !ended() &&
               (looked_at < max_features || looked_at <= found_constants + drawn_constants)) {
            ++looked_at;
            auto at = static_cast<std::uint32_t>(
                drawn_constants + random.below(open - found_constants - drawn_constants));
            if (at < n_known) {  // which one does not matter, and the front stays as it is
                ++drawn_constants;
                continue;
            }
            at += found_constants;
            if (look(features[at], random)) {
                exchange(features[at], features[--open]);
            } else {
                exchange(features[at], features[n_constant++]);
                ++found_constants;
            }
        }
    }
};

}  // namespace hedgerow
