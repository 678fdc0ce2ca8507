#include "graph/coded.hpp"

#include <algorithm>
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
    } else {
        node.n_left = column.bins_up_to(graph_.threshold[i]);
    }
}

std::vector<CodedGraph::Group> CodedGraph::group_by_leaf(std::span<Row> rows) const {
    struct Part {
        std::int32_t node;
        std::size_t begin, end;
    };
    std::vector<Group> groups;
    std::vector<Row> to_right(rows.size());
    std::vector<Part> stack;
    if (!rows.empty()) stack.push_back({0, 0, rows.size()});
    while (!stack.empty()) {
        auto [at, begin, end] = stack.back();
        stack.pop_back();
        if (end - begin == 1) at = leaf_of(rows[begin], at);
        const Node& node = nodes_[at];
        if (node.left < 0) {
            groups.push_back({at, end});
            continue;
        }
        std::size_t n_left = 0, n_right = 0;
        const auto divide = [&](const auto& goes_left) {
            for (std::size_t i = begin; i < end; ++i) {  // both places are written, one for good
                const Row row = rows[i];
                const bool left = goes_left(row);
                rows[begin + n_left] = to_right[n_right] = row;
                n_left += left;
                n_right += !left;
            }
        };
        const std::uint8_t* const codes = node.codes;
        if (codes && !node.wide && node.set < 0 &&
            !node.missing_left) {  // the missing code is last
            divide([codes, n = node.n_left](Row row) { return codes[row] < n; });
        } else {
            divide([&, at = at](Row row) { return goes_left(at, row); });
        }
        std::copy_n(to_right.begin(), n_right, rows.begin() + begin + n_left);
        if (n_right > 0) stack.push_back({node.right, begin + n_left, end});
        if (n_left > 0) stack.push_back({node.left, begin, begin + n_left});
    }
    return groups;
}

}  // namespace hedgerow
