#include "tnt/trim.hpp"

#include <algorithm>
#include <vector>

#include "graph/coded.hpp"

namespace hedgerow {
namespace {

struct Removal {
    double cost;
    std::int32_t node;
    bool to_left;
    bool operator<(const Removal& other) const {
        return cost != other.cost ? cost < other.cost : node < other.node;
    }
};

// What it costs to take each split out, cheapest first.
std::vector<Removal> removals(const DecisionGraph& graph, const Dataset& data,
                              const double* numbers, std::span<const Row> rows, RowStats stats,
                              Team& team) {
    const CodedGraph coded(graph, data, numbers);
    stats.resize(0);
    stats.resize(graph.n_nodes());
    std::vector<std::int32_t> leaf(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        leaf[i] = coded.leaf_of(rows[i]);
        stats.add(leaf[i], rows[i]);
    }
    for (std::size_t node = 0; node < graph.n_nodes(); ++node) {
        stats.settle(static_cast<std::int32_t>(node));
    }
    std::vector<double> all_left(graph.n_nodes()), all_right(graph.n_nodes());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (i % 1024 == 0) team.checkpoint(0);
        const Row row = rows[i];
        const double lost = stats.row_loss(leaf[i], row);
        for (std::int32_t at = 0, next; (next = coded.next(at, row)) >= 0; at = next) {
            const bool is_left = next == graph.left[at];
            const std::int32_t other =
                coded.leaf_of(row, is_left ? graph.right[at] : graph.left[at]);
            const double more = stats.weight_of(row) * (stats.row_loss(other, row) - lost);
            (is_left ? all_right : all_left)[at] += more;
        }
    }
    std::vector<Removal> out;
    for (std::size_t i = 0; i < graph.n_nodes(); ++i) {
        const auto node = static_cast<std::int32_t>(i);
        if (graph.is_leaf(node)) continue;
        const bool to_left = all_left[i] <= all_right[i];
        out.push_back({to_left ? all_left[i] : all_right[i], node, to_left});
    }
    std::sort(out.begin(), out.end());
    return out;
}

}  // namespace

TidyGraph trim(const DecisionGraph& graph, const Dataset& data, const double* numbers,
               const RowChoice& rows, const GrowTargets& targets, const TreeInTreeParams& params,
               std::size_t max_splits, Team& team) {
    const std::vector<Row> kept = rows_that_count(data.n_rows(), rows, targets.weights);
    const RowStats stats(targets, kept, params.micro);
    TidyGraph out = tidy(graph, data, numbers, kept, stats, params.merge_leaves);
    for (;;) {
        DecisionGraph& now = out.graph;
        const std::size_t n_splits = now.n_nodes() - now.n_leaves();
        if (n_splits <= max_splits) return out;
        const auto order = removals(now, data, numbers, kept, stats, team);
        for (std::size_t i = 0; i < (n_splits - max_splits + 7) / 8; ++i) {
            const auto [cost, node, to_left] = order[i];
            (to_left ? now.right : now.left)[node] = to_left ? now.left[node] : now.right[node];
        }
        out = tidy(now, data, numbers, kept, stats, params.merge_leaves);
    }
}

}  // namespace hedgerow
