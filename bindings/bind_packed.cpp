#include "arrays.hpp"
#include "base/exponential.hpp"
#include "graph/graph_sum.hpp"
#include "graph/packed.hpp"

using namespace hedgerow;

namespace {

void pack(PackedGraphs* self, const GraphList& list) {
    const Graphs graphs(list);
    const auto& given = graphs.given;
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

void add_up(GraphSum* self, std::uint32_t n_features, const GraphList& list,
            const Vector<double>& intercept, const std::string& link) {
    const Graphs graphs(list);
    std::vector<double> start(intercept.data(), intercept.data() + intercept.size());
    GraphSum sum = in_core(1, [&](Team&) {
        return GraphSum(n_features, graphs.given, std::move(start), link_of(link));
    });
    new (self) GraphSum(std::move(sum));
}

DecisionGraph graph_of(const PackedGraphs& graphs, std::size_t i) {
    if (i >= graphs.n_graphs()) throw nb::index_error("no such member");
    return in_core(1, [&](Team&) { return graphs.unpack(i); });
}

template <class Model>
void check_features(const Model& graphs, std::size_t n_features) {
    if (n_features == graphs.n_features()) return;
    throw nb::value_error(("the model has " + std::to_string(graphs.n_features()) +
                           " features, X has " + std::to_string(n_features))
                              .c_str());
}

std::size_t n_rows(const Table& x) { return x.shape(0); }
std::size_t n_rows(const SparseTable& x) { return x.n_lines(); }

// A thread takes as long to start as some thousand rows to walk through a graph.
template <class Model>
int threads_worth(const Model& graphs, std::size_t n_rows, int n_jobs) {
    constexpr std::size_t walks = 4096;
    return static_cast<int>(
        std::min(static_cast<std::size_t>(n_jobs), 1 + n_rows * graphs.n_graphs() / walks));
}

// Calls body(numbers, first, n, team) on the rows of a table of the graphs' features, or on blocks
// of them.
template <class Model, class Body>
void for_table(const Model& graphs, const Table& x, int n_jobs, const Body& body) {
    check_features(graphs, x.shape(1));
    with_numbers(x, [&](const auto* numbers) {
        in_core(threads_worth(graphs, x.shape(0), n_jobs),
                [&](Team& team) { body(numbers, std::size_t{0}, x.shape(0), team); });
    });
}

template <class Model, class Body>
void for_table(const Model& graphs, const SparseTable& x, int n_jobs, const Body& body) {
    check_features(graphs, x.length);
    with_lines(x, [&](const auto& rows) {
        in_core(n_jobs, [&](Team& team) { for_dense_blocks(rows, team, body); });
    });
}

template <class AnyTable>
Array<double> predict(const PackedGraphs& graphs, const AnyTable& x, int n_jobs) {
    const std::size_t k = graphs.n_outputs();
    std::vector<double> out(n_rows(x) * k);
    for_table(graphs, x, n_jobs,
              [&](const auto* numbers, std::size_t first, std::size_t n, Team& team) {
                  graphs.predict(numbers, n, out.data() + first * k, team);
              });
    return array_of(std::move(out), {n_rows(x), k});
}

template <class AnyTable>
Array<std::int32_t> predict_class(const PackedGraphs& graphs, const AnyTable& x, int n_jobs) {
    std::vector<std::int32_t> out(n_rows(x));
    for_table(graphs, x, n_jobs,
              [&](const auto* numbers, std::size_t first, std::size_t n, Team& team) {
                  graphs.predict_class(numbers, n, out.data() + first, team);
              });
    return array_of(std::move(out));
}

template <class AnyTable>
Array<std::int32_t> apply(const PackedGraphs& graphs, const AnyTable& x, int n_jobs) {
    const std::size_t k = graphs.n_graphs();
    std::vector<std::int32_t> out(n_rows(x) * k);
    for_table(graphs, x, n_jobs,
              [&](const auto* numbers, std::size_t first, std::size_t n, Team& team) {
                  graphs.apply(numbers, n, out.data() + first * k, team);
              });
    return array_of(std::move(out), {n_rows(x), k});
}

template <class AnyTable>
Array<double> scores_of(const GraphSum& sum, const AnyTable& x, int n_jobs) {
    const std::size_t k = sum.n_scores();
    std::vector<double> out(n_rows(x) * k);
    for_table(sum, x, n_jobs,
              [&](const auto* numbers, std::size_t first, std::size_t n, Team& team) {
                  sum.scores(numbers, n, out.data() + first * k, team);
              });
    return array_of(std::move(out), {n_rows(x), k});
}

template <class AnyTable>
Array<double> values_of(const GraphSum& sum, const AnyTable& x, int n_jobs) {
    const std::size_t k = sum.n_values();
    std::vector<double> out(n_rows(x) * k);
    for_table(sum, x, n_jobs,
              [&](const auto* numbers, std::size_t first, std::size_t n, Team& team) {
                  sum.predict(numbers, n, out.data() + first * k, team);
              });
    return array_of(std::move(out), {n_rows(x), k});
}

Array<double> link_rows(const RowMatrix<double>& scores, const std::string& name, int n_jobs) {
    const Link link = link_of(name);
    const std::size_t n = scores.shape(0), k = scores.shape(1);
    if (k == 0 || (link == Link::logit && k != 1))
        throw nb::value_error("another number of scores");
    std::vector<double> out(n * n_linked(link, k));
    in_core(n_jobs, [&](Team& team) { link_scores(link, scores.data(), n, k, out.data(), team); });
    return array_of(std::move(out), {n, n_linked(link, k)});
}

using OneRow = nb::ndarray<nb::ro, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

std::size_t n_values(const PackedGraphs& graphs) { return graphs.n_outputs(); }
std::size_t n_values(const GraphSum& sum) { return sum.n_values(); }

// The fast lane: one row, already numbers, no validation beyond its length.
template <class Model>
class RowPredictor {
  public:
    RowPredictor(const Model& graphs, nb::object labels)
        : graphs_(graphs), labels_(std::move(labels)), out_(n_values(graphs)) {}

    nb::object predict(const OneRow& row) {
        run(row);
        if (labels_.is_none()) {
            if (out_.size() == 1) return nb::float_(out_[0]);
            return nb::cast(array_of(std::vector(out_)));
        }
        auto of_output = out_.begin();
        const auto best_of = [&](nb::handle labels) {
            const auto end = of_output + static_cast<std::ptrdiff_t>(nb::len(labels));
            const auto best = std::max_element(of_output, end) - of_output;
            of_output = end;
            return nb::object(labels[static_cast<std::size_t>(best)]);
        };
        if (!nb::isinstance<nb::tuple>(labels_)) return best_of(labels_);
        nb::list out;  // a label for each output
        for (nb::handle labels : labels_) out.append(best_of(labels));
        return out;
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

    const Model& graphs_;  // kept alive by nanobind
    nb::object labels_;
    std::vector<double> out_;
};

template <class Model>
void bind_row_predictor(nb::module_& m, const char* name, const char* text) {
    using namespace nb::literals;
    using Predictor = RowPredictor<Model>;
    nb::class_<Predictor>(m, name, text)
        .def(
            "__init__",
            [](Predictor* self, const Model& graphs, nb::object labels) {
                new (self) Predictor(graphs, std::move(labels));
            },
            "graphs"_a, "labels"_a.none(), nb::keep_alive<1, 2>())
        .def("__call__", &Predictor::predict, "row"_a)
        .def("values", &Predictor::values, "row"_a);
}

}  // namespace

void bind_packed(nb::module_& m) {
    using namespace nb::literals;
    nb::class_<PackedGraphs>(m, "PackedGraphs", "One or more graphs, laid out for prediction.")
        .def("__init__", &pack, "graphs"_a)
        .def("graph", &graph_of, "i"_a, "Member i as a graph, without counts and impurities.")
        .def("predict", &predict<Table>, "x"_a, "n_jobs"_a = 1, "The mean of the members' values.")
        .def("predict", &predict<SparseTable>, "x"_a, "n_jobs"_a = 1)
        .def("predict_class", &predict_class<Table>, "x"_a, "n_jobs"_a = 1,
             "The output with the largest mean value.")
        .def("predict_class", &predict_class<SparseTable>, "x"_a, "n_jobs"_a = 1)
        .def("apply", &apply<Table>, "x"_a, "n_jobs"_a = 1, "The leaf of each row in each member.")
        .def("apply", &apply<SparseTable>, "x"_a, "n_jobs"_a = 1)
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

    nb::class_<GraphSum>(m, "GraphSum", "A sum of graphs, with an intercept and a link.")
        .def("__init__", &add_up, "n_features"_a, "graphs"_a, "intercept"_a, "link"_a)
        .def("scores", &scores_of<Table>, "x"_a, "n_jobs"_a = 1,
             "The intercept and the members' values, added up.")
        .def("scores", &scores_of<SparseTable>, "x"_a, "n_jobs"_a = 1)
        .def("predict", &values_of<Table>, "x"_a, "n_jobs"_a = 1, "The scores through the link.")
        .def("predict", &values_of<SparseTable>, "x"_a, "n_jobs"_a = 1)
        .def_prop_ro("graphs", &GraphSum::graphs, nb::rv_policy::reference_internal)
        .def_prop_ro("nbytes", &GraphSum::nbytes);

    m.def("link", &link_rows, "scores"_a, "name"_a, "n_jobs"_a = 1, "Values out of scores.");
    m.def(
        "exponential", [](double x) { return exponential(x); }, "x"_a,
        "e to the power of x, with the same bits on every machine.");

    bind_row_predictor<PackedGraphs>(m, "RowPredictor", "Predicts one row of numbers, fast.");
    bind_row_predictor<GraphSum>(m, "SumRowPredictor", "Predicts one row of numbers by a sum.");
}
