#include "additive/tree_sum.hpp"
#include "arrays.hpp"

using namespace hedgerow;

namespace {

nb::dict grow_sum(const Dataset& data, const RowArray& rows, const TargetArray& targets,
                  const WeightArray& weights, const TreeSumParams& params, int n_jobs) {
    const Rows chosen(rows, data.n_rows());
    const GrowTargets checked = grow_targets(targets, weights, chosen, params.loss.n_classes);
    const LossTargets learned{checked.classes, checked.numbers, checked.weights};
    params.loss.check(learned);
    TreeSum sum = in_core(n_jobs, [&](Team& team) {
        return grow_tree_sum(data, chosen.chosen, learned, params, team);
    });
    nb::dict out;
    nb::list members;
    for (auto& graph : sum.members) members.append(nb::cast(std::move(graph)));
    out["members"] = members;
    out["intercept"] = array_of(std::move(sum.intercept));
    out["losses"] = array_of(std::move(sum.losses));
    out["ridge"] = sum.ridge;
    out["freedom"] = sum.freedom;
    return out;
}

}  // namespace

void bind_additive(nb::module_& m) {
    using namespace nb::literals;
    nb::class_<TreeSumParams>(m, "TreeSumParams", "How a sum of trees is grown; -1: no limit.")
        .def(
            "__init__",
            [](TreeSumParams* self, const std::string& loss, std::uint32_t n_classes, double level,
               std::uint32_t max_splits, std::int64_t max_members, std::int64_t max_depth,
               std::uint32_t min_samples_leaf, double ridge, double category_smoothing,
               double min_gain, double feature_price, double threshold_price,
               std::uint32_t max_swaps, std::uint32_t tuning_passes, bool exact_search,
               double tolerance, std::vector<std::int8_t> monotone) {
                new (self) TreeSumParams{.loss = {loss_named(loss), n_classes, level},
                                         .max_splits = max_splits,
                                         .max_members = max_members,
                                         .max_depth = max_depth,
                                         .min_samples_leaf = min_samples_leaf,
                                         .ridge = ridge,
                                         .category_smoothing = category_smoothing,
                                         .min_gain = min_gain,
                                         .feature_price = feature_price,
                                         .threshold_price = threshold_price,
                                         .max_swaps = max_swaps,
                                         .tuning_passes = tuning_passes,
                                         .exact_search = exact_search,
                                         .tolerance = tolerance,
                                         .monotone = std::move(monotone)};
            },
            nb::kw_only(), "loss"_a, "n_classes"_a = 0, "level"_a = 0.5, "max_splits"_a = 40,
            "max_members"_a = -1, "max_depth"_a = -1, "min_samples_leaf"_a = 1, "ridge"_a = -1.0,
            "category_smoothing"_a = 0.0, "min_gain"_a = 0.0, "feature_price"_a = 0.0,
            "threshold_price"_a = 0.0, "max_swaps"_a = 0, "tuning_passes"_a = 0,
            "exact_search"_a = true, "tolerance"_a = 1e-2,
            "monotone"_a = std::vector<std::int8_t>());

    m.def("grow_tree_sum", &grow_sum, "data"_a, "rows"_a.none(), "targets"_a, "weights"_a.none(),
          "params"_a, "n_jobs"_a = 1, "Grow a sum of trees on the given rows (all when None).");
}
