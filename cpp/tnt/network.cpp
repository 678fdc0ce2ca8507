#include "tnt/network.hpp"

#include <algorithm>
#include <limits>

namespace hedgerow {
namespace {

DecisionGraph like(const DecisionGraph& graph) {
    DecisionGraph out;
    out.n_features = graph.n_features;
    out.n_outputs = graph.n_outputs;
    return out;
}

// The node alone, with two leaves if it is a split. A threshold of a graph made elsewhere may cut
// through a bin; it moves to the bin's border, so that codes and numbers take the same way.
DecisionGraph alone(const DecisionGraph& graph, std::int32_t node, const Dataset& data) {
    DecisionGraph tree = like(graph);
    tree.copy_test(graph, node);
    if (graph.is_leaf(node)) return tree;
    tree.left[0] = tree.add_node();
    tree.right[0] = tree.add_node();
    if (graph.kind[node] == static_cast<std::uint8_t>(Kind::axis)) {
        const Column& column = data.column(static_cast<std::size_t>(graph.feature[node]));
        const std::uint32_t n_left = column.bins_up_to(graph.threshold[node]);
        if (n_left < column.n_bins && column.smallest_of(n_left) <= graph.threshold[node]) {
            tree.threshold[0] = n_left == 0 ? -std::numeric_limits<double>::infinity()
                                            : column.largest_of(n_left - 1);
        }
    }
    return tree;
}

}  // namespace

Network::Network(const DecisionGraph& graph, const Dataset& data, const double* numbers)
    : nodes(graph.n_nodes()) {
    std::vector<std::size_t> distance(graph.n_nodes(), 0);
    std::int32_t n_leaves = 0;
    for (const std::int32_t i : topological_order(graph)) {
        if (waves.size() <= distance[i]) waves.resize(distance[i] + 1);
        waves[distance[i]].push_back(i);
        Node& node = nodes[i];
        node.micro = std::make_unique<MicroTree>(alone(graph, i, data), data, numbers);
        if (graph.is_leaf(i)) {
            node.micro->outcome[0] = n_leaves++;
            continue;
        }
        node.micro->outcome[2] = 1;
        node.child[0] = graph.left[i];
        node.child[1] = graph.right[i];
        for (const std::int32_t child : node.child) {
            distance[child] = std::max(distance[child], distance[i] + 1);
        }
    }
}

DecisionGraph Network::merged() const {
    // Where a way into a node leads: past routers that send everything to one side.
    const auto entry = [&](std::int32_t i) {
        while (!nodes[i].is_leaf() && nodes[i].micro->n_splits() == 0) {
            i = nodes[i].child[nodes[i].micro->outcome[0]];
        }
        return i;
    };
    DecisionGraph out = like(nodes[0].micro->tree);
    std::vector<std::int32_t> first(nodes.size(), -1);  // new index of a micro-tree's root
    std::vector<std::int32_t> pending{entry(0)};
    struct Exit {
        std::int32_t from, to;  // a new node, and the network's node it leads to
        bool is_left;
    };
    std::vector<Exit> exits;
    while (!pending.empty()) {
        const std::int32_t i = pending.back();
        pending.pop_back();
        if (first[i] >= 0) continue;
        const Node& node = nodes[i];
        const DecisionGraph& tree = node.micro->tree;
        std::vector<std::int32_t> index(tree.n_nodes(), -1);
        for (std::size_t t = 0; t < tree.n_nodes(); ++t) {
            const auto from = static_cast<std::int32_t>(t);
            if (node.is_leaf() || !tree.is_leaf(from)) index[t] = out.copy_test(tree, from);
        }
        first[i] = index[0];
        for (std::size_t t = 0; t < tree.n_nodes(); ++t) {
            if (tree.is_leaf(static_cast<std::int32_t>(t))) continue;
            for (const bool is_left : {true, false}) {
                const std::int32_t branch = is_left ? tree.left[t] : tree.right[t];
                if (index[branch] >= 0) {
                    (is_left ? out.left : out.right)[index[t]] = index[branch];
                } else {
                    const std::int32_t to = entry(node.child[node.micro->outcome[branch]]);
                    exits.push_back({index[t], to, is_left});
                    pending.push_back(to);
                }
            }
        }
    }
    for (const auto& [from, to, is_left] : exits) {
        (is_left ? out.left : out.right)[from] = first[to];
    }
    return out;
}

}  // namespace hedgerow
