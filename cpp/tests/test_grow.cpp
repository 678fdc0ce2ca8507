#include <algorithm>
#include <set>
#include <stdexcept>

#include "check.hpp"
#include "tables.hpp"

using namespace hedgerow;
using namespace hedgerow::testing;
using Criterion = GrowParams::Criterion;

namespace {

constexpr Criterion class_criteria[] = {Criterion::gini, Criterion::entropy};
constexpr Criterion number_criteria[] = {Criterion::squared_error, Criterion::poisson};

// A mixed problem: numbers, missing values, two categorical columns, classes and counts.
struct Problem {
    std::vector<Numbers> columns;
    Dataset data;
    Classes classes;
    Numbers numbers;
    Numbers weights;

    Problem(std::size_t n, std::uint64_t seed, std::uint32_t max_bins = 0)
        : columns(random_columns(n, 5, seed)), data(table_of(columns, max_bins)) {
        Random random(seed + 1);
        for (const std::uint32_t n_categories : {5u, 90u}) {
            std::vector<std::int32_t> codes(n);
            for (auto& code : codes)
                code = static_cast<std::int32_t>(random.below(n_categories + 1)) - 1;
            data.append_categories(codes.data(), n_categories);
            columns.emplace_back();
            for (const auto code : codes) columns.back().push_back(code < 0 ? missing : code);
        }
        for (std::size_t i = 0; i < n; ++i) {
            const double signal = columns[0][i] + (columns[5][i] > 2 ? 0.3 : 0.0);
            classes.push_back(static_cast<int>(signal > 0.1) + static_cast<int>(random.below(2)));
            numbers.push_back(std::floor(4 + 5 * signal + 3 * random.uniform()));
            weights.push_back(random.uniform() * 3);
        }
    }
};

// Every row ends in a leaf that counted it.
bool routes_as_grown(const DecisionGraph& graph, const std::vector<Numbers>& columns) {
    std::vector<std::int32_t> n_samples(graph.n_nodes());
    for (std::size_t i = 0; i < columns[0].size(); ++i) {
        const Numbers row = row_of(columns, i);
        for (std::int32_t node = 0; node >= 0; node = graph.next(node, row.data()))
            ++n_samples[node];
    }
    return n_samples == graph.n_samples;
}

}  // namespace

TEST(every_criterion_finds_the_step) {
    const Dataset data = table_of({{5, 5, 5, 5, 5, 5}, {6, 1, 2, 5, 3, 4}});
    for (const auto criterion : class_criteria) {
        GrowParams params = classes_params(2);
        params.criterion = criterion;
        const auto graph = grow_classes(data, {1, 0, 0, 1, 0, 0}, params);
        CHECK(graph.n_nodes() == 3 && graph.feature[0] == 1 && graph.threshold[0] == 4.5);
        CHECK(graph.n_samples == std::vector<std::int32_t>{6, 4, 2});
        CHECK(graph.value_of(1)[0] == 1 && graph.value_of(2)[1] == 1);
        const double p = 1.0 / 3, bits = -p * std::log2(p) - (1 - p) * std::log2(1 - p);
        const double expected = criterion == Criterion::gini ? 2 * p * (1 - p) : bits;
        CHECK(std::abs(graph.impurity[0] - expected) < 1e-12);
        CHECK(graph.impurity[1] == 0 && graph.impurity[2] == 0);
    }
    for (const auto criterion : number_criteria) {
        const auto graph = grow_numbers(data, {8, 2, 2, 8, 2, 2}, numbers_params(criterion));
        CHECK(graph.n_nodes() == 3 && graph.feature[0] == 1 && graph.threshold[0] == 4.5);
        CHECK(std::abs(graph.value[0] - 4) < 1e-12 && std::abs(graph.value[1] - 2) < 1e-12);
        if (criterion == Criterion::squared_error) CHECK(std::abs(graph.impurity[0] - 8) < 1e-12);
    }
}

TEST(the_best_of_many_features_of_two_values_is_found) {
    Random random(3);
    std::vector<Numbers> columns(9, Numbers(400));
    Classes classes;
    for (std::size_t i = 0; i < 400; ++i) {
        for (auto& column : columns) column[i] = static_cast<double>(random.below(2));
        classes.push_back(static_cast<std::int32_t>(2 * columns[7][i] + columns[4][i]));
    }
    const Dataset data = table_of(columns);
    const Numbers weights(columns[0].begin(), columns[0].end());
    for (const auto criterion : class_criteria) {
        GrowParams params = classes_params(4);
        params.criterion = criterion;
        for (const Numbers& w : {Numbers{}, Numbers(400, 3.0), weights, Numbers(400, 0.5)}) {
            const auto graph = grow_classes(data, classes, params, w);
            CHECK(graph.n_leaves() == 4);
        }
    }
}

TEST(poisson_never_leaves_a_side_of_zeros) {
    const Dataset data = table_of({{1, 2, 3, 4}});
    const auto graph = grow_numbers(data, {0, 0, 1, 5}, numbers_params(Criterion::poisson));
    for (std::size_t i = 0; i < graph.n_nodes(); ++i) CHECK(graph.value[i] > 0);
    const auto zeros = grow_numbers(data, {0, 0, 0, 0}, numbers_params(Criterion::poisson));
    CHECK(zeros.n_nodes() == 1 && zeros.value[0] == 0);
}

TEST(nothing_to_split_gives_one_leaf) {
    const Dataset one_row = table_of({{1}});
    CHECK(grow_classes(one_row, {0}, classes_params(1)).n_nodes() == 1);
    const Dataset constant = table_of({{3, 3, 3}, {missing, missing, missing}});
    for (const auto splitter : {GrowParams::Splitter::best, GrowParams::Splitter::random}) {
        GrowParams params = classes_params(3);
        params.splitter = splitter;
        const auto graph = grow_classes(constant, {0, 2, 2}, params);
        CHECK(graph.n_nodes() == 1);
        CHECK(std::abs(graph.value_of(0)[2] - 2.0 / 3) < 1e-12);
    }
    CHECK(grow_classes(Dataset(2), {0, 1}, classes_params(2)).n_nodes() == 1);  // no feature
    CHECK_THROWS(std::invalid_argument, grow_classes(Dataset(0), {}, classes_params(1)));
}

TEST(equal_splits_are_settled_alike_in_every_run) {
    const Dataset twins = table_of({{9, 9, 9, 9}, {1, 2, 3, 4}, {1, 2, 3, 4}});
    const auto graph = grow_classes(twins, {0, 1, 1, 0}, classes_params(2));
    CHECK(graph.feature[0] >= 1 && graph.threshold[0] == 1.5);  // the lowest of two thresholds
    GrowParams params = classes_params(2);
    for (params.seed = 0; params.seed < 20; ++params.seed) {  // nothing is drawn: no seed matters
        CHECK(same(graph, grow_classes(twins, {0, 1, 1, 0}, params)));
    }
}

TEST(weight_two_is_the_row_twice) {
    const Problem problem(120, 7);
    Numbers weights;
    std::vector<Row> rows;
    for (Row i = 0; i < 120; ++i) {
        weights.push_back(i % 3);
        for (Row times = 0; times < i % 3; ++times) rows.push_back(i);
    }
    const auto agree = [](const DecisionGraph& a, const DecisionGraph& b) {
        return a.feature == b.feature && a.threshold == b.threshold && a.left == b.left &&
               a.tests.words == b.tests.words;
    };
    for (const auto criterion : class_criteria) {
        GrowParams params = classes_params(3);
        params.criterion = criterion;
        params.max_depth = 4;
        const auto weighted = grow_classes(problem.data, problem.classes, params, weights);
        CHECK(agree(weighted, grow_classes(problem.data, problem.classes, params, {}, rows)));
        CHECK(weighted.weight[0] == 120 && weighted.n_samples[0] == 80);
        for (double& w : weights) w /= 4;  // only ratios matter
        CHECK(agree(weighted, grow_classes(problem.data, problem.classes, params, weights)));
        for (double& w : weights) w *= 4;
    }
    for (const auto criterion : number_criteria) {
        GrowParams params = numbers_params(criterion);
        params.max_depth = 3;
        CHECK(agree(grow_numbers(problem.data, problem.numbers, params, weights),
                    grow_numbers(problem.data, problem.numbers, params, {}, rows)));
    }
    CHECK_THROWS(std::invalid_argument,
                 grow_classes(problem.data, problem.classes, classes_params(3), Numbers(120, 0.0)));
}

TEST(a_row_view_is_a_table_of_those_rows) {
    const auto columns = random_columns(200, 4, 11);
    std::vector<Row> rows;
    std::vector<Numbers> fewer(4);
    Classes classes, fewer_classes;
    Random random(12);
    for (Row i = 0; i < 200; ++i) {
        classes.push_back(static_cast<std::int32_t>(random.below(3)));
        if (random.below(2)) continue;
        rows.push_back(i);
        fewer_classes.push_back(classes.back());
        for (std::size_t j = 0; j < 4; ++j) fewer[j].push_back(columns[j][i]);
    }
    const GrowParams params = classes_params(3);
    CHECK(same(grow_classes(table_of(columns), classes, params, {}, rows),
               grow_classes(table_of(fewer), fewer_classes, params)));
}

TEST(categories_split_into_the_best_two_sets) {
    const std::vector<std::int32_t> codes{0, 1, 2, 3, 0, 1, 2, 3, -1};
    Dataset data(codes.size());
    data.append_categories(codes.data(), 6);  // 4 and 5 are never seen
    const auto left_of = [](const DecisionGraph& graph) {
        return graph.tests.set(graph.detail[0])[0];
    };

    const auto graph = grow_numbers(data, {1, 9, 1, 9, 1, 9, 1, 9, 9}, numbers_params());
    CHECK(graph.n_nodes() == 3 && graph.kind[0] == 2);
    CHECK(left_of(graph) == 0b000101 && graph.missing_left[0] == 0);

    // Three classes, so that all subsets are tried.
    const auto classes = grow_classes(data, {2, 0, 2, 0, 2, 0, 2, 0, 2}, classes_params(3));
    CHECK(classes.n_nodes() == 3);
    const bool two_is_left = left_of(classes) & 1;
    CHECK(left_of(classes) == (two_is_left ? 0b110101 : 0b001010));  // unseen go with missing
    CHECK(bool(classes.missing_left[0]) == two_is_left);
    for (const double code : {4.0, 5.0, missing}) {
        CHECK(classes.leaf_of(&code) == (two_is_left ? classes.left[0] : classes.right[0]));
    }
}

TEST(missing_values_learn_their_side) {
    for (const bool goes_left : {false, true}) {
        const Dataset data = table_of({{1, 2, 3, 4, missing, missing}});
        const double y = goes_left ? 0 : 7;
        const auto graph = grow_numbers(data, {0, 0, 7, 7, y, y}, numbers_params());
        CHECK(graph.n_nodes() == 3 && graph.threshold[0] == 2.5);
        CHECK(bool(graph.missing_left[0]) == goes_left);
    }
    // Only being missing tells: every number goes left.
    const auto only =
        grow_classes(table_of({{1, 2, missing, missing}}), {0, 0, 1, 1}, classes_params(2));
    CHECK(only.n_nodes() == 3 && only.threshold[0] == infinity && only.missing_left[0] == 0);
    // None seen in training: they follow the heavier child.
    const Dataset whole = table_of({{1, 2, 3, 4, 5}});
    CHECK(grow_numbers(whole, {0, 0, 0, 7, 7}, numbers_params()).missing_left[0] == 1);
    CHECK(grow_numbers(whole, {0, 0, 7, 7, 7}, numbers_params()).missing_left[0] == 0);
    CHECK(grow_numbers(whole, {0, 0, 7, 7, 7}, numbers_params(), {9, 9, 1, 1, 1}).missing_left[0]);
}

TEST(splits_without_gain_are_taken_unless_a_decrease_is_asked_for) {
    const Dataset data = table_of({{0, 0, 1, 1}, {0, 1, 0, 1}});
    GrowParams params = classes_params(2);
    CHECK(grow_classes(data, {0, 1, 1, 0}, params).n_leaves() == 4);
    params.min_impurity_decrease = 1e-9;
    CHECK(grow_classes(data, {0, 1, 1, 0}, params).n_leaves() == 1);
}

TEST(limits_hold_in_every_order_of_growth) {
    const Problem problem(400, 21);
    for (const std::int64_t max_leaf_nodes : {-1, 9}) {
        for (const auto splitter : {GrowParams::Splitter::best, GrowParams::Splitter::random}) {
            GrowParams params = classes_params(3);
            params.max_leaf_nodes = max_leaf_nodes;
            params.splitter = splitter;
            params.max_depth = 5;
            params.min_samples_leaf = 7;
            params.min_samples_split = 30;
            params.min_weight_leaf = 9;
            const auto graph = grow_classes(problem.data, problem.classes, params, problem.weights);
            CHECK(graph.depth() <= 5 && graph.n_leaves() > 2);
            CHECK(max_leaf_nodes < 0 || graph.n_leaves() <= 9);
            for (std::size_t i = 0; i < graph.n_nodes(); ++i) {
                CHECK(graph.n_samples[i] >= 7 && graph.weight[i] >= 9);
                CHECK(graph.kind[i] == 0 || graph.n_samples[i] >= 30);
            }
        }
    }
}

TEST(best_first_takes_the_largest_gain_and_ends_in_the_whole_tree) {
    const Problem problem(300, 31);
    GrowParams params = classes_params(3);
    const auto whole = grow_classes(problem.data, problem.classes, params);
    double before = infinity;
    for (std::int64_t leaves = 2; leaves < 12; ++leaves) {
        params.max_leaf_nodes = leaves;
        const auto graph = grow_classes(problem.data, problem.classes, params);
        CHECK(graph.n_leaves() == static_cast<std::size_t>(leaves));
        double impurity = 0;
        for (std::size_t i = 0; i < graph.n_nodes(); ++i) {
            if (graph.kind[i] == 0) impurity += graph.weight[i] * graph.impurity[i];
        }
        CHECK(impurity < before);
        before = impurity;
    }
    params.max_leaf_nodes = 1'000'000'000'000;
    CHECK(same(grow_classes(problem.data, problem.classes, params), whole));
}

TEST(random_splits_depend_on_the_seed_alone) {
    const Problem problem(300, 41);
    GrowParams params = classes_params(3);
    params.splitter = GrowParams::Splitter::random;
    std::set<Numbers> thresholds;
    for (params.seed = 0; params.seed < 5; ++params.seed) {
        const auto graph = grow_classes(problem.data, problem.classes, params);
        CHECK(same(graph, grow_classes(problem.data, problem.classes, params, {}, {}, 3)));
        CHECK(routes_as_grown(graph, problem.columns));
        for (std::size_t i = 0; i < graph.n_nodes(); ++i)
            CHECK(graph.impurity[i] == 0 || graph.kind[i]);
        thresholds.insert(graph.threshold);
    }
    CHECK(thresholds.size() == 5);
}

// Mostly zeros, so that nodes have many constants: a varying feature must never be taken for one.
TEST(drawn_features_end_in_pure_leaves) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        Random random(seed);
        std::vector<Numbers> columns(12, Numbers(200));
        Classes classes(200);
        for (std::size_t i = 0; i < 200; ++i) {
            for (auto& column : columns) column[i] = random.below(12) == 0;
            for (int bit = 0; bit < 8; ++bit) columns[bit][i] = i >> bit & 1;  // all rows differ
            classes[i] = static_cast<std::int32_t>(random.below(2));
        }
        const Dataset data = table_of(columns);
        for (const std::int64_t max_features : {1, 3, 6}) {
            for (const std::int64_t max_leaf_nodes : {-1, 1000}) {
                GrowParams params = classes_params(2);
                params.seed = seed;
                params.max_features = max_features;
                params.max_leaf_nodes = max_leaf_nodes;
                const auto graph = grow_classes(data, classes, params);
                CHECK(routes_as_grown(graph, columns));
                for (std::size_t i = 0; i < graph.n_nodes(); ++i) {
                    CHECK(graph.kind[i] || graph.impurity[i] == 0);
                }
            }
        }
    }
}

TEST(rows_are_routed_as_they_were_grown) {
    for (const std::uint32_t max_bins : {0u, 20u}) {
        const Problem problem(700, 51 + max_bins, max_bins);
        for (const std::int64_t max_leaf_nodes : {-1, 40}) {
            for (const auto criterion : class_criteria) {
                GrowParams params = classes_params(3);
                params.criterion = criterion;
                params.max_leaf_nodes = max_leaf_nodes;
                CHECK(routes_as_grown(grow_classes(problem.data, problem.classes, params),
                                      problem.columns));
                CHECK(routes_as_grown(
                    grow_classes(problem.data, problem.classes, params, problem.weights),
                    problem.columns));
            }
            for (const auto criterion : number_criteria) {
                GrowParams params = numbers_params(criterion);
                params.max_leaf_nodes = max_leaf_nodes;
                CHECK(routes_as_grown(grow_numbers(problem.data, problem.numbers, params),
                                      problem.columns));
                CHECK(routes_as_grown(
                    grow_numbers(problem.data, problem.numbers, params, problem.weights),
                    problem.columns));
            }
        }
    }
}

TEST(huge_tiny_and_neighbouring_numbers_are_separated) {
    const double most = std::numeric_limits<double>::max(), least = 5e-324;
    const std::vector<Numbers> columns{
        {most, -most, least, -least, 0, 1, std::nextafter(1.0, 2.0), std::nextafter(most, 0)}};
    const Dataset data = table_of(columns);
    for (const auto splitter : {GrowParams::Splitter::best, GrowParams::Splitter::random}) {
        GrowParams params = classes_params(8);
        params.splitter = splitter;
        const auto graph = grow_classes(data, {0, 1, 2, 3, 4, 5, 6, 7}, params);
        CHECK(graph.n_leaves() == 8);
        CHECK(routes_as_grown(graph, columns));
    }
}

// More rows than a subtree task takes, so that histograms, their differences and tasks are in play.
TEST(a_large_tree_is_the_same_for_any_number_of_threads) {
    const Problem problem(20000, 61, 255);
    GrowParams params = classes_params(3);
    params.min_samples_leaf = 5;
    const auto classes = grow_classes(problem.data, problem.classes, params);
    CHECK(routes_as_grown(classes, problem.columns));
    const auto weighted = grow_classes(problem.data, problem.classes, params, problem.weights);
    GrowParams real = numbers_params();
    real.min_samples_leaf = 5;
    const auto numbers = grow_numbers(problem.data, problem.numbers, real);
    GrowParams drawn = params;
    drawn.splitter = GrowParams::Splitter::random;
    const auto random = grow_classes(problem.data, problem.classes, drawn);
    for (const int n_threads : {2, 5}) {
        CHECK(
            same(classes, grow_classes(problem.data, problem.classes, params, {}, {}, n_threads)));
        CHECK(same(weighted, grow_classes(problem.data, problem.classes, params, problem.weights,
                                          {}, n_threads)));
        CHECK(same(numbers, grow_numbers(problem.data, problem.numbers, real, {}, {}, n_threads)));
        CHECK(same(random, grow_classes(problem.data, problem.classes, drawn, {}, {}, n_threads)));
    }
}

TEST(growth_stops_when_the_poll_says_so) {
    const Problem problem(20000, 71, 255);
    for (const int n_threads : {1, 2}) {
        Team team(n_threads, [] { return false; });
        const auto grow_until_stopped = [&] {
            for (;;) grow(problem.data, {}, {problem.classes, {}, {}}, classes_params(3), team);
        };
        CHECK_THROWS(Interrupted, grow_until_stopped());
    }
}

TEST(codes_by_row_give_the_same_tree) {
    const auto columns = random_columns(3000, 9, 5);
    const Dataset data = table_of(columns, 200);
    Classes y;
    Numbers weights;
    for (std::size_t i = 0; i < 3000; ++i) {
        y.push_back((columns[0][i] > 0) + (columns[1][i] > 7 + 9 * columns[4][i]));
        weights.push_back(i % 3);
    }
    Team team(1);
    CHECK(has_narrow_codes(data));
    const RowCodes by_row(data, team);
    for (const Numbers& w : {Numbers{}, weights}) {
        const std::vector<Row> some{7, 8, 8, 30, 400, 401, 2999};
        for (const RowChoice& rows : {RowChoice{}, RowChoice{some}}) {
            const DecisionGraph tree = grow_classes(data, y, classes_params(3), w, rows);
            CHECK(tree.n_nodes() > 1);
            CHECK(same(tree, grow(data, rows, {y, {}, w}, classes_params(3), team, &by_row)));
        }
    }
}
