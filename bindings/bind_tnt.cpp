#include "arrays.hpp"
#include "tnt/tree_in_tree.hpp"
#include "tnt/trim.hpp"

using namespace hedgerow;

namespace {

void check_graph(const Dataset& data, const DecisionGraph& graph) {
    if (graph.n_features != data.n_features()) {
        throw nb::value_error("the graph has another number of features than the data set");
    }
}

TreeInTreeParams::Tests tests_named(const std::string& name) {
    using enum TreeInTreeParams::Tests;
    if (name == "axis") return axis;
    if (name == "oblique") return oblique;
    if (name == "mixed") return mixed;
    throw nb::value_error("unknown tests");
}

nb::dict grow_from_arrays(const Dataset& data, const RowArray& rows, const RowArray& validation,
                          const TargetArray& targets, const WeightArray& weights,
                          const TreeInTreeParams& params, const DecisionGraph* start, int n_jobs,
                          const std::optional<RowMatrix<double>>& numbers) {
    if (!params.scale.empty() && params.scale.size() != data.n_features()) {
        throw nb::value_error("'scale' must have one entry per feature");
    }
    const double* matrix = checked_numbers(numbers, data);
    const Rows chosen(rows, data.n_rows());
    const GrowTargets learned = grow_targets(targets, weights, chosen, params.micro);
    if (validation && validation->size() > 0) {
        grow_targets(targets, weights, Rows(validation, data.n_rows()), params.micro);
    }
    if (start) check_graph(data, *start);
    TreeInTree grown = in_core(n_jobs, [&](Team& team) {
        return grow_tree_in_tree(data, matrix, chosen.chosen, span_of(validation), learned, params,
                                 start, team);
    });
    const auto column = [&](auto field) {
        std::vector<std::decay_t<decltype(field(grown.rounds[0]))>> values;
        for (const TreeInTreeRound& round : grown.rounds) values.push_back(field(round));
        return array_of(std::move(values));
    };
    using R = const TreeInTreeRound&;
    nb::dict rounds;
    rounds["merge"] = column([](R r) { return r.merge; });
    rounds["round"] = column([](R r) { return r.round; });
    rounds["loss"] = column([](R r) { return r.loss; });
    rounds["n_splits"] = column([](R r) { return r.n_splits; });
    rounds["objective"] = column([](R r) { return r.objective; });
    rounds["validation_loss"] = column([](R r) { return r.validation_loss; });
    rounds["accepted"] = column([](R r) { return static_cast<std::uint8_t>(r.accepted); });
    nb::dict out;
    out["graph"] = nb::cast(std::move(grown.result.graph));
    out["removed"] = array_of(std::move(grown.result.removed));
    out["rounds"] = rounds;
    out["C"] = grown.C;
    return out;
}

std::tuple<DecisionGraph, Array<double>> trim_from_arrays(
    const DecisionGraph& graph, const Dataset& data, const RowArray& rows,
    const TargetArray& targets, const WeightArray& weights, const TreeInTreeParams& params,
    std::size_t max_splits, int n_jobs, const std::optional<RowMatrix<double>>& numbers) {
    const double* matrix = checked_numbers(numbers, data);
    check_graph(data, graph);
    const Rows chosen(rows, data.n_rows());
    const GrowTargets learned = grow_targets(targets, weights, chosen, params.micro);
    TidyGraph out = in_core(n_jobs, [&](Team& team) {
        return trim(graph, data, matrix, chosen.chosen, learned, params, max_splits, team);
    });
    return {std::move(out.graph), array_of(std::move(out.removed))};
}

}  // namespace

void bind_tnt(nb::module_& m) {
    using namespace nb::literals;
    nb::class_<TreeInTreeParams>(m, "TreeInTreeParams", "How a Tree in Tree graph is grown.")
        .def(
            "__init__",
            [](TreeInTreeParams* self, const GrowParams& micro, std::uint32_t n_merges,
               std::uint32_t n_rounds, double C, std::uint32_t max_splits, bool merge_leaves,
               const std::string& tests, std::optional<Vector<double>> scale, double router_gain,
               bool keep_last) {
                const auto divisors = span_of(scale);
                new (self) TreeInTreeParams{.micro = micro,
                                            .tests = tests_named(tests),
                                            .scale = {divisors.begin(), divisors.end()},
                                            .n_merges = n_merges,
                                            .n_rounds = n_rounds,
                                            .C = C,
                                            .max_splits = max_splits,
                                            .router_gain = router_gain,
                                            .keep_last = keep_last,
                                            .merge_leaves = merge_leaves};
            },
            "micro"_a, nb::kw_only(), "n_merges"_a = 2, "n_rounds"_a = 5, "C"_a = 0.0,
            "max_splits"_a = 0, "merge_leaves"_a = false, "tests"_a = "axis",
            "scale"_a = nb::none(), "router_gain"_a = 0.5, "keep_last"_a = false);
    m.def("grow_tree_in_tree", &grow_from_arrays, "data"_a, "rows"_a.none(), "validation"_a.none(),
          "targets"_a, "weights"_a.none(), "params"_a, "start"_a.none(), "n_jobs"_a = 1,
          "numbers"_a = nb::none(),
          "Grow a graph on the given rows (all when None); the validation rows, if any, choose its "
          "round.");
    m.def("trim", &trim_from_arrays, "graph"_a, "data"_a, "rows"_a.none(), "targets"_a,
          "weights"_a.none(), "params"_a, "max_splits"_a, "n_jobs"_a = 1, "numbers"_a = nb::none(),
          "The graph with at most this many splits, its statistics from the given rows (all when "
          "None), and the loss that each node removes.");
}
