#include <nanobind/stl/function.h>

#include "arrays.hpp"
#include "tao/fine_tune.hpp"

using namespace hedgerow;

namespace {

DecisionGraph tune(const DecisionGraph& graph, const Dataset& data, const RowArray& rows,
                   const TargetArray& targets, const WeightArray& weights, const TuneParams& params,
                   int n_jobs, const std::optional<RowMatrix<double>>& numbers,
                   const std::optional<std::function<void(double)>>& after_pass) {
    if (graph.n_features != data.n_features()) {
        throw nb::value_error("the graph has another number of features than the data set");
    }
    if (graph.n_outputs != std::max<std::uint32_t>(params.n_classes, 1)) {
        throw nb::value_error("the graph has another number of outputs than the targets");
    }
    const Rows chosen(rows, data.n_rows());
    const GrowTargets learned = grow_targets(targets, weights, chosen, params.n_classes);
    const double* matrix = checked_numbers(numbers, data);
    const auto report = [&](double loss) {
        if (!after_pass) return;
        GilHeld held;
        (*after_pass)(loss);
    };
    return in_core(n_jobs, [&](Team& team) {
        return fine_tune(graph, data, chosen.chosen, learned, params, team, matrix, report);
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
                new (self) TuneParams{.n_classes = n_classes,
                                      .max_passes = max_passes,
                                      .min_samples_leaf = min_samples_leaf};
            },
            nb::kw_only(), "n_classes"_a = 0, "max_passes"_a = 20, "min_samples_leaf"_a = 1);

    m.def("fine_tune", &tune, "graph"_a, "data"_a, "rows"_a.none(), "targets"_a, "weights"_a.none(),
          "params"_a, "n_jobs"_a = 1, "numbers"_a = nb::none(), "after_pass"_a = nb::none(),
          "The graph with its tests alternately optimised on the given rows (all when None). "
          "Oblique tests need the 'numbers' behind the data; 'after_pass' hears the training "
          "loss.");
}
