#include <nanobind/stl/function.h>
#include <nanobind/stl/optional.h>

#include "arrays.hpp"
#include "tao/fine_tune.hpp"

using namespace hedgerow;

namespace {

DecisionGraph tune(const DecisionGraph& graph, const Dataset& data,
                   const std::optional<Vector<Row>>& rows, const GrowTargets& targets,
                   const TuneParams& params, int n_jobs,
                   const std::optional<RowMatrix<double>>& numbers,
                   const std::optional<std::function<void(double)>>& after_pass) {
    if (graph.n_features != data.n_features()) {
        throw nb::value_error("the graph has another number of features than the data set");
    }
    if (graph.n_outputs != std::max<std::uint32_t>(params.n_classes, 1)) {
        throw nb::value_error("the graph has another number of outputs than the targets");
    }
    const std::size_t n_targets = std::max(targets.classes.size(), targets.numbers.size());
    if (n_targets != data.n_rows() ||
        (!targets.weights.empty() && targets.weights.size() != n_targets)) {
        throw nb::value_error("targets and weights must have one entry per row");
    }
    if (targets.classes.empty() != (params.n_classes == 0)) {
        throw nb::value_error("'n_classes' must be 0 for numbers, and only for them");
    }
    for (const Row row : span_of(rows)) {
        if (row >= data.n_rows()) throw nb::value_error("a row is out of range");
    }
    for (const std::int32_t y : targets.classes) {
        if (y < 0 || static_cast<std::uint32_t>(y) >= params.n_classes) {
            throw nb::value_error("a class is out of range");
        }
    }
    if (numbers && (numbers->shape(0) != data.n_rows() || numbers->shape(1) != graph.n_features)) {
        throw nb::value_error("'numbers' must have the shape of the data set");
    }
    const auto report = [&](double loss) {
        if (!after_pass) return;
        nb::gil_scoped_acquire held;
        (*after_pass)(loss);
    };
    return in_core(n_jobs, [&](Team& team) {
        return fine_tune(graph, data, span_of(rows), targets, params, team,
                         numbers ? numbers->data() : nullptr, report);
    });
}

}  // namespace

void bind_tao(nb::module_& m) {
    using namespace nb::literals;
    nb::class_<TuneParams>(m, "TuneParams", "How a graph is fine-tuned; 0 classes: regression.")
        .def(
            "__init__",
            [](TuneParams* self, std::uint32_t n_classes, std::uint32_t max_passes,
               std::uint32_t min_samples_leaf) {
                new (self) TuneParams{n_classes, max_passes, min_samples_leaf};
            },
            nb::kw_only(), "n_classes"_a = 0, "max_passes"_a = 20, "min_samples_leaf"_a = 1);

    m.def(
        "fine_tune",
        [](const DecisionGraph& graph, const Dataset& data, std::optional<Vector<Row>> rows,
           Vector<std::int32_t> classes, std::optional<Vector<double>> weights,
           const TuneParams& params, int n_jobs, std::optional<RowMatrix<double>> numbers,
           std::optional<std::function<void(double)>> after_pass) {
            return tune(graph, data, rows, {{classes.data(), classes.size()}, {}, span_of(weights)},
                        params, n_jobs, numbers, after_pass);
        },
        "graph"_a, "data"_a, "rows"_a.none(), "targets"_a, "weights"_a.none(), "params"_a,
        "n_jobs"_a = 1, "numbers"_a = nb::none(), "after_pass"_a = nb::none(),
        "The graph with its tests alternately optimised on the given rows (all when None). Oblique "
        "tests need the 'numbers' behind the data; 'after_pass' hears the training loss.");
    m.def(
        "fine_tune",
        [](const DecisionGraph& graph, const Dataset& data, std::optional<Vector<Row>> rows,
           Vector<double> targets, std::optional<Vector<double>> weights, const TuneParams& params,
           int n_jobs, std::optional<RowMatrix<double>> numbers,
           std::optional<std::function<void(double)>> after_pass) {
            return tune(graph, data, rows, {{}, {targets.data(), targets.size()}, span_of(weights)},
                        params, n_jobs, numbers, after_pass);
        },
        "graph"_a, "data"_a, "rows"_a.none(), "targets"_a, "weights"_a.none(), "params"_a,
        "n_jobs"_a = 1, "numbers"_a = nb::none(), "after_pass"_a = nb::none(),
        "The same for numbers as targets: squared error.");
}
