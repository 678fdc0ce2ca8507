// Tree in Tree on small tables.
#include "check.hpp"
#include "tables.hpp"
#include "tnt/tree_in_tree.hpp"
#include "tnt/trim.hpp"

using namespace hedgerow;
using namespace hedgerow::testing;

namespace {

struct Corners {  // one class in the four corners of a square
    std::vector<Numbers> columns{2};
    Classes y;

    Corners() {
        for (int i = 0; i < 12; ++i) {
            for (int j = 0; j < 12; ++j) {
                columns[0].push_back(i);
                columns[1].push_back(j);
                y.push_back((i < 3 || i > 8) && (j < 3 || j > 8));
            }
        }
    }
};

TreeInTreeParams params_for(std::uint32_t n_classes, double C) {
    TreeInTreeParams params;
    params.micro = n_classes > 0 ? classes_params(n_classes) : numbers_params();
    params.C = C;
    return params;
}

std::size_t n_splits(const DecisionGraph& graph) { return graph.n_nodes() - graph.n_leaves(); }

std::size_t n_wrong(const DecisionGraph& graph, const Corners& table) {
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < table.y.size(); ++i) {
        const auto x = row_of(table.columns, i);
        const auto shares = graph.value_of(graph.leaf_of(x.data()));
        wrong += (shares[1] > shares[0]) != (table.y[i] == 1);
    }
    return wrong;
}

}  // namespace

TEST(corners_take_a_graph_four_splits) {
    const Corners table;
    const Dataset data = table_of(table.columns);
    GrowParams best_first = classes_params(2);
    best_first.max_leaf_nodes = 4;
    const DecisionGraph start = grow_classes(data, table.y, best_first);
    Team team(1);
    const TreeInTree grown = grow_tree_in_tree(data, nullptr, {}, {}, {table.y, {}, {}},
                                               params_for(2, 1e-3), &start, team);
    grown.result.graph.validate();
    CHECK(n_splits(grown.result.graph) == 4);
    CHECK(n_wrong(grown.result.graph, table) == 0);
}

TEST(a_trimmed_graph_has_no_more_splits_than_allowed) {
    const Corners table;
    const Dataset data = table_of(table.columns);
    Team team(1);
    const auto params = params_for(2, 1e-3);
    const GrowTargets targets{table.y, {}, {}};
    const TreeInTree grown =
        grow_tree_in_tree(data, nullptr, {}, {}, targets, params, nullptr, team);
    std::size_t wrong_before = 0;
    for (std::size_t most = n_splits(grown.result.graph); most > 0; --most) {
        const TidyGraph cut =
            trim(grown.result.graph, data, nullptr, {}, targets, params, most, team);
        cut.graph.validate();
        CHECK(n_splits(cut.graph) <= most);
        const std::size_t wrong = n_wrong(cut.graph, table);
        CHECK(wrong >= wrong_before);
        wrong_before = wrong;
    }
}

TEST(tree_in_tree_is_the_same_on_any_number_of_threads) {
    const std::size_t n = 6000;
    const auto columns = random_columns(n, 6, 5);
    const Dataset data = table_of(columns, 32);
    Classes classes;
    Numbers numbers;
    Random random(9);
    for (std::size_t i = 0; i < n; ++i) {
        numbers.push_back(columns[0][i] * columns[1][i] + random.uniform());
        classes.push_back((columns[0][i] > 0) ^ (columns[1][i] > 9) ^ (random.below(10) == 0));
    }
    for (const std::uint32_t n_classes : {0u, 2u}) {
        GrowTargets targets;
        if (n_classes > 0) {
            targets.classes = classes;
        } else {
            targets.numbers = numbers;
        }
        Team one(1), three(3);
        const auto params = params_for(n_classes, 1e-3);
        const auto a = grow_tree_in_tree(data, nullptr, {}, {}, targets, params, nullptr, one);
        const auto b = grow_tree_in_tree(data, nullptr, {}, {}, targets, params, nullptr, three);
        a.result.graph.validate();
        CHECK(n_splits(a.result.graph) > 2);
        CHECK(same(a.result.graph, b.result.graph));
    }
}

TEST(a_slanted_border_takes_one_oblique_test) {
    std::vector<Numbers> columns{2};
    Numbers numbers;
    Classes y;
    for (int i = 0; i < 12; ++i) {
        for (int j = 0; j < 12; ++j) {
            columns[0].push_back(i);
            columns[1].push_back(j);
            numbers.insert(numbers.end(), {double(i), double(j)});
            y.push_back(i + j > 10);
        }
    }
    const Dataset data = table_of(columns);
    Team team(1);
    auto params = params_for(2, 1e-3);
    using enum TreeInTreeParams::Tests;
    for (const auto tests : {axis, oblique, mixed}) {
        params.tests = tests;
        const TreeInTree grown =
            grow_tree_in_tree(data, numbers.data(), {}, {}, {y, {}, {}}, params, nullptr, team);
        const DecisionGraph& graph = grown.result.graph;
        graph.validate();
        CHECK(grown.result.removed.size() == graph.n_nodes());
        CHECK((n_splits(graph) == 1) == (tests != axis));
    }
    CHECK_THROWS(std::invalid_argument,
                 grow_tree_in_tree(data, nullptr, {}, {}, {y, {}, {}}, params, nullptr, team));
}
