#include <algorithm>
#include <optional>

#include "check.hpp"
#include "grow/forest.hpp"
#include "tables.hpp"

using namespace hedgerow;
using namespace hedgerow::testing;
using Splitter = GrowParams::Splitter;

namespace {

constexpr Splitter splitters[] = {Splitter::best, Splitter::random};

// Classes that follow the first columns, whole numbers and many zeros among the others.
struct Problem {
    std::vector<Numbers> columns;
    Classes classes;

    Problem(std::size_t n, std::size_t n_columns, std::uint64_t seed)
        : columns(n_columns, Numbers(n)) {
        Random random(seed);
        for (std::size_t i = 0; i < n; ++i) {
            for (std::size_t j = 0; j < n_columns; ++j) {
                const bool zero = j % 3 == 0 && random.below(5) > 0;
                columns[j][i] = zero ? 0.0 : static_cast<double>(random.below(j % 2 ? 9 : 200));
            }
            const double noise = random.uniform() < 0.2 ? 3 : 0;
            classes.push_back(static_cast<int>(columns[1][i] / 4 + columns[2][i] / 80 + noise));
        }
    }
    std::uint32_t n_classes() const {
        return 1 + static_cast<std::uint32_t>(*std::max_element(classes.begin(), classes.end()));
    }
};

ForestParams forest_params(const Problem& problem, std::uint32_t n_draws, Splitter splitter) {
    ForestParams params;
    params.tree = classes_params(problem.n_classes());
    params.tree.splitter = splitter;
    params.tree.max_features = 3;
    params.seed = 7;
    params.n_draws = n_draws;
    return params;
}

struct Answer {
    Forest forest;
    Unseen unseen;
};

Answer grow_some(const Dataset& data, const RowChoice& rows, const Classes& classes,
                 const ForestParams& params, bool out_of_bag, const std::vector<Row>& held,
                 int n_threads = 1) {
    const std::uint32_t n_classes = params.tree.n_classes;
    Answer answer{{PackedGraphs(static_cast<std::uint32_t>(data.n_features()), n_classes), {}}, {}};
    answer.unseen.out_of_bag = out_of_bag;
    answer.unseen.held = held;
    answer.unseen.sums.resize(data.n_rows() * n_classes);
    answer.unseen.counts.resize(data.n_rows());
    std::atomic<std::size_t> done = 0;
    Team team(n_threads);
    grow_forest(data, rows, {classes, {}, {}}, params, 6, answer.forest, &answer.unseen, done,
                team);
    CHECK(done == 6);
    return answer;
}

}  // namespace

TEST(shared_columns_are_not_copied_and_grow_apart) {
    std::optional<Dataset> data(table_of({{1, 2, 3}, {5, 5, 4}}));
    Dataset other = data->share();
    CHECK(other.n_rows() == 3 && other.n_features() == 2);
    CHECK(&other.column(1) == &data->column(1));
    const std::int32_t codes[] = {0, 1, 0};
    other.append_categories(codes, 2);
    CHECK(other.n_features() == 3 && data->n_features() == 2);
    data.reset();  // the columns live on in the other
    CHECK(codes_of(other.column(1), 3) == std::vector<std::uint32_t>({1, 1, 0}));
}

// Columns with a missing value, even one in a row that is not asked for, take the general search.
TEST(bits_grow_the_tree_of_the_general_search) {
    for (const std::size_t n : {3, 40, 64, 65, 128, 700}) {
        Problem problem(n + 1, 24, n);
        problem.columns.emplace_back(n + 1, 1.0);
        const Dataset on_bits = table_of(problem.columns);
        problem.columns.back()[n] = missing;
        const Dataset general = table_of(problem.columns);
        std::vector<Row> rows(n);
        for (std::size_t i = 0; i < n; ++i) rows[i] = static_cast<Row>(i);
        for (const std::size_t heaviest : {1, 6, 15, 200, 300}) {  // 300 is too heavy for bits
            Numbers weights(n + 1);
            for (std::size_t i = 0; i <= n; ++i) {
                weights[i] = static_cast<double>(1 + i * i % heaviest);
            }
            for (const auto splitter : splitters) {
                for (const std::int64_t max_features : {1, 3}) {
                    GrowParams params = classes_params(problem.n_classes());
                    params.splitter = splitter;
                    params.max_features = max_features;
                    params.min_samples_leaf = n % 2 ? 2 : 1;
                    params.min_weight_leaf = n == 128 ? 3 : 0;
                    params.max_depth = n == 40 ? 3 : -1;
                    params.seed = n;
                    NOTE("rows", n, "heaviest", heaviest, "max_features", max_features,
                         splitter == Splitter::random ? "random" : "best");
                    const auto grown =
                        grow_classes(on_bits, problem.classes, params, weights, rows);
                    CHECK(n < 4 || grown.n_leaves() > 2);
                    CHECK(
                        same(grown, grow_classes(general, problem.classes, params, weights, rows)));
                }
            }
        }
    }
}

// The same for numbers, whose sums are exact here.
TEST(rows_side_by_side_grow_the_tree_of_the_general_search) {
    for (const std::size_t n_columns : {3, 15, 16, 40}) {
        for (const std::size_t n : {2, 5, 300, 1500}) {
            Problem problem(n + 1, n_columns, n);
            // No constant column: the general search would know it from a gather.
            problem.columns.push_back(problem.columns[1]);
            const Dataset side_by_side = table_of(problem.columns);
            problem.columns.back()[n] = missing;
            const Dataset general = table_of(problem.columns);
            std::vector<Row> rows(n);
            Numbers y(n + 1);
            for (std::size_t i = 0; i < n; ++i) {
                rows[i] = static_cast<Row>(i);
                y[i] = problem.columns[1][i] * 3 - problem.columns[2][i];
            }
            for (const std::int64_t max_features : {1, 4, -1}) {
                GrowParams params = numbers_params();
                params.splitter = Splitter::random;
                params.max_features = max_features;
                params.min_samples_leaf = n % 2 ? 2 : 1;
                params.max_depth = n == 300 ? 6 : -1;
                params.seed = n + n_columns;
                NOTE("rows", n, "columns", n_columns, "max_features", max_features);
                const auto grown = grow_numbers(side_by_side, y, params, {}, rows);
                CHECK(n < 6 || grown.n_leaves() > 2);
                CHECK(same(grown, grow_numbers(general, y, params, {}, rows)));
            }
        }
    }
}

TEST(taken_rows_keep_their_bins_and_codes) {
    auto columns = random_columns(400, 5, 7);
    columns[4].assign(400, 1.0);
    columns[4][7] = missing;
    Dataset data = table_of(columns, 300);
    std::vector<std::int32_t> categories(400);
    for (std::size_t i = 0; i < 400; ++i) categories[i] = static_cast<std::int32_t>(i % 4) - 1;
    data.append_categories(categories.data(), 3);
    const std::vector<Row> rows{399, 3, 3, 120, 7};
    for (const int n_threads : {1, 3}) {
        Team team(n_threads);
        const Dataset part = data.take(rows, team);
        CHECK(part.n_rows() == rows.size() && part.n_features() == data.n_features());
        for (std::size_t f = 0; f < data.n_features(); ++f) {
            const Column &from = data.column(f), &to = part.column(f);
            CHECK(to.n_bins == from.n_bins && to.wide == from.wide);
            CHECK(to.categorical == from.categorical);
            CHECK(to.smallest == from.smallest && to.largest == from.largest);
            bool has_missing = false;
            for (std::size_t i = 0; i < rows.size(); ++i) {
                CHECK(to.code(static_cast<Row>(i)) == from.code(rows[i]));
                has_missing |= from.code(rows[i]) == from.n_bins;
            }
            CHECK(to.has_missing == has_missing);
        }
        CHECK(part.column(4).has_missing);
        CHECK(!data.take(std::vector<Row>{1, 2}, team).column(4).has_missing);
        CHECK(data.take({}, team).n_rows() == 0);
    }
}

TEST(no_rows_are_not_all_rows) {
    const Problem problem(50, 3, 1);
    const Dataset data = table_of(problem.columns);
    const std::vector<Row> none;
    const auto params = forest_params(problem, 10, Splitter::best);
    CHECK_THROWS(std::invalid_argument, grow_classes(data, problem.classes, params.tree, {}, none));
    CHECK_THROWS(std::invalid_argument, grow_some(data, none, problem.classes, params, false, {}));
}

TEST(unseen_rows_get_the_values_of_the_leaves_they_reach) {
    const Problem problem(300, 6, 5);
    const Dataset data = table_of(problem.columns);
    std::vector<Row> rows, held;
    for (Row row = 0; row < 300; ++row) (row % 5 == 0 ? held : rows).push_back(row);
    const std::uint32_t k = problem.n_classes();
    for (const auto splitter : splitters) {
        const auto params = forest_params(problem, 240, splitter);
        const auto [forest, unseen] = grow_some(data, rows, problem.classes, params, true, held);
        Numbers sums(300 * k);
        std::vector<std::uint32_t> counts(300);
        for (std::size_t member = 0; member < 6; ++member) {
            const auto bag = bag_of(params, rows.size(), member);
            std::vector<Row> asked = held;
            for (std::size_t i = 0; i < rows.size(); ++i) {
                if (bag[i] == 0) asked.push_back(rows[i]);
            }
            for (const Row row : asked) {
                const Numbers x = row_of(problem.columns, row);
                forest.add_value_of(member, x.data(), sums.data() + row * k);
                ++counts[row];
            }
        }
        CHECK(unseen.sums == sums);
        CHECK(unseen.counts == counts);
    }
}

TEST(a_forest_on_some_rows_is_one_on_a_table_of_them) {
    const Problem problem(200, 6, 9);
    std::vector<Row> rows;
    std::vector<Numbers> columns(6);
    Classes classes;
    for (Row row = 3; row < 200; row += 2) {
        rows.push_back(row);
        classes.push_back(problem.classes[row]);
        for (std::size_t j = 0; j < 6; ++j) columns[j].push_back(problem.columns[j][row]);
    }
    // Bins of the larger table hold values that the smaller one has not: thresholds differ.
    const Dataset data = table_of(problem.columns), part = table_of(columns);
    const auto params =
        forest_params(problem, static_cast<std::uint32_t>(rows.size()), Splitter::best);
    const auto some = grow_some(data, rows, problem.classes, params, false, {});
    const auto all = grow_some(part, {}, classes, params, false, {});
    for (std::size_t member = 0; member < 6; ++member) {
        const auto a = some.forest.unpack(member), b = all.forest.unpack(member);
        CHECK(a.feature == b.feature && a.left == b.left && a.value == b.value);
    }
}

TEST(a_forest_is_the_same_for_any_number_of_threads) {
    const Problem problem(300, 6, 11);
    const Dataset data = table_of(problem.columns);
    for (const auto splitter : splitters) {
        const auto params = forest_params(problem, 300, splitter);
        const auto one = grow_some(data, {}, problem.classes, params, true, {});
        const auto three = grow_some(data, {}, problem.classes, params, true, {}, 3);
        CHECK(one.forest.state().nodes == three.forest.state().nodes);
        CHECK(one.forest.importances == three.forest.importances);
        CHECK(one.unseen.sums == three.unseen.sums);
    }
}
