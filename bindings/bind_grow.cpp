#include "arrays.hpp"
#include "grow/counted.hpp"
#include "grow/grower.hpp"
#include "grow/limits.hpp"
#include "grow/prune.hpp"

using namespace hedgerow;

namespace {

GrowParams::Criterion criterion_named(const std::string& name) {
    using enum GrowParams::Criterion;
    if (name == "gini") return gini;
    if (name == "entropy" || name == "log_loss") return entropy;
    if (name == "squared_error") return squared_error;
    if (name == "poisson") return poisson;
    if (name == "absolute_error") return absolute_error;
    if (name == "quantile") return quantile;
    throw nb::value_error(("unknown criterion '" + name + "'").c_str());
}

GrowParams::Splitter splitter_named(const std::string& name) {
    using enum GrowParams::Splitter;
    if (name == "best") return best;
    if (name == "random") return random;
    throw nb::value_error(("unknown splitter '" + name + "'").c_str());
}

DecisionGraph grow_from_arrays(const Dataset& data, const RowArray& rows,
                               const TargetArray& targets, const WeightArray& weights,
                               const GrowParams& params, int n_jobs) {
    const Rows chosen(rows, data.n_rows());
    const GrowTargets learned = several_targets(targets, weights, chosen, params);
    return in_core(n_jobs,
                   [&](Team& team) { return grow(data, chosen.chosen, learned, params, team); });
}

Array<std::int64_t> counts_of(const Dataset& data, const Vector<std::int32_t>& node_of,
                              std::size_t n_nodes, const Vector<std::int32_t>& classes,
                              const WeightArray& weights, const GrowParams& params) {
    const std::size_t n_rows = data.n_rows();
    const std::size_t size = n_counts(data, params, weights.has_value());
    if (node_of.size() != n_rows || classes.size() != n_rows ||
        (weights && weights->size() != n_rows)) {
        throw nb::value_error("nodes, classes and weights must have one entry per row of the data");
    }
    for (std::size_t row = 0; row < n_rows; ++row) {
        const std::int32_t node = node_of.data()[row], k = classes.data()[row];
        if (node < 0) continue;
        if (static_cast<std::size_t>(node) >= n_nodes || k < 0 ||
            static_cast<std::uint32_t>(k) >= params.n_classes) {
            throw nb::value_error("a node or a class is out of range");
        }
    }
    auto counts = in_core(1, [&](Team& team) {
        return count_classes(data, {node_of.data(), n_rows}, n_nodes, {classes.data(), n_rows},
                             span_of(weights), params, team);
    });
    return array_of(std::move(counts), {n_nodes, size});
}

using Keys = std::tuple<std::uint64_t, std::uint64_t>;

std::tuple<DecisionGraph, Array<std::uint8_t>, std::uint32_t, Keys> decision_of(
    const Dataset& data, const GrowParams& params, const Vector<std::int64_t>& counts,
    bool weighted) {
    Decision found = in_core(
        1, [&](Team&) { return decide(data, params, {counts.data(), counts.size()}, weighted); });
    return {std::move(found.node),
            array_of(std::move(found.goes_left)),
            found.n_left,
            {found.left_key, found.right_key}};
}

}  // namespace

void bind_grow(nb::module_& m) {
    using namespace nb::literals;
    nb::class_<GrowParams>(m, "GrowParams", "How a tree is grown; -1 means no limit.")
        .def(
            "__init__",
            [](GrowParams* self, const std::string& criterion, const std::string& splitter,
               std::uint32_t n_classes, std::int64_t max_depth, std::int64_t max_leaf_nodes,
               std::int64_t max_features, std::int64_t min_samples_split,
               std::int64_t min_samples_leaf, double min_weight_leaf, double min_impurity_decrease,
               double ccp_alpha, std::uint64_t seed, std::vector<std::int8_t> monotonic,
               std::vector<std::uint32_t> class_counts, double quantile,
               const std::optional<std::tuple<std::uint32_t, std::uint64_t, double>>& stem,
               bool keyed_draws) {
                new (self) GrowParams{.criterion = criterion_named(criterion),
                                      .splitter = splitter_named(splitter),
                                      .n_classes = n_classes,
                                      .class_counts = std::move(class_counts),
                                      .max_depth = max_depth,
                                      .max_leaf_nodes = max_leaf_nodes,
                                      .max_features = max_features,
                                      .min_samples_split = min_samples_split,
                                      .min_samples_leaf = min_samples_leaf,
                                      .min_weight_leaf = min_weight_leaf,
                                      .min_impurity_decrease = min_impurity_decrease,
                                      .ccp_alpha = ccp_alpha,
                                      .quantile = quantile,
                                      .seed = seed,
                                      .monotonic = std::move(monotonic),
                                      .stem = {},
                                      .keyed_draws = keyed_draws};
                if (stem) {
                    self->stem = {std::get<0>(*stem), std::get<1>(*stem), std::get<2>(*stem)};
                }
            },
            nb::kw_only(), "criterion"_a = "gini", "splitter"_a = "best", "n_classes"_a = 0,
            "max_depth"_a = -1, "max_leaf_nodes"_a = -1, "max_features"_a = -1,
            "min_samples_split"_a = 2, "min_samples_leaf"_a = 1, "min_weight_leaf"_a = 0.0,
            "min_impurity_decrease"_a = 0.0, "ccp_alpha"_a = 0.0, "seed"_a = 0,
            "monotonic"_a = std::vector<std::int8_t>(),
            "class_counts"_a = std::vector<std::uint32_t>(), "quantile"_a = 0.5,
            "stem"_a.none() = nb::none(), "keyed_draws"_a = false)
        .def(
            "root_key",
            [](const GrowParams& self, std::size_t n_features) {
                return root_key(self, n_features);
            },
            "n_features"_a, "The key of the root of a tree.");

    m.def("grow", &grow_from_arrays, "data"_a, "rows"_a.none(), "targets"_a, "weights"_a.none(),
          "params"_a, "n_jobs"_a = 1, "Grow one tree on the given rows (all when None).");

    m.def("count_classes", &counts_of, "data"_a, "node_of"_a, "n_nodes"_a, "targets"_a,
          "weights"_a.none(), "params"_a,
          "What rows add to the counts of nodes, a row for each: by feature and code the weight of "
          "each class, then the number of rows where there are weights. ``node_of`` is the node of "
          "each row, or -1.");

    m.def("decide", &decision_of, "data"_a, "params"_a, "counts"_a, "weighted"_a,
          "What becomes of a node whose rows were counted: a graph whose first node is a leaf or "
          "the test; then of a test, by code of its feature, what goes left, how many rows that "
          "are, and the keys of both children.");

    m.def(
        "join_nodes",
        [](const GraphList& nodes, const std::vector<std::int32_t>& left,
           const std::vector<std::int32_t>& right, const GraphList& parts) {
            const Graphs first(nodes), others(parts);
            return in_core(
                1, [&](Team&) { return join_nodes(first.given, left, right, others.given); });
        },
        "nodes"_a, "left"_a, "right"_a, "parts"_a,
        "One graph of the first nodes of graphs, whose children are later ones or, at -2 - i, the "
        "parts.");

    m.def(
        "pruning_path",
        [](const DecisionGraph& graph) {
            PruningPath path = in_core(1, [&](Team& team) { return pruning_path(graph, team); });
            return std::tuple(array_of(std::move(path.alphas)),
                              array_of(std::move(path.impurities)));
        },
        "graph"_a, "Effective alphas and total leaf impurities of the nested subtrees.");

    m.def(
        "pruning_prices",
        [](const DecisionGraph& graph) {
            return array_of(in_core(1, [&](Team& team) { return pruning_prices(graph, team); }));
        },
        "graph"_a, "By node the price from which on it is no split any more; 0 for leaves.");

    m.def(
        "prune",
        [](const DecisionGraph& graph, double alpha) {
            return in_core(1, [&](Team&) { return prune(graph, alpha); });
        },
        "graph"_a, "alpha"_a, "The smallest subtree that minimises impurity + alpha * leaves.");

    m.def(
        "merge_siblings",
        [](const DecisionGraph& graph) {
            return in_core(1, [&](Team&) { return merge_siblings(graph); });
        },
        "graph"_a, "The classification tree without splits that leave no fewer rows wrong.");
}
