#include "graph/decision_graph.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace hedgerow {

namespace {

void require(bool holds, const char* message) {
    if (!holds) throw std::invalid_argument(message);
}

}  // namespace

void TestPool::validate(std::uint32_t n_features) const {
    const auto starts_fit = [](const std::vector<std::uint32_t>& starts, std::size_t size) {
        return !starts.empty() && starts.front() == 0 && starts.back() == size &&
               std::is_sorted(starts.begin(), starts.end());
    };
    require(starts_fit(word_start, words.size()), "the graph's category sets are broken");
    for (const auto& test : oblique) {
        for (const ObliqueTerm& term : test->terms()) {
            require(term.feature >= 0 && static_cast<std::uint32_t>(term.feature) < n_features &&
                        std::isfinite(term.weight) && std::isfinite(term.centre),
                    "an oblique test has a feature out of range or a number that is not finite");
        }
    }
}

std::int32_t TestPool::add_set(std::span<const std::uint64_t> set) {
    words.insert(words.end(), set.begin(), set.end());
    word_start.push_back(static_cast<std::uint32_t>(words.size()));
    return static_cast<std::int32_t>(word_start.size()) - 2;
}

std::int32_t TestPool::add_oblique(std::shared_ptr<const ObliqueTest> test) {
    oblique.push_back(std::move(test));
    return static_cast<std::int32_t>(oblique.size()) - 1;
}

std::size_t DecisionGraph::n_leaves() const {
    return static_cast<std::size_t>(std::count(kind.begin(), kind.end(), 0));
}

std::vector<std::int32_t> topological_order(const DecisionGraph& graph) {
    const std::size_t n = graph.n_nodes();
    std::vector<std::int32_t> n_parents(n, 0);
    for (std::size_t i = 0; i < n; ++i) {
        if (graph.kind[i] == 0) continue;
        ++n_parents[graph.left[i]];
        ++n_parents[graph.right[i]];
    }
    if (n_parents[0] != 0) throw std::invalid_argument("the graph's root has a parent");
    std::vector<std::int32_t> order{0};
    for (std::size_t next = 0; next < order.size(); ++next) {
        const std::int32_t node = order[next];
        if (graph.is_leaf(node)) continue;
        if (--n_parents[graph.left[node]] == 0) order.push_back(graph.left[node]);
        if (--n_parents[graph.right[node]] == 0) order.push_back(graph.right[node]);
    }
    if (order.size() != n) {
        throw std::invalid_argument("the graph has a cycle or a node its root cannot reach");
    }
    return order;
}

std::size_t DecisionGraph::depth() const {
    std::vector<std::size_t> depth_of(n_nodes(), 0);
    std::size_t deepest = 0;
    for (const std::int32_t node : topological_order(*this)) {
        deepest = std::max(deepest, depth_of[node]);
        if (is_leaf(node)) continue;
        for (const std::int32_t child : {left[node], right[node]}) {
            depth_of[child] = std::max(depth_of[child], depth_of[node] + 1);
        }
    }
    return deepest;
}

void DecisionGraph::reserve(std::size_t nodes) {
    kind.reserve(nodes), missing_left.reserve(nodes), feature.reserve(nodes);
    left.reserve(nodes), right.reserve(nodes), detail.reserve(nodes), threshold.reserve(nodes);
    n_samples.reserve(nodes), weight.reserve(nodes), impurity.reserve(nodes);
    value.reserve(nodes * n_outputs);
}

void DecisionGraph::clear() {
    kind.clear(), missing_left.clear(), feature.clear(), left.clear(), right.clear();
    detail.clear(), threshold.clear(), n_samples.clear(), weight.clear(), impurity.clear();
    value.clear();
    tests = {};
}

std::int32_t DecisionGraph::add_node() {
    kind.push_back(0), missing_left.push_back(0), feature.push_back(no_feature);
    left.push_back(-1), right.push_back(-1), detail.push_back(-1);
    threshold.push_back(no_threshold);
    n_samples.push_back(0), weight.push_back(0), impurity.push_back(0);
    value.resize(value.size() + n_outputs);
    return static_cast<std::int32_t>(kind.size()) - 1;
}

std::int32_t DecisionGraph::copy_node(const DecisionGraph& from, std::int32_t node) {
    const std::int32_t to = copy_test(from, node);
    n_samples[to] = from.n_samples[node];
    weight[to] = from.weight[node];
    impurity[to] = from.impurity[node];
    const auto values = from.value_of(node);
    std::copy(values.begin(), values.end(), value.end() - n_outputs);
    return to;
}

std::int32_t DecisionGraph::copy_test(const DecisionGraph& from, std::int32_t node) {
    const std::int32_t to = add_node();
    kind[to] = from.kind[node];
    missing_left[to] = from.missing_left[node];
    feature[to] = from.feature[node];
    threshold[to] = from.threshold[node];
    if (kind[to] == static_cast<std::uint8_t>(Kind::category)) {
        detail[to] = tests.add_set(from.tests.set(from.detail[node]));
    } else if (kind[to] == static_cast<std::uint8_t>(Kind::oblique)) {
        detail[to] = tests.add_oblique(from.tests.oblique[from.detail[node]]);
    }
    return to;
}

void DecisionGraph::make_leaf(std::int32_t node) {
    kind[node] = 0;
    missing_left[node] = 0;
    left[node] = right[node] = detail[node] = -1;
    feature[node] = no_feature;
    threshold[node] = no_threshold;
}

void DecisionGraph::set_axis(std::int32_t node, std::int32_t of, double at,
                             bool missing_goes_left) {
    kind[node] = static_cast<std::uint8_t>(Kind::axis);
    feature[node] = of;
    threshold[node] = at;
    missing_left[node] = missing_goes_left;
    detail[node] = -1;
}

void DecisionGraph::set_category(std::int32_t node, std::int32_t of,
                                 std::span<const std::uint64_t> set, double n_known,
                                 bool missing_goes_left) {
    set_axis(node, of, n_known, missing_goes_left);
    kind[node] = static_cast<std::uint8_t>(Kind::category);
    detail[node] = tests.add_set(set);
}

void DecisionGraph::set_oblique(std::int32_t node, std::shared_ptr<const ObliqueTest> test,
                                double at) {
    set_axis(node, no_feature, at, false);
    kind[node] = static_cast<std::uint8_t>(Kind::oblique);
    detail[node] = tests.add_oblique(std::move(test));
}

void DecisionGraph::validate() const {
    const std::size_t n = n_nodes();
    require(n > 0, "the graph has no node");
    require(n_outputs > 0, "the graph has no output");
    require(missing_left.size() == n && feature.size() == n && left.size() == n &&
                right.size() == n && detail.size() == n && threshold.size() == n &&
                n_samples.size() == n && weight.size() == n && impurity.size() == n &&
                value.size() == n * n_outputs,
            "the graph's columns differ in length");
    tests.validate(n_features);
    const auto feature_fits = [&](std::int32_t f) {
        return f >= 0 && static_cast<std::uint32_t>(f) < n_features;
    };
    const auto n_sets = static_cast<std::int64_t>(tests.word_start.size()) - 1;
    const auto n_oblique = static_cast<std::int64_t>(tests.oblique.size());
    const auto size = static_cast<std::int64_t>(n);
    for (std::size_t i = 0; i < n; ++i) {
        require(kind[i] <= 3, "a node has an unknown kind");
        require(missing_left[i] <= 1, "'missing_left' must be 0 or 1");
        require(std::isfinite(weight[i]) && std::isfinite(impurity[i]),
                "a weight or an impurity is not finite");
        if (kind[i] == 0) {
            require(left[i] == -1 && right[i] == -1, "a leaf has a child");
            continue;
        }
        require(left[i] >= 0 && left[i] < size && right[i] >= 0 && right[i] < size,
                "a child is out of range");
        const auto test = static_cast<Kind>(kind[i]);
        if (test == Kind::oblique) {
            require(detail[i] >= 0 && detail[i] < n_oblique, "an oblique test is out of range");
        } else {
            require(feature_fits(feature[i]), "a feature is out of range");
        }
        if (test == Kind::category) {
            require(detail[i] >= 0 && detail[i] < n_sets, "a category set is out of range");
            require(tests.knows(detail[i], threshold[i]), "a category set is too short");
        }
        // An axis threshold may be infinite: "every number goes left, missing goes right".
        require(!std::isnan(threshold[i]), "a threshold is not a number");
    }
    require(std::all_of(value.begin(), value.end(), [](double v) { return std::isfinite(v); }),
            "a value is not finite");
    topological_order(*this);
}

DecisionGraph join_in_preorder(const DecisionGraph& top, std::span<const DecisionGraph> parts) {
    struct Pending {
        std::int32_t part, node;
        Place place;
    };
    DecisionGraph out;
    out.n_features = top.n_features;
    out.n_outputs = top.n_outputs;
    std::size_t n = top.n_nodes();
    for (const auto& part : parts) n += part.n_nodes();
    out.reserve(n);
    std::vector<Pending> stack{{-1, 0, {}}};
    while (!stack.empty()) {
        const auto [part, node, place] = stack.back();
        stack.pop_back();
        if (node < -1) {
            stack.push_back({-2 - node, 0, place});
            continue;
        }
        const DecisionGraph& from = part < 0 ? top : parts[part];
        const std::int32_t to = out.copy_node(from, node);
        out.hang(to, place);
        if (from.is_leaf(node)) continue;
        stack.push_back({part, from.right[node], {to, false}});
        stack.push_back({part, from.left[node], {to, true}});
    }
    return out;
}

}  // namespace hedgerow
