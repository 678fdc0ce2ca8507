#include <nanobind/stl/function.h>

#include "arrays.hpp"
#include "grow/forest.hpp"

using namespace hedgerow;

namespace {

constexpr std::uint32_t format_version = 1;

nb::dict state_of(const Forest& forest) {
    nb::dict out;
    auto state = forest.state();
    out["format"] = format_version;
    out["n_features"] = forest.n_features();
    out["n_outputs"] = forest.n_outputs();
    out["nodes"] = array_of(std::move(state.nodes));
    out["roots"] = array_of(std::move(state.roots));
    out["values"] = array_of(std::move(state.values));
    out["category_feature"] = array_of(std::move(state.category_feature));
    out["importances"] = array_of(std::vector(forest.importances));
    for (auto [name, array] : arrays_of(state.tests)) out[name] = array;
    return out;
}

Forest forest_from(const nb::dict& from) {
    if (number(from, "format") != format_version) {
        throw nb::value_error("the forest was written in a format that this version does not know");
    }
    const auto n_features = number(from, "n_features");
    PackedGraphs::State state{take<std::uint8_t>(from, "nodes"), take<std::uint32_t>(from, "roots"),
                              take<double>(from, "values"),
                              take<std::uint32_t>(from, "category_feature"), test_pool_from(from)};
    Forest forest{PackedGraphs::from_state(n_features, number(from, "n_outputs"), std::move(state)),
                  take<double>(from, "importances")};
    if (forest.importances.size() != forest.n_graphs() * n_features) {
        throw nb::value_error("the forest's importances have another length");
    }
    return forest;
}

Array<double> importances(const Forest& forest, const ForestParams& params, const Table& x,
                          const TargetArray& targets, int n_jobs) {
    if (x.shape(1) != forest.n_features()) {
        throw nb::value_error("X must have the features of the forest");
    }
    const GrowTargets learned = several_targets(targets, {}, Rows({}, x.shape(0)), params.tree);
    auto out = with_numbers(x, [&](const auto* numbers) {
        return in_core(n_jobs, [&](Team& team) {
            return out_of_bag_importances(forest, params, numbers, x.shape(0), learned, team);
        });
    });
    return array_of(std::move(out), {forest.n_graphs(), forest.n_features()});
}

using SumsAndCounts = std::tuple<Array<double>, Array<std::uint32_t>>;

std::optional<SumsAndCounts> grow_members(Forest& forest, const Dataset& data, const RowArray& rows,
                                          const TargetArray& targets, const WeightArray& weights,
                                          const ForestParams& params, std::size_t n_trees,
                                          bool out_of_bag, int n_jobs,
                                          const std::function<void(std::size_t)>& progress,
                                          const RowArray& held) {
    if (data.n_features() != forest.n_features()) {
        throw nb::value_error("the data must have the features of the forest");
    }
    const Rows chosen(rows, data.n_rows());
    const GrowTargets learned = several_targets(targets, weights, chosen, params.tree);
    if (std::max(params.tree.n_classes, learned.n_outputs) != forest.n_outputs()) {
        throw nb::value_error("the forest has another number of outputs than the targets");
    }
    if (params.n_draws == 0) throw nb::value_error("'n_draws' must be at least 1");
    Unseen unseen{.out_of_bag = out_of_bag,
                  .held = checked_rows(held, data.n_rows()),
                  .sums = {},
                  .counts = {}};
    const bool asks = out_of_bag || held;
    if (asks) {
        unseen.sums.resize(data.n_rows() * forest.n_outputs());
        unseen.counts.resize(data.n_rows());
    }
    std::atomic<std::size_t> done{0};
    std::size_t reported = 0;
    const auto report = [&] {
        if (const std::size_t now = done; now != reported) progress(reported = now);
    };
    in_core(
        n_jobs,
        [&](Team& team) {
            grow_forest(data, chosen.chosen, learned, params, n_trees, forest,
                        asks ? &unseen : nullptr, done, team);
        },
        progress ? std::function<void()>(report) : std::function<void()>());
    if (progress) report();
    if (!asks) return {};
    return SumsAndCounts{array_of(std::move(unseen.sums), {data.n_rows(), forest.n_outputs()}),
                         array_of(std::move(unseen.counts))};
}

}  // namespace

void bind_forest(nb::module_& m) {
    using namespace nb::literals;
    nb::class_<ForestParams>(m, "ForestParams", "How a forest is grown.")
        .def(
            "__init__",
            [](ForestParams* self, const GrowParams& tree, std::uint64_t seed, bool bootstrap,
               std::uint32_t n_draws, bool balanced_subsample, bool by_row, std::uint64_t first) {
                new (self) ForestParams{.tree = tree,
                                        .seed = seed,
                                        .bootstrap = bootstrap,
                                        .n_draws = n_draws,
                                        .balanced_subsample = balanced_subsample,
                                        .by_row = by_row,
                                        .first = first};
            },
            "tree"_a, nb::kw_only(), "seed"_a, "bootstrap"_a, "n_draws"_a,
            "balanced_subsample"_a = false, "by_row"_a = false, "first"_a = 0)
        .def(
            "bag",
            [](const ForestParams& self, std::size_t n_rows, std::uint64_t member) {
                return array_of(bag_of(self, n_rows, member));
            },
            "n_rows"_a, "member"_a, "How often each row is in a member's bag.")
        .def(
            "bag_of_rows",
            [](const ForestParams& self, std::size_t n_rows, std::uint64_t member,
               std::size_t first, std::size_t n) {
                if (!self.by_row) throw nb::value_error("the bags are not drawn by row");
                return array_of(bag_of_rows(self, n_rows, member, first, n));
            },
            "n_rows"_a, "member"_a, "first"_a, "n"_a, "The same for some neighbouring rows.")
        .def("seed_of_tree", &seed_of_tree, "member"_a, "What a member's tree draws from.");

    nb::class_<Forest, PackedGraphs>(m, "Forest", "Packed members with their importances.")
        .def(nb::init<std::uint32_t, std::uint32_t>(), "n_features"_a, "n_outputs"_a)
        .def("grow", &grow_members, "data"_a, "rows"_a.none(), "targets"_a, "weights"_a.none(),
             "params"_a, "n_trees"_a, "out_of_bag"_a = false, "n_jobs"_a = 1,
             "progress"_a.none() = nb::none(), "held"_a.none() = nb::none(),
             "Grow members on the given rows (all when None). Returns sums and counts of the "
             "values of unseen rows, those out of a bag or 'held', or None where none are asked "
             "for.")
        .def("out_of_bag_importances", &importances, "params"_a, "x"_a, "targets"_a, "n_jobs"_a = 1)
        .def(
            "first",
            [](const Forest& self, std::size_t n) {
                if (n > self.n_graphs()) throw nb::index_error("no such member");
                const auto cut =
                    self.importances.begin() + static_cast<std::ptrdiff_t>(n * self.n_features());
                return Forest(self.first(n), {self.importances.begin(), cut});
            },
            "n"_a, "A forest of the first n members.")
        .def_static(
            "of",
            [](const GraphList& graphs) {
                const Graphs members(graphs);
                if (members.given.empty()) throw nb::value_error("there are no graphs");
                return in_core(1, [&](Team&) {
                    Forest out(members.given[0]->n_features, members.given[0]->n_outputs);
                    for (const DecisionGraph* graph : members.given) out.add_member(*graph);
                    out.seal();
                    return out;
                });
            },
            "graphs"_a, "A forest of trees that were grown elsewhere.")
        .def_static(
            "joined",
            [](const std::vector<nb::handle>& parts) {
                std::vector<const Forest*> forests;
                for (const nb::handle part : parts) {
                    forests.push_back(&nb::cast<const Forest&>(part));
                }
                if (forests.empty()) throw nb::value_error("there are no forests to join");
                for (const Forest* forest : forests) {
                    if (forest->n_features() != forests[0]->n_features() ||
                        forest->n_outputs() != forests[0]->n_outputs()) {
                        throw nb::value_error("the forests are of different tables");
                    }
                }
                return in_core(1, [&](Team&) {
                    return Forest::joined(forests[0]->n_features(), forests[0]->n_outputs(),
                                          forests);
                });
            },
            "parts"_a, "The members of forests, one after the other.")
        .def_prop_ro(
            "importances",
            [](const Forest& f) {
                return array_of(std::vector(f.importances), {f.n_graphs(), f.n_features()});
            },
            nb::rv_policy::move)
        .def("__getstate__", &state_of)
        .def("__setstate__",
             [](Forest& self, const nb::dict& state) { new (&self) Forest(forest_from(state)); });
}
