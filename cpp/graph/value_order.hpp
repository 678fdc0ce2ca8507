// Monotone constraints on any tree or graph: values of its leaves that keep to them.
//
// pair   two nodes where two rows can stand that differ in one feature alone, the first of them
// with
//        the smaller number. Of a pair of leaves one value must not be larger than the other
// box    what such rows can have of each feature, by the tests on the way. A pair that is reached
// in
//        several ways has a box around them all: where nodes are shared a little more may be asked
//        than is needed, never less
//
// Values in the wrong order become the nearest ones in order, by weighted squares. Cost: the pairs
// of nodes below tests of such features, times the sweeps until the values rest.
#pragma once

#include <cstdint>
#include <span>

#include "graph/decision_graph.hpp"

namespace hedgerow {

// `directions` by feature: 1, predictions do not fall as it rises; -1, they do not rise. Values are
// numbers, or the share of the second of two classes. Throws std::invalid_argument for other values
// and for tests of several features.
void put_in_order(DecisionGraph& graph, std::span<const std::int8_t> directions);

}  // namespace hedgerow
