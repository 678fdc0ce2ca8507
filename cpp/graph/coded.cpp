#include "graph/coded.hpp"

#include <stdexcept>

namespace hedgerow {

CodedGraph::CodedGraph(const DecisionGraph& graph, const Dataset& data)
    : graph_(graph), nodes_(graph.n_nodes()) {
    if (graph.n_features > data.n_features()) {
        throw std::invalid_argument("the graph has more features than the data set");
    }
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        const auto kind = static_cast<Kind>(graph.kind[i]);
        if (kind == Kind::leaf) continue;
        if (kind == Kind::oblique) {
            throw std::invalid_argument("an oblique test cannot read a binned data set");
        }
        Node& node = nodes_[i];
        node.column = &data.column(static_cast<std::size_t>(graph.feature[i]));
        node.left = graph.left[i];
        node.right = graph.right[i];
        node.missing_left = graph.missing_left[i];
        if (kind == Kind::category) {
            node.set = graph.detail[i];
        } else {
            node.n_left = node.column->bins_up_to(graph.threshold[i]);
        }
    }
}

}  // namespace hedgerow
