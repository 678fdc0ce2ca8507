#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include "arrays.hpp"
#include "tnt/tree_in_tree.hpp"
#include "tnt/trim.hpp"

using namespace hedgerow;

namespace {

void check_targets(const Dataset& data, const GrowTargets& targets, std::uint32_t n_classes) {
    const std::size_t n = n_classes > 0 ? targets.classes.size() : targets.numbers.size();
    if (n != data.n_rows() ||
        (!targets.weights.empty() && targets.weights.size() != data.n_rows())) {
        throw nb::value_error("targets and weights must have one entry per row");
    }
    for (const std::int32_t y : targets.classes) {
        if (y < 0 || static_cast<std::uint32_t>(y) >= n_classes) {
            throw nb::value_error("a class is out of range");
        }
    }
}

void check_rows(const Dataset& data, std::span<const Row> rows) {
    for (const Row row : rows) {
        if (row >= data.n_rows()) throw nb::value_error("a row is out of range");
    }
}

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

using Numbers = std::optional<RowMatrix<double>>;

// The numbers that oblique tests read, or null.
const double* checked(const Numbers& numbers, const Dataset& data) {
    if (!numbers) return nullptr;
    if (numbers->shape(0) != data.n_rows() || numbers->shape(1) != data.n_features()) {
        throw nb::value_error("'numbers' must have the shape of the data set");
    }
    return numbers->data();
}

nb::dict grow_from_arrays(const Dataset& data, std::optional<Vector<Row>> rows,
                          std::optional<Vector<Row>> validation, const GrowTargets& targets,
                          const TreeInTreeParams& params, const DecisionGraph* start, int n_jobs,
                          const Numbers& numbers) {
    if (!params.scale.empty() && params.scale.size() != data.n_features()) {
        throw nb::value_error("'scale' must have one entry per feature");
    }
    const double* matrix = checked(numbers, data);
    check_targets(data, targets, params.micro.n_classes);
    check_rows(data, span_of(rows));
    check_rows(data, span_of(validation));
    if (start) check_graph(data, *start);
    TreeInTree grown = in_core(n_jobs, [&](Team& team) {
        return grow_tree_in_tree(data, matrix, span_of(rows), span_of(validation), targets, params,
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
    return out;
}

nb::tuple trim_from_arrays(const DecisionGraph& graph, const Dataset& data,
                           std::optional<Vector<Row>> rows, const GrowTargets& targets,
                           const TreeInTreeParams& params, std::size_t max_splits, int n_jobs,
                           const Numbers& numbers) {
    const double* matrix = checked(numbers, data);
    check_graph(data, graph);
    check_targets(data, targets, params.micro.n_classes);
    check_rows(data, span_of(rows));
    TidyGraph out = in_core(n_jobs, [&](Team& team) {
        return trim(graph, data, matrix, span_of(rows), targets, params, max_splits, team);
    });
    return nb::make_tuple(nb::cast(std::move(out.graph)), array_of(std::move(out.removed)));
}

}  // namespace

void bind_tnt(nb::module_& m) {
    using namespace nb::literals;
    nb::class_<TreeInTreeParams>(m, "TreeInTreeParams", "How a Tree in Tree graph is grown.")
        .def(
            "__init__",
            [](TreeInTreeParams* self, const GrowParams& micro, std::uint32_t n_merges,
               std::uint32_t n_rounds, double C, bool merge_leaves, const std::string& tests,
               std::optional<Vector<double>> scale) {
                const auto divisors = span_of(scale);
                new (self) TreeInTreeParams{
                    micro,       tests_named(tests), {divisors.begin(), divisors.end()},
                    n_merges,    n_rounds,           C,
                    merge_leaves};
            },
            "micro"_a, nb::kw_only(), "n_merges"_a = 2, "n_rounds"_a = 5, "C"_a = 0.0,
            "merge_leaves"_a = false, "tests"_a = "axis", "scale"_a = nb::none());
    m.def(
        "grow_tree_in_tree",
        [](const Dataset& data, std::optional<Vector<Row>> rows,
           std::optional<Vector<Row>> validation, Vector<std::int32_t> classes,
           std::optional<Vector<double>> weights, const TreeInTreeParams& params,
           const DecisionGraph* start, int n_jobs, Numbers numbers) {
            return grow_from_arrays(data, rows, validation,
                                    {{classes.data(), classes.size()}, {}, span_of(weights)},
                                    params, start, n_jobs, numbers);
        },
        "data"_a, "rows"_a.none(), "validation"_a.none(), "targets"_a, "weights"_a.none(),
        "params"_a, "start"_a.none(), "n_jobs"_a = 1, "numbers"_a = nb::none());
    m.def(
        "grow_tree_in_tree",
        [](const Dataset& data, std::optional<Vector<Row>> rows,
           std::optional<Vector<Row>> validation, Vector<double> y,
           std::optional<Vector<double>> weights, const TreeInTreeParams& params,
           const DecisionGraph* start, int n_jobs, Numbers numbers) {
            return grow_from_arrays(data, rows, validation,
                                    {{}, {y.data(), y.size()}, span_of(weights)}, params, start,
                                    n_jobs, numbers);
        },
        "data"_a, "rows"_a.none(), "validation"_a.none(), "targets"_a, "weights"_a.none(),
        "params"_a, "start"_a.none(), "n_jobs"_a = 1, "numbers"_a = nb::none());
    m.def(
        "trim",
        [](const DecisionGraph& graph, const Dataset& data, std::optional<Vector<Row>> rows,
           Vector<std::int32_t> classes, std::optional<Vector<double>> weights,
           const TreeInTreeParams& params, std::size_t max_splits, int n_jobs, Numbers numbers) {
            return trim_from_arrays(graph, data, rows,
                                    {{classes.data(), classes.size()}, {}, span_of(weights)},
                                    params, max_splits, n_jobs, numbers);
        },
        "graph"_a, "data"_a, "rows"_a.none(), "targets"_a, "weights"_a.none(), "params"_a,
        "max_splits"_a, "n_jobs"_a = 1, "numbers"_a = nb::none(),
        "The graph with at most this many splits, its statistics from the given rows (all when "
        "None), and the loss that each node removes.");
    m.def(
        "trim",
        [](const DecisionGraph& graph, const Dataset& data, std::optional<Vector<Row>> rows,
           Vector<double> y, std::optional<Vector<double>> weights, const TreeInTreeParams& params,
           std::size_t max_splits, int n_jobs, Numbers numbers) {
            return trim_from_arrays(graph, data, rows, {{}, {y.data(), y.size()}, span_of(weights)},
                                    params, max_splits, n_jobs, numbers);
        },
        "graph"_a, "data"_a, "rows"_a.none(), "targets"_a, "weights"_a.none(), "params"_a,
        "max_splits"_a, "n_jobs"_a = 1, "numbers"_a = nb::none());
}
