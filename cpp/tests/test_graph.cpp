#include <bit>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>

#include "check.hpp"
#include "graph/coded.hpp"
#include "graph/packed.hpp"
#include "grow/prune.hpp"
#include "tables.hpp"

using namespace hedgerow;
using namespace hedgerow::testing;

namespace {

// A graph in which two nodes have two parents, with all kinds of tests; three features, two
// outputs.
DecisionGraph shared_graph() {
    DecisionGraph graph;
    graph.n_features = 3;
    graph.n_outputs = 2;
    for (int i = 0; i < 6; ++i) graph.add_node();
    const auto test = [&](int node, Kind kind, int feature, double threshold, int left, int right) {
        graph.kind[node] = static_cast<std::uint8_t>(kind);
        graph.feature[node] = feature;
        graph.threshold[node] = threshold;
        graph.left[node] = left;
        graph.right[node] = right;
    };
    test(0, Kind::axis, 0, 0.5, 1, 2);
    test(1, Kind::category, 1, 75, 3, 4);
    test(2, Kind::oblique, DecisionGraph::no_feature, 0.3, 4, 5);
    test(4, Kind::axis, 2, 0, 3, 5);
    const std::uint64_t set[] = {1, 1 << 6};  // categories 0 and 70
    graph.detail[1] = graph.tests.add_set(set);
    const ObliqueTerm terms[] = {{0, -1, 1, 0.5}, {2, -1, -2, 1}};
    graph.detail[2] = graph.tests.add_oblique(std::make_shared<const ObliqueTest>(terms));
    graph.missing_left[1] = graph.missing_left[4] = 1;
    graph.value = {0, 0, 0, 0, 0, 0, 0.25, 0.75, 0, 0, 1, 0};
    graph.weight.assign(6, 1.0);
    graph.n_samples.assign(6, 1);
    graph.validate();
    return graph;
}

// Changes a term of the graph's oblique test.
template <class Change>
void change(DecisionGraph& graph, Change change) {
    auto terms = graph.tests.oblique[0]->terms();
    change(terms[1]);
    graph.tests.oblique[0] = std::make_shared<const ObliqueTest>(terms);
}

// A tree on random numbers and categories; as many outputs as classes, or one.
DecisionGraph random_tree(const std::vector<Numbers>& columns, std::uint64_t seed,
                          std::uint32_t n_classes, bool categories) {
    const std::size_t n = columns[0].size();
    const std::vector<Numbers> numeric(columns.begin(), columns.end() - categories);
    Dataset data = table_of(numeric);
    if (categories) {
        std::vector<std::int32_t> codes;
        for (const double v : columns.back()) codes.push_back(v == v ? static_cast<int>(v) : -1);
        data.append_categories(codes.data(), 20);
    }
    Random random(seed);
    if (n_classes == 0) {
        Numbers y(n);
        for (double& v : y) v = random.uniform();
        return grow_numbers(data, y, numbers_params());
    }
    Classes y(n);
    for (auto& v : y) v = static_cast<std::int32_t>(random.below(n_classes));
    return grow_classes(data, y, classes_params(n_classes));
}

// The packed form gives, for both float types, one row and many, any team: what routing gives.
bool predicts_as_routed(const std::vector<const DecisionGraph*>& graphs,
                        const std::vector<double>& x) {
    const std::size_t p = graphs[0]->n_features, k = graphs[0]->n_outputs, n = x.size() / p;
    PackedGraphs packed(graphs[0]->n_features, graphs[0]->n_outputs);
    for (const auto* graph : graphs) packed.add(*graph);
    const auto agrees = [&]<class T>(const std::vector<T>& rows) {
        std::vector<double> wanted(n * k), many(n * k, 9), one(k);
        for (std::size_t i = 0; i < n; ++i) {
            for (const auto* graph : graphs) {
                const auto value = graph->value_of(graph->leaf_of(rows.data() + i * p));
                for (std::size_t j = 0; j < k; ++j) wanted[i * k + j] += value[j];
            }
        }
        const double scale = 1.0 / static_cast<double>(graphs.size());
        for (double& v : wanted) v *= scale;
        for (const int n_threads : {1, 3}) {
            Team team(n_threads);
            packed.predict(rows.data(), n, many.data(), team);
            if (many != wanted) return false;
        }
        for (std::size_t i = 0; i < n; ++i) {
            packed.predict_row(rows.data() + i * p, one.data());
            if (!std::equal(one.begin(), one.end(), wanted.begin() + i * k)) return false;
        }
        return true;
    };
    return agrees(x) && agrees(std::vector<float>(x.begin(), x.end()));
}

std::vector<double> rows_of(const std::vector<Numbers>& columns) {
    std::vector<double> x;
    for (std::size_t i = 0; i < columns[0].size(); ++i) {
        for (const auto& column : columns) x.push_back(column[i]);
    }
    return x;
}

}  // namespace

TEST(a_shared_graph_routes_by_all_kinds_of_tests) {
    const auto graph = shared_graph();
    const auto leaf = [&](double a, double b, double c) {
        const double x[] = {a, b, c};
        return graph.leaf_of(x);
    };
    CHECK(leaf(0.5, 0, 9) == 3 && leaf(0.5, 70, 9) == 3);   // in the set
    CHECK(leaf(0.5, 1, -1) == 3 && leaf(0.5, 69, 1) == 5);  // not in it, then by feature 2
    CHECK(leaf(0, missing, 9) == 3);                        // missing goes left
    CHECK(leaf(0, 74, 9) == 5 && leaf(0, 75, 9) == 3);      // so do categories that are not known
    CHECK(leaf(0, 127, 9) == 3 && leaf(0, 128, 9) == 3 && leaf(0, -1, 9) == 3);
    CHECK(leaf(1, 0, 2) == 5 && leaf(1, 0, missing) == 5);  // oblique; missing leaves 1 * 0.5 alone
    CHECK(leaf(0.7, 0, missing) == 3);                      // 0.2 < 0.3, then missing goes left
    CHECK(leaf(missing, 0, 1) == 5 && leaf(missing, 0, -5) == 5);
    CHECK(graph.depth() == 3 && graph.n_leaves() == 2);
}

TEST(validation_names_what_is_broken) {
    using G = DecisionGraph;
    const std::pair<const char*, std::function<void(G&)>> breaks[] = {
        {"no node", [](G& g) { g = G{}; }},
        {"no output", [](G& g) { g.n_outputs = 0; }},
        {"differ in length", [](G& g) { g.missing_left.pop_back(); }},
        {"differ in length", [](G& g) { g.feature.pop_back(); }},
        {"differ in length", [](G& g) { g.left.pop_back(); }},
        {"differ in length", [](G& g) { g.right.push_back(-1); }},
        {"differ in length", [](G& g) { g.detail.pop_back(); }},
        {"differ in length", [](G& g) { g.threshold.pop_back(); }},
        {"differ in length", [](G& g) { g.n_samples.pop_back(); }},
        {"differ in length", [](G& g) { g.weight.pop_back(); }},
        {"differ in length", [](G& g) { g.impurity.clear(); }},
        {"differ in length", [](G& g) { g.value.pop_back(); }},
        {"differ in length", [](G& g) { g.n_outputs = 1u << 31; }},
        {"category sets are broken", [](G& g) { g.tests.word_start.clear(); }},
        {"category sets are broken", [](G& g) { g.tests.word_start = {0, 9}; }},
        {"category sets are broken", [](G& g) { g.tests.word_start = {1, 2}; }},
        {"category sets are broken", [](G& g) { g.tests.word_start = {0, 2, 1, 2}; }},
        {"oblique test has", [](G& g) { change(g, [](auto& term) { term.feature = 3; }); }},
        {"oblique test has", [](G& g) { change(g, [](auto& term) { term.feature = -1; }); }},
        {"oblique test has", [](G& g) { change(g, [](auto& term) { term.weight = infinity; }); }},
        {"oblique test has", [](G& g) { change(g, [](auto& term) { term.centre = missing; }); }},
        {"unknown kind", [](G& g) { g.kind[2] = 4; }},
        {"must be 0 or 1", [](G& g) { g.missing_left[0] = 2; }},
        {"leaf has a child", [](G& g) { g.left[3] = 5; }},
        {"child is out of range", [](G& g) { g.left[0] = 6; }},
        {"child is out of range", [](G& g) { g.right[0] = -1; }},
        {"child is out of range", [](G& g) { g.right[0] = -2147483647; }},
        {"oblique test is out of range", [](G& g) { g.detail[2] = 1; }},
        {"oblique test is out of range", [](G& g) { g.detail[2] = -1; }},
        {"category set is out of range", [](G& g) { g.detail[1] = 1; }},
        {"category set is too short", [](G& g) { g.threshold[1] = 129; }},
        {"category set is too short", [](G& g) { g.threshold[1] = -1; }},
        {"feature is out of range", [](G& g) { g.feature[0] = 3; }},
        {"feature is out of range", [](G& g) { g.feature[1] = -1; }},
        {"threshold is not a number", [](G& g) { g.threshold[4] = missing; }},
        {"value is not finite", [](G& g) { g.value[7] = infinity; }},
        {"root has a parent", [](G& g) { g.left[4] = 0; }},
        {"cycle", [](G& g) { g.left[4] = 2; }},
        {"cycle", [](G& g) { g.left[4] = 4; }},
        {"cannot reach", [](G& g) { g.left[0] = g.right[0] = 2; }},
    };
    for (const auto& [message, damage] : breaks) {
        DecisionGraph graph = shared_graph();
        damage(graph);
        std::string said = "nothing";
        try {
            graph.validate();
        } catch (const std::invalid_argument& error) {
            said = error.what();
        }
        if (said.find(message) == std::string::npos) std::printf("said '%s'\n", said.c_str());
        check(said.find(message) != std::string::npos, message, __FILE__, __LINE__);
    }
}

TEST(packed_graph_with_shared_nodes_predicts_as_routed) {
    const auto graph = shared_graph();
    const double values[] = {missing, -1, 0,  0.5, 0.7, 1,   1.4, 2,
                             63,      64, 70, 74,  75,  127, 128, 1e9};
    std::vector<double> x;
    for (const double a : values) {
        for (const double b : values) {
            for (const double c : values) x.insert(x.end(), {a, b, c});
        }
    }
    CHECK(predicts_as_routed({&graph}, x));
    CHECK(predicts_as_routed({&graph, &graph, &graph}, x));
    PackedGraphs other(4, 2);
    CHECK_THROWS(std::invalid_argument, other.add(graph));
}

TEST(a_binned_row_takes_the_way_of_its_numbers) {
    // Category 2 is not known to the graph, and a data set of another table has it.
    DecisionGraph graph;
    graph.n_features = 1;
    for (int i = 0; i < 3; ++i) graph.add_node();
    graph.kind[0] = static_cast<std::uint8_t>(Kind::category);
    graph.feature[0] = 0, graph.left[0] = 1, graph.right[0] = 2;
    graph.threshold[0] = 2;
    const std::uint64_t set[] = {1};
    graph.detail[0] = graph.tests.add_set(set);
    const std::int32_t codes[] = {0, 1, 2, -1};
    Dataset data(4);
    data.append_categories(codes, 3);
    for (const bool missing_left : {false, true}) {
        graph.missing_left[0] = missing_left;
        graph.validate();
        const CodedGraph coded(graph, data);
        const std::int32_t unknown = missing_left ? 1 : 2;
        const std::int32_t leaves[] = {1, 2, unknown, unknown};
        for (Row row = 0; row < 4; ++row) {
            const double x[] = {static_cast<double>(codes[row])};
            CHECK(graph.leaf_of(x) == leaves[row]);
            CHECK(coded.leaf_of(row) == leaves[row]);
        }
    }
}

TEST(validation_of_packed_graphs_names_what_is_broken) {
    const auto graph = shared_graph();
    PackedGraphs whole(3, 2);
    whole.add(graph);
    whole.add(graph);
    const auto last = static_cast<std::uint32_t>(whole.n_nodes());
    struct Packed {
        PackedGraphs::State state;
        std::vector<PackedNode> nodes;
        std::size_t leaf = 0, oblique = 0, category = 0;
    };
    const std::pair<const char*, std::function<void(Packed&)>> breaks[] = {
        {"leaf has a child or a test",
         [](Packed& p) { p.nodes[p.leaf].test = PackedNode::category; }},
        {"leaf has a child or a test",
         [](Packed& p) { p.nodes[p.leaf].test = PackedNode::oblique; }},
        {"leaf has a child or a test",
         [](Packed& p) { p.nodes[p.leaf].test = PackedNode::missing_left; }},
        {"leaf has a child or a test", [](Packed& p) { p.nodes[p.leaf].test = 1; }},
        {"leaf has a child or a test", [](Packed& p) { ++p.nodes[p.leaf].left; }},
        {"leaf's value is broken",
         [](Packed& p) { p.nodes[p.leaf].number = std::bit_cast<double>(std::uint64_t{99}); }},
        {"two kinds", [](Packed& p) { p.nodes[p.oblique].test |= PackedNode::category; }},
        {"oblique test is out of range", [](Packed& p) { p.nodes[p.oblique].test += 5; }},
        {"category set is out of range", [](Packed& p) { p.nodes[p.category].test += 5; }},
        {"category set is too short", [](Packed& p) { p.nodes[p.category].number = 129; }},
        {"category set is too short", [](Packed& p) { p.nodes[p.category].number = missing; }},
        {"category set is out of range", [](Packed& p) { p.state.category_feature[0] = 3; }},
        {"feature is out of range", [](Packed& p) { p.nodes[0].test += 3; }},
        {"child is out of range", [&](Packed& p) { p.nodes[0].left = last - 1; }},
        {"child is out of range", [](Packed& p) { p.nodes[0].left = 0; }},
        {"cannot reach",
         [](Packed& p) {
             p.nodes.insert(p.nodes.end(), 2, p.nodes[p.leaf]);
             p.state.roots.back() += 2;
         }},
        {"roots are broken", [](Packed& p) { p.state.roots[1] = 0; }},
        {"not finite", [](Packed& p) { p.state.values[0] = missing; }},
    };
    const auto read = [&](const std::function<void(Packed&)>& damage) {
        Packed packed{whole.state(), std::vector<PackedNode>(last)};
        std::memcpy(packed.nodes.data(), packed.state.nodes.data(), packed.state.nodes.size());
        for (std::size_t i = 0; i < last / 2; ++i) {
            const std::uint32_t test = packed.nodes[i].test;
            if (packed.nodes[i].is_leaf()) packed.leaf = i;
            if (test & PackedNode::oblique) packed.oblique = i;
            if (test & PackedNode::category) packed.category = i;
        }
        damage(packed);
        const auto* bytes = reinterpret_cast<const std::uint8_t*>(packed.nodes.data());
        packed.state.nodes.assign(bytes, bytes + packed.nodes.size() * sizeof(PackedNode));
        return PackedGraphs::from_state(3, 2, std::move(packed.state));
    };
    CHECK(read([](Packed&) {}).n_graphs() == 2);
    for (const auto& [message, damage] : breaks) {
        std::string said = "nothing";
        try {
            read(damage);
        } catch (const std::invalid_argument& error) {
            said = error.what();
        }
        if (said.find(message) == std::string::npos) std::printf("said '%s'\n", said.c_str());
        check(said.find(message) != std::string::npos, message, __FILE__, __LINE__);
    }
}

TEST(packed_trees_predict_as_routed) {
    for (const std::uint32_t n_classes : {0u, 2u, 5u}) {
        for (const bool categories : {false, true}) {
            auto columns = random_columns(300, 4, 5 + n_classes);
            if (categories) {
                for (double& v : columns.back()) v = v == v ? std::floor(std::abs(v)) : missing;
            }
            std::vector<DecisionGraph> trees;
            for (std::uint64_t seed = 0; seed < 3; ++seed) {
                trees.push_back(random_tree(columns, seed, n_classes, categories));
            }
            for (const std::size_t n : {1, 7, 8, 9, 300}) {
                auto some = columns;
                for (auto& column : some) column.resize(n);
                CHECK(predicts_as_routed({&trees[0]}, rows_of(some)));
                CHECK(predicts_as_routed({&trees[0], &trees[1], &trees[2]}, rows_of(some)));
            }
        }
    }
}

TEST(large_packed_trees_predict_as_routed) {
    const auto columns = random_columns(15000, 4, 3);
    for (const std::uint32_t n_classes : {0u, 5u}) {
        const DecisionGraph tree = random_tree(columns, 1, n_classes, n_classes > 0);
        CHECK(tree.n_nodes() > 1 << 14);
        for (const std::size_t n : {1, 23, 24, 25, 15000}) {
            auto some = columns;
            for (auto& column : some) column.resize(n);
            CHECK(predicts_as_routed({&tree}, rows_of(some)));
        }
    }
}

TEST(pruned_tree_has_the_least_cost_of_all_subtrees) {
    const auto columns = random_columns(150, 3, 8);
    const DecisionGraph tree = random_tree(columns, 9, 3, false);
    const auto own = [&](const DecisionGraph& g, std::int32_t i) {
        return g.weight[i] * g.impurity[i] / g.weight[0];
    };
    const std::function<double(const DecisionGraph&, std::int32_t, double)> least =
        [&](const DecisionGraph& g, std::int32_t i, double alpha) {
            const double here = own(g, i) + alpha;
            if (g.is_leaf(i)) return here;
            return std::min(here, least(g, g.left[i], alpha) + least(g, g.right[i], alpha));
        };
    Team team;
    const auto path = pruning_path(tree, team);
    CHECK(path.alphas.size() == path.impurities.size() && path.alphas.size() > 5);
    CHECK(path.alphas[0] == 0 && std::abs(path.impurities.back() - tree.impurity[0]) < 1e-12);
    std::size_t before = tree.n_leaves();
    for (std::size_t i = 1; i < path.alphas.size(); ++i) {
        CHECK(path.alphas[i] >= path.alphas[i - 1]);
        CHECK(path.impurities[i] >= path.impurities[i - 1] - 1e-12);
        const double alpha = path.alphas[i] * (1 + 1e-9);
        const DecisionGraph pruned = prune(tree, alpha);
        pruned.validate();
        double cost = 0;
        for (std::size_t n = 0; n < pruned.n_nodes(); ++n) {
            const auto node = static_cast<std::int32_t>(n);
            if (pruned.is_leaf(node)) cost += own(pruned, node) + alpha;
        }
        CHECK(std::abs(cost - least(tree, 0, alpha)) < 1e-9);
        CHECK(pruned.n_leaves() <= before);
        before = pruned.n_leaves();
    }
    CHECK(prune(tree, 1).n_nodes() == 1);
    CHECK(same(prune(tree, -1), tree));
}

TEST(pruning_keeps_categories_and_leaves_a_leaf_alone) {
    auto columns = random_columns(200, 2, 3);
    for (double& v : columns.back()) v = v == v ? v : missing;
    const DecisionGraph tree = random_tree(columns, 4, 2, true);
    CHECK(same(prune(tree, -1), tree));
    const DecisionGraph root = prune(tree, 10);
    CHECK(root.n_nodes() == 1 && root.kind[0] == 0 && root.detail[0] == -1);
    Team team;
    CHECK(pruning_path(root, team).alphas.size() == 1);
    CHECK(prune(root, 10).value == root.value);
}
