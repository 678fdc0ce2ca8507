#include <algorithm>

#include "arrays.hpp"
#include "graph/coded.hpp"
#include "graph/decision_graph.hpp"
#include "graph/value_order.hpp"

using namespace hedgerow;

nb::dict hedgerow::arrays_of(const TestPool& tests) {
    nb::dict out;
    const auto put = [&](const char* name, auto values) {
        out[name] = array_of(std::move(values));
    };
    put("category_words", tests.words);
    put("category_start", tests.word_start);
    std::vector<std::int32_t> features, categories;
    std::vector<double> weights, centres;
    std::vector<std::uint32_t> starts{0};
    for (const auto& test : tests.oblique) {
        for (const ObliqueTerm& term : test->terms()) {
            features.push_back(term.feature);
            categories.push_back(term.category);
            weights.push_back(term.weight);
            centres.push_back(term.centre);
        }
        starts.push_back(static_cast<std::uint32_t>(features.size()));
    }
    put("oblique_feature", std::move(features));
    put("oblique_category", std::move(categories));
    put("oblique_weight", std::move(weights));
    put("oblique_centre", std::move(centres));
    put("oblique_start", std::move(starts));
    return out;
}

TestPool hedgerow::test_pool_from(const nb::dict& from) {
    TestPool tests;
    tests.words = take<std::uint64_t>(from, "category_words");
    tests.word_start = take<std::uint32_t>(from, "category_start");
    const auto starts = take<std::uint32_t>(from, "oblique_start");
    const auto features = take<std::int32_t>(from, "oblique_feature");
    const auto categories = take<std::int32_t>(from, "oblique_category");
    const auto weights = take<double>(from, "oblique_weight");
    const auto centres = take<double>(from, "oblique_centre");
    if (features.size() != weights.size() || features.size() != centres.size() ||
        features.size() != categories.size()) {
        throw nb::value_error("the oblique terms differ in length");
    }
    if (starts.empty() || starts.front() != 0 || starts.back() != features.size() ||
        !std::is_sorted(starts.begin(), starts.end())) {
        throw nb::value_error("the graph's oblique tests are broken");
    }
    for (std::size_t test = 0; test + 1 < starts.size(); ++test) {
        std::vector<ObliqueTerm> terms;
        for (std::size_t i = starts[test]; i < starts[test + 1]; ++i) {
            terms.push_back({features[i], categories[i], weights[i], centres[i]});
        }
        tests.add_oblique(std::make_shared<const ObliqueTest>(terms));
    }
    return tests;
}

namespace {

constexpr std::uint32_t format_version = 1;

template <class T>
auto column(std::vector<T> DecisionGraph::* member) {
    return [member](nb::handle self) {
        const auto& values = nb::cast<const DecisionGraph&>(self).*member;
        return view_of(values.data(), {values.size()}, self);
    };
}

Array<const double> value(nb::handle self) {
    const auto& graph = nb::cast<const DecisionGraph&>(self);
    return view_of(graph.value.data(), {graph.n_nodes(), graph.n_outputs}, self);
}

// The graph as named arrays: what is pickled, saved and sent to other programs.
nb::dict arrays(const DecisionGraph& graph) {
    nb::dict out;
    out["format"] = format_version;
    out["n_features"] = graph.n_features;
    out["n_outputs"] = graph.n_outputs;
    const auto put = [&](const char* name, auto values) {
        out[name] = array_of(std::move(values));
    };
    put("kind", graph.kind);
    put("missing_left", graph.missing_left);
    put("feature", graph.feature);
    put("left", graph.left);
    put("right", graph.right);
    put("detail", graph.detail);
    put("threshold", graph.threshold);
    put("n_samples", graph.n_samples);
    put("weight", graph.weight);
    put("impurity", graph.impurity);
    put("value", graph.value);
    for (auto [name, array] : arrays_of(graph.tests)) out[name] = array;
    return out;
}

DecisionGraph from_arrays(const nb::dict& from) {
    if (number(from, "format") != format_version) {
        throw nb::value_error("the graph was written in a format that this version does not know");
    }
    DecisionGraph graph;
    graph.n_features = number(from, "n_features");
    graph.n_outputs = number(from, "n_outputs");
    graph.kind = take<std::uint8_t>(from, "kind");
    graph.missing_left = take<std::uint8_t>(from, "missing_left");
    graph.feature = take<std::int32_t>(from, "feature");
    graph.left = take<std::int32_t>(from, "left");
    graph.right = take<std::int32_t>(from, "right");
    graph.detail = take<std::int32_t>(from, "detail");
    graph.threshold = take<double>(from, "threshold");
    graph.n_samples = take<std::int32_t>(from, "n_samples");
    graph.weight = take<double>(from, "weight");
    graph.impurity = take<double>(from, "impurity");
    graph.value = take<double>(from, "value");
    graph.tests = test_pool_from(from);
    graph.validate();
    for (std::size_t i = 0; i < graph.n_nodes(); ++i) {  // whatever stands where nothing is meant
        const auto kind = static_cast<Kind>(graph.kind[i]);
        if (kind == Kind::leaf || kind == Kind::oblique)
            graph.feature[i] = DecisionGraph::no_feature;
        if (kind == Kind::leaf) graph.threshold[i] = DecisionGraph::no_threshold;
    }
    return graph;
}

void check_node(const DecisionGraph& graph, std::int32_t node, Kind kind) {
    if (node < 0 || static_cast<std::size_t>(node) >= graph.n_nodes() ||
        graph.kind[node] != static_cast<std::uint8_t>(kind)) {
        throw nb::value_error("the node has no such test");
    }
}

void check_features(std::size_t wanted, std::size_t given) {
    if (wanted != given) {
        throw nb::value_error(("the graph has " + std::to_string(wanted) + " features, X has " +
                               std::to_string(given))
                                  .c_str());
    }
}

Array<std::int32_t> apply(const DecisionGraph& graph, const Table& x, int n_jobs,
                          const RowArray& rows) {
    check_features(graph.n_features, x.shape(1));
    const auto chosen = checked_rows(rows, x.shape(0));
    std::vector<std::int32_t> leaves(rows ? chosen.size() : x.shape(0));
    constexpr std::size_t block = 4096;
    with_numbers(x, [&](const auto* numbers) {
        in_core(n_jobs, [&](Team& team) {
            team.for_each((leaves.size() + block - 1) / block, [&](std::size_t b, int) {
                const std::size_t begin = b * block, n = std::min(leaves.size() - begin, block);
                const auto at = [&](std::size_t i) {
                    return numbers + (rows ? chosen[begin + i] : begin + i) * graph.n_features;
                };
                graph.find_leaves(n, at, leaves.data() + begin);
            });
        });
    });
    return array_of(std::move(leaves));
}

Array<std::int32_t> apply_sparse(const DecisionGraph& graph, const SparseTable& x, int n_jobs) {
    check_features(graph.n_features, x.length);
    std::vector<std::int32_t> leaves(x.n_lines());
    with_lines(x, [&](const auto& rows) {
        in_core(n_jobs, [&](Team& team) {
            for_dense_blocks(
                rows, team, [&](const auto* numbers, std::size_t first, std::size_t n, Team&) {
                    const auto at = [&](std::size_t i) { return numbers + i * graph.n_features; };
                    graph.find_leaves(n, at, leaves.data() + first);
                });
        });
    });
    return array_of(std::move(leaves));
}

Array<std::int32_t> apply_rows(const DecisionGraph& graph, const Dataset& data,
                               const Vector<Row>& rows) {
    const auto chosen = checked_rows(rows, data.n_rows());
    std::vector<std::int32_t> leaves(chosen.size());
    in_core(1, [&](Team& team) {
        const CodedGraph coded(graph, data);
        for (std::size_t i = 0; i < chosen.size(); ++i) {
            if (i % 1024 == 0) team.checkpoint(0);
            leaves[i] = coded.leaf_of(chosen[i]);
        }
    });
    return array_of(std::move(leaves));
}

// The nodes of each row's path, and where the rows begin.
struct Paths {
    std::vector<std::int64_t> starts{0};
    std::vector<std::int32_t> nodes;

    template <class T>
    void add(const DecisionGraph& graph, const T* numbers, std::size_t n_rows, Team& team) {
        for (std::size_t i = 0; i < n_rows; ++i) {
            if (i % 1024 == 0) team.checkpoint(0);
            for (std::int32_t node = 0; node >= 0;
                 node = graph.next(node, numbers + i * graph.n_features)) {
                nodes.push_back(node);
            }
            starts.push_back(static_cast<std::int64_t>(nodes.size()));
        }
    }
    std::tuple<Array<std::int64_t>, Array<std::int32_t>> arrays() {
        return {array_of(std::move(starts)), array_of(std::move(nodes))};
    }
};

auto decision_path(const DecisionGraph& graph, const Table& x) {
    check_features(graph.n_features, x.shape(1));
    Paths paths;
    with_numbers(x, [&](const auto* numbers) {
        in_core(1, [&](Team& team) { paths.add(graph, numbers, x.shape(0), team); });
    });
    return paths.arrays();
}

auto sparse_decision_path(const DecisionGraph& graph, const SparseTable& x) {
    check_features(graph.n_features, x.length);
    Paths paths;
    with_lines(x, [&](const auto& rows) {
        in_core(1, [&](Team& team) {
            for_dense_blocks(rows, team,
                             [&](const auto* numbers, std::size_t, std::size_t n, Team& own) {
                                 paths.add(graph, numbers, n, own);
                             });
        });
    });
    return paths.arrays();
}

}  // namespace

void bind_graph(nb::module_& m) {
    using namespace nb::literals;
    using G = DecisionGraph;
    nb::class_<G>(m, "DecisionGraph",
                  "A tree or decision graph as columns; node 0 is the root. At a leaf the children "
                  "are -1, feature and threshold -2; an oblique test has feature -2, too.")
        .def_static("from_arrays", &from_arrays, "arrays"_a)
        .def("arrays", &arrays)
        .def("__getstate__", &arrays)
        .def("__setstate__",
             [](G& self, const nb::dict& state) { new (&self) G(from_arrays(state)); })
        .def_prop_ro("n_nodes", &G::n_nodes)
        .def_prop_ro("n_leaves", &G::n_leaves)
        .def_prop_ro("n_splits", [](const G& g) { return g.n_nodes() - g.n_leaves(); })
        .def_prop_ro("depth", &G::depth)
        .def_ro("n_features", &G::n_features)
        .def_ro("n_outputs", &G::n_outputs)
        .def_prop_ro("kind", column(&G::kind))
        .def_prop_ro("missing_left", column(&G::missing_left))
        .def_prop_ro("feature", column(&G::feature))
        .def_prop_ro("left", column(&G::left))
        .def_prop_ro("right", column(&G::right))
        .def_prop_ro("threshold", column(&G::threshold))
        .def_prop_ro("n_samples", column(&G::n_samples))
        .def_prop_ro("weight", column(&G::weight))
        .def_prop_ro("impurity", column(&G::impurity))
        .def_prop_ro("value", &value)
        .def(
            "categories_left",
            [](const G& graph, std::int32_t node) {
                check_node(graph, node, Kind::category);
                std::vector<std::int32_t> codes;
                const auto words = graph.tests.set(graph.detail[node]);
                for (std::size_t c = 0; c < words.size() * 64; ++c) {
                    if (words[c / 64] >> (c % 64) & 1)
                        codes.push_back(static_cast<std::int32_t>(c));
                }
                return array_of(std::move(codes));
            },
            "node"_a)
        .def(
            "oblique",
            [](const G& graph, std::int32_t node) {
                check_node(graph, node, Kind::oblique);
                std::vector<std::int32_t> features, categories;
                std::vector<double> weights;
                double threshold = graph.threshold[node];
                for (const auto& term : graph.tests.oblique[graph.detail[node]]->terms()) {
                    if (term.weight == 0) continue;
                    features.push_back(term.feature);
                    categories.push_back(term.category);
                    weights.push_back(term.weight);
                    threshold += term.weight * term.centre;
                }
                return std::tuple(array_of(std::move(features)), array_of(std::move(weights)),
                                  threshold, array_of(std::move(categories)));
            },
            "node"_a,
            "Features, weights, threshold and categories (-1 for a number) of the terms that "
            "count.")
        .def("apply_rows", &apply_rows, "data"_a, "rows"_a,
             "The leaves of rows of a binned data set.")
        .def("apply", &apply, "x"_a, "n_jobs"_a = 1, "rows"_a.none() = nb::none())
        .def("apply", &apply_sparse, "x"_a, "n_jobs"_a = 1)
        .def("decision_path", &decision_path, "x"_a)
        .def("decision_path", &sparse_decision_path, "x"_a);

    m.def(
        "put_in_order",
        [](DecisionGraph graph, const std::vector<std::int8_t>& directions) {
            in_core(1, [&](Team&) { put_in_order(graph, directions); });
            return graph;
        },
        "graph"_a, "directions"_a,
        "The graph with leaf values that move one way with features: 1 up, -1 down, 0 freely.");
}
