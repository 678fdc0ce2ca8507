#include <nanobind/stl/function.h>

#include "arrays.hpp"
#include "boost/boosting.hpp"

using namespace hedgerow;

namespace {

using Progress = std::function<void(std::size_t)>;

nb::tuple boost_on_arrays(const Dataset& data, const TargetArray& targets,
                          const WeightArray& weights, const Vector<Row>& rows,
                          const Vector<Row>& held, const BoostParams& params, std::size_t n_rounds,
                          std::size_t first_round, const std::optional<RowMatrix<double>>& scores,
                          std::size_t patience, double least, bool track, int n_jobs,
                          const std::optional<Progress>& progress) {
    const Rows chosen(rows, data.n_rows());
    const Targets learned(targets, chosen, params.loss.n_classes);
    const LossTargets losing{learned.classes, learned.numbers, Weights(weights, chosen).of_rows};
    if (!params.monotonic.empty() && params.monotonic.size() != data.n_features()) {
        throw nb::value_error("'monotonic' must have one entry per feature");
    }
    for (const auto& group : params.groups) {
        for (const std::uint32_t feature : group) {
            if (feature >= data.n_features()) throw nb::value_error("a group has no such feature");
        }
    }
    BoostInput input{data, losing,     *chosen.chosen, checked_rows(held, data.n_rows()),
                     {},   first_round};
    if (scores) {
        if (scores->shape(0) != params.loss.n_scores() || scores->shape(1) != data.n_rows()) {
            throw nb::value_error("'scores' must have a row per score and a column per row");
        }
        input.scores = {scores->data(), scores->size()};
    }
    std::atomic<std::size_t> done{0};
    std::function<void()> report;
    if (progress) report = [&] { (*progress)(done); };
    Boosted out = in_core(
        n_jobs,
        [&](Team& team) {
            return boost(input, params, n_rounds, {patience, least}, track, done, team);
        },
        report);
    if (progress) (*progress)(done);
    nb::list graphs;
    for (auto& graph : out.graphs) graphs.append(nb::cast(std::move(graph)));
    return nb::make_tuple(array_of(std::move(out.intercept)), graphs,
                          array_of(std::move(out.train_losses)),
                          array_of(std::move(out.held_losses)));
}

}  // namespace

void bind_boost(nb::module_& m) {
    using namespace nb::literals;
    nb::class_<BoostParams>(m, "BoostParams", "How trees are boosted; -1 means no limit.")
        .def(
            "__init__",
            [](BoostParams* self, const std::string& loss, std::uint32_t n_classes, double quantile,
               double learning_rate, std::int64_t max_leaf_nodes, std::int64_t max_depth,
               std::int64_t min_samples_leaf, double min_hessian_leaf, double l2,
               double category_l2, double category_smoothing, double max_features, double subsample,
               std::vector<std::int8_t> monotonic, std::vector<std::vector<std::uint32_t>> groups,
               const std::string& members, std::uint64_t seed) {
                const bool graphs = members == "graph";
                if (!graphs && members != "tree") throw nb::value_error("unknown members");
                if (graphs && (!monotonic.empty() || !groups.empty())) {
                    throw nb::value_error("constraints are for trees");
                }
                new (self) BoostParams{
                    .loss = {loss_named(loss), n_classes, quantile},
                    .members = graphs ? BoostParams::Members::graph : BoostParams::Members::tree,
                    .learning_rate = learning_rate,
                    .max_leaf_nodes = max_leaf_nodes,
                    .max_depth = max_depth,
                    .min_samples_leaf = min_samples_leaf,
                    .min_hessian_leaf = min_hessian_leaf,
                    .l2 = l2,
                    .category_l2 = category_l2,
                    .category_smoothing = category_smoothing,
                    .max_features = max_features,
                    .subsample = subsample,
                    .monotonic = std::move(monotonic),
                    .groups = std::move(groups),
                    .seed = seed};
            },
            nb::kw_only(), "loss"_a, "n_classes"_a = 0, "quantile"_a = 0.5, "learning_rate"_a = 0.1,
            "max_leaf_nodes"_a = 31, "max_depth"_a = -1, "min_samples_leaf"_a = 20,
            "min_hessian_leaf"_a = 1e-3, "l2"_a = 0.0, "category_l2"_a = 3.0,
            "category_smoothing"_a = 10.0, "max_features"_a = 1.0, "subsample"_a = 1.0,
            "monotonic"_a = std::vector<std::int8_t>(),
            "groups"_a = std::vector<std::vector<std::uint32_t>>(), "members"_a = "tree",
            "seed"_a = 0);
    m.def(
        "boost", &boost_on_arrays, "data"_a, "targets"_a, "weights"_a.none(), "rows"_a, "held"_a,
        "params"_a, "n_rounds"_a, "first_round"_a = 0, "scores"_a.none() = nb::none(),
        "patience"_a = 0, "least"_a = 0.0, "track"_a = false, "n_jobs"_a = 1,
        "progress"_a.none() = nb::none(),
        "Boost trees on some rows, judged by held ones: intercept, graphs, and the mean losses of "
        "both before the first round and after each.");
}
