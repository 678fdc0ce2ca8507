// Mean-margin growth on random tables, and oblique tests with categories.
#include <limits>
#include <stdexcept>

#include "base/random.hpp"
#include "check.hpp"
#include "graph/packed.hpp"
#include "margin/mean_margin.hpp"

using namespace hedgerow;

namespace {

constexpr double missing = std::numeric_limits<double>::quiet_NaN();

// Numbers, categories (one code beyond the known ones) and missing values, with all kinds of
// labels.
template <class T>
struct RandomTable {
    std::vector<T> x;
    std::vector<std::uint32_t> n_categories;
    std::vector<std::int32_t> classes;
    std::vector<double> numbers, weights;
    MarginTable<T> table;
    Labels labels;

    explicit RandomTable(std::uint64_t seed) {
        Random random(seed);
        const std::size_t n = 1 + random.below(seed % 10 == 0 ? 6000 : 200);
        n_categories.resize(1 + random.below(20));
        for (auto& c : n_categories) {
            c = random.below(3) ? 0 : 1 + static_cast<std::uint32_t>(random.below(5));
        }
        for (std::size_t i = 0; i < n; ++i) {
            for (const std::uint32_t c : n_categories) {
                const auto v = c ? static_cast<double>(random.below(c + 1)) : random.uniform();
                x.push_back(static_cast<T>(random.below(7) ? v : missing));
            }
            classes.push_back(static_cast<std::int32_t>(random.below(4)));
            weights.push_back(i == 0 ? 1.0 : static_cast<double>(random.below(3)));
            numbers.insert(numbers.end(), {random.uniform(), random.uniform()});
        }
        table = {x.data(), n, static_cast<std::uint32_t>(n_categories.size()), n_categories};
        if (seed % 2) labels.weights = weights;
        if (seed % 3) {
            labels.classes = classes;
            labels.n_outputs = 4;
        } else {
            labels.numbers = numbers;
            labels.n_outputs = 2;
        }
    }

    DecisionGraph grow(int n_threads) const {
        Team team(n_threads);
        const auto scale = standard_scale<T>(table, {}, labels.weights, team);
        return grow_mean_margin<T>(table, {}, labels, scale, {}, team);
    }
};

template <class T>
void check_growth(std::uint64_t seed) {
    const RandomTable<T> data(seed);
    const DecisionGraph graph = data.grow(1), other = data.grow(3);
    graph.validate();
    CHECK(graph.left == other.left && graph.value == other.value);
    CHECK(graph.tests.oblique.size() == other.tests.oblique.size());
    for (std::size_t i = 0; i < graph.tests.oblique.size(); ++i) {
        const auto a = graph.tests.oblique[i]->terms(), b = other.tests.oblique[i]->terms();
        CHECK(std::equal(a.begin(), a.end(), b.begin(), b.end(),
                         [](const auto& s, const auto& t) { return s.weight == t.weight; }));
    }

    PackedGraphs packed(graph.n_features, graph.n_outputs);
    packed.add(graph);
    std::vector<double> out(data.table.n_rows * graph.n_outputs);
    Team team(1);
    packed.predict(data.x.data(), data.table.n_rows, out.data(), team);
    std::vector<std::int32_t> n_rows(graph.n_nodes());
    bool agrees = true;
    for (std::size_t i = 0; i < data.table.n_rows; ++i) {
        const auto leaf = graph.leaf_of(data.table.row(static_cast<Row>(i)));
        agrees &= out[i * graph.n_outputs] == graph.value_of(leaf)[0];
        n_rows[leaf] += data.labels.weight(static_cast<Row>(i)) > 0;
    }
    CHECK(agrees);
    for (std::size_t node = 0; node < graph.n_nodes(); ++node) {
        CHECK(graph.kind[node] != 0 || n_rows[node] == graph.n_samples[node]);
    }
}

}  // namespace

TEST(growth_and_prediction_send_rows_to_the_same_leaves) {
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        check_growth<float>(seed);
        check_growth<double>(seed + 1000);
    }
}

TEST(values_that_overflow_are_refused) {
    RandomTable<double> data(2);
    data.n_categories[0] = 0;
    data.x[0] = 1e200;
    CHECK(testing::throws<std::invalid_argument>([&] { data.grow(1); }));
}

TEST(oblique_tests_weigh_categories) {
    // 2 * (x0 - 1) + (x1 = 0 ? 3 : x1 = 1 ? -3 : x1 = 2 ? 6 : missing, the mean 2)
    const ObliqueTerm terms[] = {{0, -1, 2, 1}, {1, 0, 3, 0}, {1, 1, -3, 0}, {1, 2, 6, 0}};
    const ObliqueTest test(terms);
    const auto sum_is = [&](double a, double b, double sum) {
        const double x[] = {a, b};
        return test.sum(x) == sum;
    };
    CHECK(sum_is(1, 0, 3) && sum_is(2, 1, -1) && sum_is(1, 2, 6));
    CHECK(sum_is(1, missing, 2) && sum_is(1, 3, 2) && sum_is(missing, 1, -3));
}

TEST(oblique_tests_keep_their_order) {
    const auto refused = [](std::vector<ObliqueTerm> terms) {
        return testing::throws<std::invalid_argument>([&] { ObliqueTest{terms}; });
    };
    CHECK(refused({{1, 0, 1, 0}, {0, -1, 1, 0}}));
    CHECK(refused({{1, 1, 1, 0}}));
    CHECK(refused({{1, 0, 1, 0}, {1, 2, 1, 0}}));
    CHECK(refused({{1, 0, 1, 0}, {2, 1, 1, 0}}));
}
