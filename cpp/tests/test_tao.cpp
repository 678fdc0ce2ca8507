// Alternating optimisation of small trees and graphs.
#include <algorithm>

#include "check.hpp"
#include "tables.hpp"
#include "tao/fine_tune.hpp"

using namespace hedgerow;
using namespace hedgerow::testing;

namespace {

struct Tuned {
    DecisionGraph graph;
    std::vector<double> losses;
};

Tuned tune(const DecisionGraph& graph, const Dataset& data, const GrowTargets& targets,
           const TuneParams& params, int n_threads = 1) {
    Team team(n_threads);
    Tuned out;
    out.graph = fine_tune(graph, data, {}, targets, params, team, nullptr,
                          [&](double loss) { out.losses.push_back(loss); });
    out.graph.validate();
    return out;
}

// A split by one threshold, with leaves that answer class 0 and class 1.
DecisionGraph stump(std::uint32_t n_features, std::int32_t feature, double threshold) {
    DecisionGraph graph;
    graph.n_features = n_features;
    graph.n_outputs = 2;
    for (int i = 0; i < 3; ++i) graph.add_node();
    graph.kind[0] = static_cast<std::uint8_t>(Kind::axis);
    graph.feature[0] = feature;
    graph.threshold[0] = threshold;
    graph.left[0] = 1;
    graph.right[0] = 2;
    graph.value = {0.5, 0.5, 1, 0, 0, 1};
    return graph;
}

bool falls(const std::vector<double>& losses) {
    return std::is_sorted(losses.rbegin(), losses.rend());
}

}  // namespace

TEST(a_misplaced_threshold_is_put_right) {
    const Dataset data = table_of({{5, 1, 4, 2, 3, 9}, {1, 2, 3, 4, 5, 6}});
    const Classes y{0, 0, 0, 1, 1, 1};
    const Tuned tuned = tune(stump(2, 1, 1.5), data, {y, {}, {}}, {.n_classes = 2});
    CHECK(tuned.graph.n_nodes() == 3);
    CHECK(tuned.graph.feature[0] == 1 && tuned.graph.threshold[0] == 3.5);
    CHECK(tuned.graph.n_samples == std::vector<std::int32_t>{6, 3, 3});
    CHECK(tuned.losses.front() > 0 && tuned.losses.back() == 0);
    CHECK(falls(tuned.losses));
}

TEST(a_split_that_all_rows_leave_by_one_side_goes) {
    const Dataset data = table_of({{1, 2, 3, 4}});
    const Classes y{0, 1, 0, 1};
    const Tuned tuned = tune(stump(1, 0, 9), data, {y, {}, {}}, {.n_classes = 2, .max_passes = 0});
    CHECK(tuned.graph.n_nodes() == 1 && tuned.graph.value_of(0)[0] == 0.5);
}

TEST(weights_say_which_rows_count) {
    const Dataset data = table_of({{1, 2, 3, 4, 5}});
    const Classes y{0, 0, 1, 0, 1};
    const auto threshold = [&](const Numbers& weights) {
        return tune(stump(1, 0, 2.5), data, {y, {}, weights}, {.n_classes = 2}).graph.threshold[0];
    };
    CHECK(threshold({1, 1, 2, 1, 9}) == 2.5);
    CHECK(threshold({1, 1, 1, 2, 9}) == 4.5);
}

TEST(the_loss_never_rises_and_threads_change_nothing) {
    const std::size_t n = 1500;
    const auto columns = random_columns(n, 6, 3);
    const Dataset data = table_of(columns, 64);
    Classes classes;
    Numbers numbers, weights;
    for (std::size_t i = 0; i < n; ++i) {
        classes.push_back((columns[0][i] + columns[4][i] > 0) + (columns[1][i] > 9));
        numbers.push_back(columns[0][i] * columns[1][i] + columns[3][i]);
        weights.push_back(static_cast<double>(i % 4));
    }
    GrowParams shallow = classes_params(3);
    shallow.max_depth = 4;
    const DecisionGraph tree = grow_classes(data, classes, shallow, weights);
    const GrowTargets targets{classes, {}, weights};
    const Tuned one = tune(tree, data, targets, {.n_classes = 3}, 1);
    CHECK(one.losses.size() > 1 && falls(one.losses) && one.losses.back() < one.losses.front());
    CHECK(one.graph.n_nodes() <= tree.n_nodes());
    CHECK(same(one.graph, tune(tree, data, targets, {.n_classes = 3}, 3).graph));

    GrowParams rough = numbers_params();
    rough.max_depth = 4;
    const DecisionGraph regression = grow_numbers(data, numbers, rough);
    const Tuned other = tune(regression, data, {{}, numbers, {}}, {});
    CHECK(falls(other.losses));
    CHECK(same(other.graph, tune(regression, data, {{}, numbers, {}}, {}, 3).graph));
}

TEST(oblique_tests_are_read_from_the_numbers) {
    const std::vector<Numbers> columns{{0, 1, 0, 3, 4, 3}, {0, 0, 1, 3, 3, 4}};
    const Dataset data = table_of(columns);
    Numbers matrix;
    for (std::size_t i = 0; i < 6; ++i) {
        const auto row = row_of(columns, i);
        matrix.insert(matrix.end(), row.begin(), row.end());
    }
    DecisionGraph graph = stump(2, -1, 3.5);
    graph.kind[0] = static_cast<std::uint8_t>(Kind::oblique);
    const ObliqueTerm terms[] = {{0, -1, 1, 0}, {1, -1, 1, 0}};
    graph.detail[0] = graph.tests.add_oblique(std::make_shared<const ObliqueTest>(terms));
    graph.validate();
    const Classes y{0, 0, 0, 1, 1, 1};
    Team team(1);
    const auto tuned =
        fine_tune(graph, data, {}, {y, {}, {}}, {.n_classes = 2}, team, matrix.data());
    CHECK(tuned.kind[0] == static_cast<std::uint8_t>(Kind::oblique));  // nothing is better
    CHECK(tuned.value_of(1)[0] == 1 && tuned.value_of(2)[1] == 1);
    CHECK_THROWS(std::invalid_argument,
                 fine_tune(graph, data, {}, {y, {}, {}}, {.n_classes = 2}, team));
}
