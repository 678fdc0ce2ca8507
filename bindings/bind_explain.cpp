#include "arrays.hpp"
#include "explain/shapley.hpp"

using namespace hedgerow;

namespace {

void check_table(const Graphs& graphs, const Table& x) {
    if (graphs.given.empty()) throw nb::value_error("at least one graph is needed");
    const auto& first = *graphs.given[0];
    for (const DecisionGraph* graph : graphs.given) {
        if (graph->n_features != x.shape(1) || graph->n_outputs != first.n_outputs) {
            throw nb::value_error("the graphs and the table differ in features or outputs");
        }
    }
}

// Calls body(numbers of x, numbers of other) for two tables of one type.
template <class Body>
auto with_same_numbers(const Table& x, const Table& other, const Body& body) {
    if (x.dtype() != other.dtype() || x.shape(1) != other.shape(1)) {
        throw nb::value_error("the rows and the background differ in type or features");
    }
    return with_numbers(x, [&](const auto* numbers) {
        return body(numbers, static_cast<decltype(numbers)>(other.data()));
    });
}

using ValuesAndExpected = std::tuple<Array<double>, Array<double>>;

ValuesAndExpected by_paths(const GraphList& list, const Table& x,
                           const std::optional<Table>& counted, bool interactions, int n_jobs) {
    const Graphs graphs(list);
    check_table(graphs, x);
    const std::size_t n = x.shape(0), p = x.shape(1), k = graphs.given[0]->n_outputs;
    std::vector<double> out(n * p * k * (interactions ? p : 1)), expected;
    with_same_numbers(x, counted ? *counted : x, [&](const auto* numbers, const auto* rows) {
        in_core(n_jobs, [&](Team& team) {
            PathShapley shapley(static_cast<std::uint32_t>(p), static_cast<std::uint32_t>(k));
            for (const DecisionGraph* graph : graphs.given) {
                team.checkpoint(0);
                shapley.add(*graph, counted ? left_shares(*graph, rows, counted->shape(0))
                                            : left_shares(*graph));
            }
            if (interactions) {
                shapley.interactions(numbers, n, out.data(), team);
            } else {
                shapley.values(numbers, n, out.data(), team);
            }
            expected = shapley.expected();
        });
    });
    std::vector<std::size_t> shape{n, p, k};
    if (interactions) shape.insert(shape.begin() + 1, p);
    return {array_of(std::move(out), shape), array_of(std::move(expected))};
}

Array<double> by_rows(const GraphList& list, const Table& x, const Table& background, int n_jobs) {
    const Graphs graphs(list);
    check_table(graphs, x);
    if (background.shape(0) == 0) throw nb::value_error("at least one background row is needed");
    const std::size_t n = x.shape(0), p = x.shape(1), k = graphs.given[0]->n_outputs;
    std::vector<double> out(n * p * k);
    with_same_numbers(x, background, [&](const auto* numbers, const auto* others) {
        in_core(n_jobs, [&](Team& team) {
            background_shapley<std::remove_cvref_t<decltype(*numbers)>>(
                graphs.given, numbers, n, others, background.shape(0), out.data(), team);
        });
    });
    return array_of(std::move(out), {n, p, k});
}

}  // namespace

void bind_explain(nb::module_& m) {
    using namespace nb::literals;
    m.def("shapley_by_paths", &by_paths, "graphs"_a, "x"_a, "counted"_a = nb::none(),
          "interactions"_a = false, "n_jobs"_a = 1,
          "Shapley values of rows, or those of pairs of features, summed over the graphs, and the "
          "expected value; shares of rows by the `counted` ones, or as the graphs kept them.");
    m.def("shapley_by_rows", &by_rows, "graphs"_a, "x"_a, "background"_a, "n_jobs"_a = 1,
          "Shapley values of rows against background rows, summed over the graphs.");
}
