#include "arrays.hpp"
#include "graph/packed.hpp"

using namespace hedgerow;

namespace {

void pack(PackedGraphs* self, const nb::typed<nb::sequence, DecisionGraph>& graphs) {
    std::vector<nb::object> kept;  // the caller's list may change while the GIL is released
    std::vector<const DecisionGraph*> given;
    for (nb::handle graph : graphs) {
        kept.push_back(nb::borrow(graph));
        given.push_back(&nb::cast<const DecisionGraph&>(graph));
    }
    if (given.empty()) throw nb::value_error("at least one graph is needed");
    PackedGraphs packed = in_core(1, [&](Team& team) {
        PackedGraphs out(given[0]->n_features, given[0]->n_outputs);
        for (const DecisionGraph* graph : given) {
            team.checkpoint(0);
            out.add(*graph);
        }
        return out;
    });
    new (self) PackedGraphs(std::move(packed));
}

DecisionGraph graph_of(const PackedGraphs& graphs, std::size_t i) {
    if (i >= graphs.n_graphs()) throw nb::index_error("no such member");
    return in_core(1, [&](Team&) { return graphs.unpack(i); });
}

// Calls body(numbers, n_rows, team) on a table of the graphs' features.
template <class Body>
void for_table(const PackedGraphs& graphs, const Table& x, int n_jobs, const Body& body) {
    if (x.shape(1) != graphs.n_features()) {
        throw nb::value_error(("the model has " + std::to_string(graphs.n_features()) +
                               " features, X has " + std::to_string(x.shape(1)))
                                  .c_str());
    }
    with_numbers(x, [&](const auto* numbers) {
        in_core(n_jobs, [&](Team& team) { body(numbers, x.shape(0), team); });
    });
}

Array<double> predict(const PackedGraphs& graphs, const Table& x, int n_jobs) {
    std::vector<double> out(x.shape(0) * graphs.n_outputs());
    for_table(graphs, x, n_jobs, [&](const auto* numbers, std::size_t n, Team& team) {
        graphs.predict(numbers, n, out.data(), team);
    });
    return array_of(std::move(out), {x.shape(0), graphs.n_outputs()});
}

Array<std::int32_t> predict_class(const PackedGraphs& graphs, const Table& x, int n_jobs) {
    std::vector<std::int32_t> out(x.shape(0));
    for_table(graphs, x, n_jobs, [&](const auto* numbers, std::size_t n, Team& team) {
        graphs.predict_class(numbers, n, out.data(), team);
    });
    return array_of(std::move(out));
}

Array<std::int32_t> apply(const PackedGraphs& graphs, const Table& x, int n_jobs) {
    std::vector<std::int32_t> out(x.shape(0) * graphs.n_graphs());
    for_table(graphs, x, n_jobs, [&](const auto* numbers, std::size_t n, Team& team) {
        graphs.apply(numbers, n, out.data(), team);
    });
    return array_of(std::move(out), {x.shape(0), graphs.n_graphs()});
}

using OneRow = nb::ndarray<nb::ro, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// The fast lane: one row, already numbers, no validation beyond its length.
class RowPredictor {
  public:
    RowPredictor(const PackedGraphs& graphs, nb::object labels)
        : graphs_(graphs), labels_(std::move(labels)), out_(graphs.n_outputs()) {}

    nb::object predict(const OneRow& row) {
        run(row);
        if (labels_.is_none()) return nb::float_(out_[0]);
        const auto best = std::max_element(out_.begin(), out_.end()) - out_.begin();
        return labels_[static_cast<std::size_t>(best)];
    }
    Array<double> values(const OneRow& row) {
        run(row);
        return array_of(std::vector(out_));
    }

  private:
    void run(const OneRow& row) {
        if (row.size() != graphs_.n_features()) {
            throw nb::value_error(("the model has " + std::to_string(graphs_.n_features()) +
                                   " features, the row has " + std::to_string(row.size()))
                                      .c_str());
        }
        with_numbers(row, [&](const auto* x) { graphs_.predict_row(x, out_.data()); });
    }

    const PackedGraphs& graphs_;  // kept alive by nanobind
    nb::object labels_;
    std::vector<double> out_;
};

}  // namespace

void bind_packed(nb::module_& m) {
    using namespace nb::literals;
    nb::class_<PackedGraphs>(m, "PackedGraphs", "One or more graphs, laid out for prediction.")
        .def("__init__", &pack, "graphs"_a)
        .def("graph", &graph_of, "i"_a, "Member i as a graph, without counts and impurities.")
        .def("predict", &predict, "x"_a, "n_jobs"_a = 1, "The mean of the members' values.")
        .def("predict_class", &predict_class, "x"_a, "n_jobs"_a = 1,
             "The output with the largest mean value.")
        .def("apply", &apply, "x"_a, "n_jobs"_a = 1, "The leaf of each row in each member.")
        .def_prop_ro("n_members", &PackedGraphs::n_graphs)
        .def_prop_ro("n_features", &PackedGraphs::n_features)
        .def_prop_ro("n_outputs", &PackedGraphs::n_outputs)
        .def_prop_ro("n_nodes", &PackedGraphs::n_nodes)
        .def_prop_ro(
            "values",
            [](nb::handle self) {
                const auto& graphs = nb::cast<const PackedGraphs&>(self);
                const auto values = graphs.values();
                const std::size_t k = graphs.n_outputs();
                return view_of(values.data(), {values.size() / k, k}, self);
            },
            "The distinct values of all leaves, one row each; none for one output.")
        .def_prop_ro("nbytes", &PackedGraphs::nbytes);

    nb::class_<RowPredictor>(m, "RowPredictor", "Predicts one row of numbers, fast.")
        .def(
            "__init__",
            [](RowPredictor* self, const PackedGraphs& graphs, nb::object labels) {
                new (self) RowPredictor(graphs, std::move(labels));
            },
            "graphs"_a, "labels"_a.none(), nb::keep_alive<1, 2>())
        .def("__call__", &RowPredictor::predict, "row"_a)
        .def("values", &RowPredictor::values, "row"_a);
}
