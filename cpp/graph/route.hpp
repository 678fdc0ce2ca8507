// Many rows through one graph, node by node: a test is read once for all rows that reach it, and
// neighbouring rows are answered together.
#pragma once

#include <cstdint>
#include <numeric>
#include <vector>

#include "graph/decision_graph.hpp"

namespace hedgerow {

// Writes the leaf of each of n rows, where at(i) is the i-th.
template <class At>
void find_leaves(const DecisionGraph& graph, std::size_t n, At at, std::int32_t* leaves) {
    struct Group {
        std::int32_t node;
        std::size_t begin, end;
    };
    constexpr std::size_t few = 4;  // such rows go their own ways
    std::vector<std::uint32_t> rows(n), right(n);
    std::vector<double> sums(n);
    std::iota(rows.begin(), rows.end(), 0u);
    std::vector<Group> stack{{0, 0, n}};
    while (!stack.empty()) {
        const auto [node, begin, end] = stack.back();
        stack.pop_back();
        if (end - begin < few || graph.is_leaf(node)) {
            for (std::size_t i = begin; i < end; ++i) {
                leaves[rows[i]] = graph.leaf_of(at(rows[i]), node);
            }
            continue;
        }
        std::size_t to = begin, n_right = 0;
        const auto divide = [&](const auto& goes_left) {
            for (std::size_t i = begin; i < end; ++i) {
                const std::uint32_t row = rows[i];
                const bool left = goes_left(i);
                right[n_right] = row;
                rows[to] = row;
                to += left;
                n_right += !left;
            }
        };
        const auto feature = graph.feature[node];
        const double threshold = graph.threshold[node];
        const bool missing_left = graph.missing_left[node];
        switch (static_cast<Kind>(graph.kind[node])) {
            case Kind::axis:
                divide([&](std::size_t i) {
                    const auto v = static_cast<double>(at(rows[i])[feature]);
                    return (v <= threshold) | ((v != v) & missing_left);
                });
                break;
            case Kind::oblique:
                graph.tests.oblique[graph.detail[node]]->sums(
                    end - begin, [&](std::size_t i) { return at(rows[begin + i]); }, sums.data());
                divide([&](std::size_t i) { return sums[i - begin] < threshold; });
                break;
            default:
                divide([&](std::size_t i) {
                    return graph.next(node, at(rows[i])) == graph.left[node];
                });
        }
        std::copy_n(right.begin(), n_right, rows.begin() + static_cast<std::ptrdiff_t>(to));
        stack.push_back({graph.right[node], to, end});
        stack.push_back({graph.left[node], begin, to});
    }
}

}  // namespace hedgerow
