#include "arrays.hpp"
#include "margin/mean_margin.hpp"

using namespace hedgerow;

namespace {

// Python's name for how a mean-margin tree is grown.
struct MarginParams : GrowParams {
    int power_steps = 10;
    std::optional<std::uint64_t> start_seed;
};

template <class T>
MarginTable<T> table_of(const T* data, const Table& x, const Vector<std::uint32_t>& n_categories) {
    if (n_categories.size() != x.shape(1)) {
        throw nb::value_error("'n_categories' must have one entry per feature");
    }
    return {data,
            x.shape(0),
            static_cast<std::uint32_t>(x.shape(1)),
            {n_categories.data(), n_categories.size()}};
}

DecisionGraph grow_from_table(const Table& x, const Vector<std::uint32_t>& n_categories,
                              const RowArray& rows, const TargetArray& targets,
                              const WeightArray& weights, std::uint32_t n_classes,
                              const std::optional<Vector<double>>& scale,
                              const MarginParams& params, int n_jobs) {
    const Rows chosen(rows, x.shape(0));
    const Targets learned(targets, chosen, n_classes);
    const Labels labels{.classes = learned.classes,
                        .numbers = learned.numbers,
                        .weights = Weights(weights, chosen).of_rows,
                        .n_outputs = learned.n_outputs,
                        .n_steps = params.power_steps,
                        .seed = params.start_seed};
    if (scale && scale->size() != x.shape(1)) {
        throw nb::value_error("'scale' must have one entry per feature");
    }
    return with_numbers(x, [&](const auto* data) {
        const auto table = table_of(data, x, n_categories);
        return in_core(n_jobs, [&](Team& team) {
            return grow_mean_margin(table, chosen.chosen, labels, span_of(scale), params, team);
        });
    });
}

Array<double> scale_of(const Table& x, const Vector<std::uint32_t>& n_categories,
                       const RowArray& rows, const WeightArray& weights, int n_jobs) {
    const Rows chosen(rows, x.shape(0));
    const Weights checked(weights, chosen);
    return with_numbers(x, [&](const auto* data) {
        const auto table = table_of(data, x, n_categories);
        return array_of(in_core(n_jobs, [&](Team& team) {
            return standard_scale(table, chosen.chosen, checked.of_rows, team);
        }));
    });
}

}  // namespace

void bind_margin(nb::module_& m) {
    using namespace nb::literals;
    nb::class_<MarginParams>(
        m, "MarginParams",
        "How a mean-margin tree is grown; -1 means no limit. With a start seed the power method "
        "starts at random.")
        .def(
            "__init__",
            [](MarginParams* self, std::int64_t max_depth, std::int64_t min_samples_split,
               std::int64_t min_samples_leaf, double min_weight_leaf, double ccp_alpha,
               int power_steps, std::optional<std::uint64_t> start_seed) {
                GrowParams growth;
                growth.max_depth = max_depth;
                growth.min_samples_split = min_samples_split;
                growth.min_samples_leaf = min_samples_leaf;
                growth.min_weight_leaf = min_weight_leaf;
                growth.ccp_alpha = ccp_alpha;
                new (self) MarginParams{growth, power_steps, start_seed};
            },
            nb::kw_only(), "max_depth"_a = -1, "min_samples_split"_a = 2, "min_samples_leaf"_a = 1,
            "min_weight_leaf"_a = 0.0, "ccp_alpha"_a = 0.0, "power_steps"_a = 10,
            "start_seed"_a = nb::none());
    m.def("grow_mean_margin", &grow_from_table, "x"_a, "n_categories"_a, "rows"_a.none(),
          "targets"_a, "weights"_a.none(), "n_classes"_a, "scale"_a.none(), "params"_a,
          "n_jobs"_a = 1,
          "Grow a mean-margin tree on the given rows (all when None) for classes, or for rows of "
          "numbers when 'n_classes' is 0.");
    m.def("standard_scale", &scale_of, "x"_a, "n_categories"_a, "rows"_a.none(), "weights"_a.none(),
          "n_jobs"_a = 1,
          "Standard deviation of each feature; 1 for constant and categorical ones.");
}
