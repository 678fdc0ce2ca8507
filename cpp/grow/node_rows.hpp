// A node's rows as the search of its split reads them: a range of the grower's own arrays.
#pragma once

#include <cstdint>

#include "data/dataset.hpp"

namespace hedgerow {

// Whether targets are places of rows of several outputs (grow/several_outputs.hpp).
template <class Stats>
concept has_several = requires { Stats::several; };

template <class Stats>
struct NodeRows {
    const Row* rows;
    const typename Stats::Target* targets;
    const typename Stats::Weight* weights;  // null when unweighted
    std::uint32_t n;
    const typename Stats::Number* total;

    auto weight(std::uint32_t i) const {
        if constexpr (Stats::weighted) return weights[i];
        return typename Stats::Weight{1};
    }
};

}  // namespace hedgerow
