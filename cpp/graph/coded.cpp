#include "graph/coded.hpp"

#include <stdexcept>

namespace hedgerow {

CodedGraph::CodedGraph(const DecisionGraph& graph, const Dataset& data, const double* numbers)
    : graph_(graph), data_(data), numbers_(numbers), nodes_(graph.n_nodes()) {
    if (graph.n_features > data.n_features()) {
        throw std::invalid_argument("the graph has more features than the data set");
    }
    for (std::size_t i = 0; i < nodes_.size(); ++i) read(static_cast<std::int32_t>(i));
}

void CodedGraph::read(std::int32_t i) {
    Node& node = nodes_[i] = {};
    node.left = graph_.left[i];
    node.right = graph_.right[i];
    node.missing_left = graph_.missing_left[i];
    const auto kind = static_cast<Kind>(graph_.kind[i]);
    if (kind == Kind::oblique && numbers_ == nullptr) {
        throw std::invalid_argument("an oblique test cannot read a binned data set");
    }
    if (kind == Kind::leaf || kind == Kind::oblique) return;
    const Column& column = data_.column(static_cast<std::size_t>(graph_.feature[i]));
    node.codes = column.bytes.get();
    node.wide = column.wide;
    node.missing = static_cast<std::uint16_t>(column.n_bins);
    if (kind == Kind::category) {
        node.set = graph_.detail[i];
        node.n_left = static_cast<std::uint32_t>(graph_.threshold[i]);
    } else {
        node.n_left = column.bins_up_to(graph_.threshold[i]);
    }
}

std::vector<CodedGraph::Group> CodedGraph::group_by_leaf(std::span<Row> rows) const {
    std::vector<Group> groups;
    route_groups(
        *this, 0, rows, [](Row row) { return row; },
        [&](std::int32_t leaf, std::size_t, std::size_t end) { groups.push_back({leaf, end}); });
    return groups;
}

}  // namespace hedgerow
