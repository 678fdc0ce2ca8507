#include "graph/packed.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "base/random.hpp"

namespace hedgerow {

namespace {
constexpr std::size_t rows_together = 8;
constexpr std::size_t rows_per_task = 256;
}  // namespace

std::uint64_t PackedGraphs::value_row(std::span<const double> value) {
    std::uint64_t hash = 0;
    for (const double v : value) hash = key_of(hash, std::bit_cast<std::uint64_t>(v));
    const auto [first, last] = value_index_.equal_range(hash);
    for (auto it = first; it != last; ++it) {
        if (std::equal(value.begin(), value.end(), values_.begin() + it->second * n_outputs_)) {
            return it->second;
        }
    }
    const auto row = static_cast<std::uint32_t>(values_.size() / n_outputs_);
    values_.insert(values_.end(), value.begin(), value.end());
    value_index_.emplace(hash, row);
    return row;
}

void PackedGraphs::add(const DecisionGraph& graph) {
    if (graph.n_features != n_features_ || graph.n_outputs != n_outputs_) {
        throw std::invalid_argument("the graphs differ in their features or outputs");
    }
    const auto root = static_cast<std::uint32_t>(nodes_.size());
    // pair_of[node]: where the children of a test stand, once they were given a place.
    std::vector<std::uint32_t> pair_of(graph.n_nodes(), 0);
    struct Place {
        std::int32_t node;
        std::uint32_t at;
    };
    nodes_.emplace_back();
    std::vector<Place> stack{{0, root}};
    while (!stack.empty()) {
        const auto [node, at] = stack.back();
        stack.pop_back();
        PackedNode packed{};
        if (graph.is_leaf(node)) {
            const auto value = graph.value_of(node);
            packed.number = n_outputs_ == 1 ? value[0] : std::bit_cast<double>(value_row(value));
            packed.left = at;
            nodes_[at] = packed;
            continue;
        }
        packed.number = graph.threshold[node];
        packed.test = PackedNode::not_leaf;
        if (graph.missing_left[node]) packed.test |= PackedNode::missing_left;
        switch (static_cast<Kind>(graph.kind[node])) {
            case Kind::category:
                only_axis_ = false;
                packed.test |= PackedNode::category |
                               static_cast<std::uint32_t>(
                                   tests_.add_set(graph.tests.set(graph.detail[node])));
                category_feature_.push_back(static_cast<std::uint32_t>(graph.feature[node]));
                break;
            case Kind::oblique:
                only_axis_ = false;
                packed.test |= PackedNode::oblique |
                               static_cast<std::uint32_t>(
                                   tests_.add_terms(graph.tests.oblique(graph.detail[node])));
                break;
            default:
                packed.test |= static_cast<std::uint32_t>(graph.feature[node]);
        }
        if (pair_of[node] == 0) {
            pair_of[node] = static_cast<std::uint32_t>(nodes_.size());
            nodes_.resize(nodes_.size() + 2);
            stack.push_back({graph.right[node], pair_of[node] + 1});
            stack.push_back({graph.left[node], pair_of[node]});
        }
        packed.left = pair_of[node];
        nodes_[at] = packed;
    }
    roots_.push_back(static_cast<std::uint32_t>(nodes_.size()));
}

std::size_t PackedGraphs::nbytes() const {
    return nodes_.size() * sizeof(PackedNode) + roots_.size() * sizeof(roots_[0]) +
           values_.size() * sizeof(double) + tests_.words.size() * 8 +
           tests_.term_feature.size() * sizeof(ObliqueTerm);
}

template <class T>
std::uint32_t PackedGraphs::route(std::uint32_t at, const T* x) const {
    for (;;) {
        const PackedNode& node = nodes_[at];
        if (node.is_leaf()) return at;
        bool go_left = node.test & PackedNode::missing_left;
        const auto index = node.index();
        if (node.test & PackedNode::oblique) {
            go_left = tests_.below(static_cast<std::int32_t>(index), x, node.number);
        } else if (node.test & PackedNode::category) {
            const auto v = static_cast<double>(x[category_feature_[index]]);
            if (v >= 0) go_left = tests_.in_set(static_cast<std::int32_t>(index), v);
        } else {
            const auto v = static_cast<double>(x[index]);
            if (v == v) go_left = v <= node.number;
        }
        at = node.left + !go_left;
    }
}

template <class T>
void PackedGraphs::route_together(std::uint32_t root, const T* x, std::size_t n,
                                  std::uint32_t* leaves) const {
    std::fill_n(leaves, n, root);
    for (bool moving = true; moving;) {
        moving = false;
        for (std::size_t i = 0; i < n; ++i) {
            const PackedNode node = nodes_[leaves[i]];
            const auto v = static_cast<double>(x[i * n_features_ + node.index()]);
            const bool go_left =
                (v <= node.number) | ((v != v) & bool(node.test & PackedNode::missing_left));
            const std::uint32_t is_test = node.test >> 31;
            leaves[i] = node.left + (is_test & !go_left);
            moving |= is_test;
        }
    }
}

void PackedGraphs::add_value(const PackedNode& leaf, double* out) const {
    if (n_outputs_ == 1) {
        *out += leaf.number;
        return;
    }
    const double* value = values_.data() + std::bit_cast<std::uint64_t>(leaf.number) * n_outputs_;
    for (std::uint32_t k = 0; k < n_outputs_; ++k) out[k] += value[k];
}

template <class T>
void PackedGraphs::predict_row(const T* x, double* out) const {
    std::fill_n(out, n_outputs_, 0.0);
    for (std::size_t g = 0; g < n_graphs(); ++g) add_value(nodes_[route(roots_[g], x)], out);
    const double scale = 1.0 / static_cast<double>(n_graphs());
    if (n_graphs() > 1) {
        for (std::uint32_t k = 0; k < n_outputs_; ++k) out[k] *= scale;
    }
}

template <class T>
void PackedGraphs::predict(const T* x, std::size_t n_rows, double* out, Team& team) const {
    const std::size_t n_tasks = (n_rows + rows_per_task - 1) / rows_per_task;
    const double scale = 1.0 / static_cast<double>(n_graphs());
    team.for_each(n_tasks, [&](std::size_t task, int) {
        const std::size_t begin = task * rows_per_task;
        const std::size_t end = std::min(begin + rows_per_task, n_rows);
        std::fill(out + begin * n_outputs_, out + end * n_outputs_, 0.0);
        std::uint32_t leaves[rows_together];
        for (std::size_t g = 0; g < n_graphs(); ++g) {
            for (std::size_t row = begin; row < end; row += rows_together) {
                const std::size_t n = std::min(rows_together, end - row);
                const T* block = x + row * n_features_;
                if (only_axis_) {
                    route_together(roots_[g], block, n, leaves);
                } else {
                    for (std::size_t i = 0; i < n; ++i) {
                        leaves[i] = route(roots_[g], block + i * n_features_);
                    }
                }
                for (std::size_t i = 0; i < n; ++i) {
                    add_value(nodes_[leaves[i]], out + (row + i) * n_outputs_);
                }
            }
        }
        if (n_graphs() > 1) {
            for (std::size_t i = begin * n_outputs_; i < end * n_outputs_; ++i) out[i] *= scale;
        }
    });
}

template void PackedGraphs::predict(const float*, std::size_t, double*, Team&) const;
template void PackedGraphs::predict(const double*, std::size_t, double*, Team&) const;
template void PackedGraphs::predict_row(const float*, double*) const;
template void PackedGraphs::predict_row(const double*, double*) const;

}  // namespace hedgerow
