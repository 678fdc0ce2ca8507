#include <nanobind/stl/function.h>
#include <nanobind/stl/optional.h>

#include "arrays.hpp"
#include "grow/forest.hpp"

using namespace hedgerow;

namespace {

constexpr int format_version = 1;

nb::dict state_of(const Forest& forest) {
    nb::dict out;
    auto state = forest.graphs.state();
    out["format"] = format_version;
    out["n_features"] = forest.graphs.n_features();
    out["n_outputs"] = forest.graphs.n_outputs();
    out["nodes"] = array_of(std::move(state.nodes));
    out["roots"] = array_of(std::move(state.roots));
    out["values"] = array_of(std::move(state.values));
    out["category_feature"] = array_of(std::move(state.category_feature));
    out["importances"] = array_of(std::vector(forest.importances));
    for (auto [name, array] : arrays_of(state.tests)) out[name] = array;
    return out;
}

Forest forest_from(const nb::dict& from) {
    if (!from.contains("format") || nb::cast<int>(from["format"]) != format_version) {
        throw nb::value_error("the forest was written in a format that this version does not know");
    }
    const auto n_features = nb::cast<std::uint32_t>(from["n_features"]);
    PackedGraphs::State state{take<std::uint8_t>(from, "nodes"), take<std::uint32_t>(from, "roots"),
                              take<double>(from, "values"),
                              take<std::uint32_t>(from, "category_feature"), test_pool_from(from)};
    Forest forest{PackedGraphs::from_state(n_features, nb::cast<std::uint32_t>(from["n_outputs"]),
                                           std::move(state)),
                  take<double>(from, "importances")};
    if (forest.importances.size() != forest.graphs.n_graphs() * n_features) {
        throw nb::value_error("the forest's importances have another length");
    }
    return forest;
}

void check_columns(const Forest& forest, std::size_t given) {
    if (given != forest.graphs.n_features()) {
        throw nb::value_error(("the forest has " + std::to_string(forest.graphs.n_features()) +
                               " features, X has " + std::to_string(given))
                                  .c_str());
    }
}

template <class T>
nb::object predict_class(const Forest& forest, const RowMatrix<T>& x, int n_jobs) {
    check_columns(forest, x.shape(1));
    std::vector<std::int32_t> out(x.shape(0));
    in_core(n_jobs, [&](Team& team) {
        forest.graphs.predict_class(x.data(), x.shape(0), out.data(), team);
    });
    return array_of(std::move(out));
}

template <class T>
nb::object predict(const Forest& forest, const RowMatrix<T>& x, int n_jobs) {
    check_columns(forest, x.shape(1));
    const std::size_t n = x.shape(0), k = forest.graphs.n_outputs();
    std::vector<double> out(n * k);
    in_core(n_jobs, [&](Team& team) { forest.graphs.predict(x.data(), n, out.data(), team); });
    return array_of(std::move(out), {n, k});
}

template <class T>
nb::object apply(const Forest& forest, const RowMatrix<T>& x, int n_jobs) {
    check_columns(forest, x.shape(1));
    const std::size_t n = x.shape(0), t = forest.graphs.n_graphs();
    std::vector<std::int32_t> out(n * t);
    in_core(n_jobs, [&](Team& team) { forest.graphs.apply(x.data(), n, out.data(), team); });
    return array_of(std::move(out), {n, t});
}

GrowTargets targets_from(const std::optional<Vector<std::int32_t>>& classes,
                         const std::optional<Vector<double>>& numbers,
                         const std::optional<Vector<double>>& weights) {
    return {span_of(classes), span_of(numbers), span_of(weights)};
}

template <class T>
nb::object importances(const Forest& forest, const ForestParams& params, const RowMatrix<T>& x,
                       const std::optional<Vector<std::int32_t>>& classes,
                       const std::optional<Vector<double>>& numbers, int n_jobs) {
    check_columns(forest, x.shape(1));
    const auto targets = targets_from(classes, numbers, {});
    auto out = in_core(n_jobs, [&](Team& team) {
        return out_of_bag_importances(forest, params, x.data(), x.shape(0), targets, team);
    });
    return array_of(std::move(out), {forest.graphs.n_graphs(), forest.graphs.n_features()});
}

nb::object grow_members(Forest& forest, const Dataset& data,
                        const std::optional<Vector<std::int32_t>>& classes,
                        const std::optional<Vector<double>>& numbers,
                        const std::optional<Vector<double>>& weights, const ForestParams& params,
                        std::size_t n_trees, bool out_of_bag, int n_jobs,
                        const std::function<void(std::size_t)>& progress,
                        const std::optional<Vector<Row>>& rows,
                        const std::optional<Vector<Row>>& held) {
    const auto targets = targets_from(classes, numbers, weights);
    if (rows && rows->size() == 0) throw nb::value_error("no rows to grow on");
    for (const auto& some : {span_of(rows), span_of(held)}) {
        for (const Row row : some) {
            if (row >= data.n_rows()) throw nb::value_error("a row is out of range");
        }
    }
    Unseen unseen{out_of_bag, span_of(held), {}, {}};
    const bool asks = out_of_bag || held;
    if (asks) {
        unseen.sums.resize(data.n_rows() * forest.graphs.n_outputs());
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
            grow_forest(data, span_of(rows), targets, params, n_trees, forest,
                        asks ? &unseen : nullptr, done, team);
        },
        progress ? std::function<void()>(report) : std::function<void()>());
    if (progress) report();
    if (!asks) return nb::none();
    return nb::make_tuple(
        array_of(std::move(unseen.sums), {data.n_rows(), forest.graphs.n_outputs()}),
        array_of(std::move(unseen.counts)));
}

}  // namespace

void bind_forest(nb::module_& m) {
    using namespace nb::literals;
    nb::class_<ForestParams>(m, "ForestParams", "How a forest is grown.")
        .def(
            "__init__",
            [](ForestParams* self, const GrowParams& tree, std::uint64_t seed, bool bootstrap,
               std::uint32_t n_draws, bool balanced_subsample) {
                new (self) ForestParams{tree, seed, bootstrap, n_draws, balanced_subsample};
            },
            "tree"_a, nb::kw_only(), "seed"_a, "bootstrap"_a, "n_draws"_a,
            "balanced_subsample"_a = false)
        .def(
            "bag",
            [](const ForestParams& self, std::size_t n_rows, std::uint64_t member) {
                return array_of(bag_of(self, n_rows, member));
            },
            "n_rows"_a, "member"_a, "How often each row is in a member's bag.");

    nb::class_<Forest>(m, "Forest", "Grown members, packed for prediction.")
        .def(
            "__init__",
            [](Forest* self, std::uint32_t n_features, std::uint32_t n_outputs) {
                new (self) Forest{PackedGraphs(n_features, n_outputs), {}};
            },
            "n_features"_a, "n_outputs"_a)
        .def(
            "grow", &grow_members, "data"_a, "classes"_a.none(), "numbers"_a.none(),
            "weights"_a.none(), "params"_a, "n_trees"_a, "out_of_bag"_a = false, "n_jobs"_a = 1,
            "progress"_a.none() = nb::none(), "rows"_a.none() = nb::none(),
            "held"_a.none() = nb::none(),
            "Grow on the given rows (all when None); sums and counts of the values of unseen rows.")
        .def("out_of_bag_importances", &importances<float>, "params"_a, "x"_a, "classes"_a.none(),
             "numbers"_a.none(), "n_jobs"_a = 1)
        .def("out_of_bag_importances", &importances<double>, "params"_a, "x"_a, "classes"_a.none(),
             "numbers"_a.none(), "n_jobs"_a = 1)
        .def(
            "first",
            [](const Forest& self, std::size_t n) {
                if (n > self.graphs.n_graphs()) throw nb::index_error("no such member");
                const auto cut = self.importances.begin() +
                                 static_cast<std::ptrdiff_t>(n * self.graphs.n_features());
                return Forest{self.graphs.first(n), {self.importances.begin(), cut}};
            },
            "n"_a)
        .def(
            "graph",
            [](const Forest& self, std::size_t i) {
                if (i >= self.graphs.n_graphs()) throw nb::index_error("no such member");
                return self.graphs.unpack(i);
            },
            "i"_a)
        .def("predict_class", &predict_class<float>, "x"_a, "n_jobs"_a = 1)
        .def("predict_class", &predict_class<double>, "x"_a, "n_jobs"_a = 1)
        .def("predict", &predict<float>, "x"_a, "n_jobs"_a = 1)
        .def("predict", &predict<double>, "x"_a, "n_jobs"_a = 1)
        .def("apply", &apply<float>, "x"_a, "n_jobs"_a = 1)
        .def("apply", &apply<double>, "x"_a, "n_jobs"_a = 1)
        .def_prop_ro("n_members", [](const Forest& f) { return f.graphs.n_graphs(); })
        .def_prop_ro("n_features", [](const Forest& f) { return f.graphs.n_features(); })
        .def_prop_ro("n_outputs", [](const Forest& f) { return f.graphs.n_outputs(); })
        .def_prop_ro("n_nodes", [](const Forest& f) { return f.graphs.n_nodes(); })
        .def_prop_ro("nbytes", [](const Forest& f) { return f.graphs.nbytes(); })
        .def_prop_ro("importances",
                     [](const Forest& f) {
                         return array_of(std::vector(f.importances),
                                         {f.graphs.n_graphs(), f.graphs.n_features()});
                     })
        .def("__getstate__", &state_of)
        .def("__setstate__",
             [](Forest& self, const nb::dict& state) { new (&self) Forest(forest_from(state)); });
}
