#include <nanobind/stl/optional.h>

#include "arrays.hpp"
#include "grow/grower.hpp"
#include "grow/prune.hpp"

using namespace hedgerow;

namespace {

GrowParams::Criterion criterion_named(const std::string& name) {
    using enum GrowParams::Criterion;
    if (name == "gini") return gini;
    if (name == "entropy" || name == "log_loss") return entropy;
    if (name == "squared_error") return squared_error;
    if (name == "poisson") return poisson;
    throw nb::value_error("unknown criterion");
}

DecisionGraph grow_from_arrays(const Dataset& data, std::optional<Vector<Row>> rows,
                               const GrowTargets& targets, const GrowParams& params, int n_jobs) {
    const auto fits = [&](std::size_t n) { return n == 0 || n == data.n_rows(); };
    if (!fits(targets.classes.size()) || !fits(targets.numbers.size()) ||
        !fits(targets.weights.size())) {
        throw nb::value_error("targets and weights must have one entry per row");
    }
    const bool for_classes = params.criterion == GrowParams::Criterion::gini ||
                             params.criterion == GrowParams::Criterion::entropy;
    if ((for_classes ? targets.classes.size() : targets.numbers.size()) != data.n_rows()) {
        throw nb::value_error("the criterion needs other targets, one per row");
    }
    for (const Row row : span_of(rows)) {
        if (row >= data.n_rows()) throw nb::value_error("a row is out of range");
    }
    for (const std::int32_t y : targets.classes) {
        if (y < 0 || static_cast<std::uint32_t>(y) >= params.n_classes) {
            throw nb::value_error("a class is out of range");
        }
    }
    return in_core(n_jobs,
                   [&](Team& team) { return grow(data, span_of(rows), targets, params, team); });
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
               double ccp_alpha, std::uint64_t seed) {
                new (self) GrowParams{criterion_named(criterion),
                                      splitter == "random" ? GrowParams::Splitter::random
                                                           : GrowParams::Splitter::best,
                                      n_classes,
                                      max_depth,
                                      max_leaf_nodes,
                                      max_features,
                                      min_samples_split,
                                      min_samples_leaf,
                                      min_weight_leaf,
                                      min_impurity_decrease,
                                      ccp_alpha,
                                      seed};
            },
            nb::kw_only(), "criterion"_a = "gini", "splitter"_a = "best", "n_classes"_a = 0,
            "max_depth"_a = -1, "max_leaf_nodes"_a = -1, "max_features"_a = -1,
            "min_samples_split"_a = 2, "min_samples_leaf"_a = 1, "min_weight_leaf"_a = 0.0,
            "min_impurity_decrease"_a = 0.0, "ccp_alpha"_a = 0.0, "seed"_a = 0);

    m.def(
        "grow",
        [](const Dataset& data, std::optional<Vector<Row>> rows, Vector<std::int32_t> classes,
           std::optional<Vector<double>> weights, const GrowParams& params, int n_jobs) {
            return grow_from_arrays(data, rows,
                                    {{classes.data(), classes.size()}, {}, span_of(weights)},
                                    params, n_jobs);
        },
        "data"_a, "rows"_a.none(), "targets"_a, "weights"_a.none(), "params"_a, "n_jobs"_a = 1,
        "Grow one classification tree on the given rows (all when None).");
    m.def(
        "grow",
        [](const Dataset& data, std::optional<Vector<Row>> rows, Vector<double> numbers,
           std::optional<Vector<double>> weights, const GrowParams& params, int n_jobs) {
            return grow_from_arrays(data, rows,
                                    {{}, {numbers.data(), numbers.size()}, span_of(weights)},
                                    params, n_jobs);
        },
        "data"_a, "rows"_a.none(), "targets"_a, "weights"_a.none(), "params"_a, "n_jobs"_a = 1,
        "Grow one regression tree on the given rows (all when None).");

    m.def(
        "pruning_path",
        [](const DecisionGraph& graph) {
            PruningPath path = pruning_path(graph);
            return nb::make_tuple(array_of(std::move(path.alphas)),
                                  array_of(std::move(path.impurities)));
        },
        "graph"_a, "Effective alphas and total leaf impurities of the nested subtrees.");
}
