// Boosting on random tables: whole-number sums, the same trees for any number of threads.
#include <numeric>

#include "boost/boosting.hpp"
#include "boost/histogram.hpp"
#include "check.hpp"
#include "tables.hpp"

using namespace hedgerow;
using namespace hedgerow::testing;

namespace {

struct BoostCase {
    Dataset data;
    Classes classes;
    Numbers numbers, weights;
    std::vector<Row> rows, held;
    BoostParams params;

    BoostCase(std::uint64_t seed, std::size_t n) : data(table_of(random_columns(n, 5, seed), 40)) {
        Random random(seed + 1);
        std::vector<std::int32_t> codes;
        for (std::size_t i = 0; i < n; ++i) {
            codes.push_back(static_cast<std::int32_t>(random.below(300)) - 1);
            classes.push_back(static_cast<std::int32_t>((codes.back() + random.below(3)) % 3));
            numbers.push_back(random.uniform() + codes.back() % 7);
            weights.push_back(1 + static_cast<double>(random.below(2)));
            (random.below(5) ? rows : held).push_back(static_cast<Row>(i));
        }
        data.append_categories(codes.data(), 300);  // wide
        const bool for_classes = seed % 2;
        params.loss = {for_classes ? Loss::Name::log_loss : Loss::Name::squared,
                       for_classes ? 3u : 0u, 0.5};
        params.min_samples_leaf = 1 + static_cast<std::int64_t>(seed % 20);
        params.subsample = seed % 3 ? 1 : 0.7;
        params.max_features = seed % 4 ? 1 : 0.5;
        if (seed % 5 == 0) params.groups = {{0, 1, 5}, {2, 3, 4}};
    }

    Boosted boosted(int n_threads, std::size_t n_rounds = 5) const {
        const bool for_classes = params.loss.n_classes > 0;
        LossTargets targets;
        if (for_classes) {
            targets.classes = classes;
        } else {
            targets.numbers = numbers;
        }
        if (params.seed % 2) targets.weights = weights;
        Team team(n_threads);
        std::atomic<std::size_t> done{0};
        return boost({data, targets, rows, held, {}, 0}, params, n_rounds, {}, true, done, team);
    }
};

}  // namespace

TEST(boosted_trees_are_the_same_for_any_number_of_threads) {
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
        NOTE("seed", seed);
        BoostCase one(seed, seed % 6 == 0 ? 60000 : 500);
        one.params.seed = seed;
        const Boosted a = one.boosted(1), b = one.boosted(3);
        CHECK_EQ(a.graphs.size(), b.graphs.size());
        for (std::size_t i = 0; i < a.graphs.size(); ++i) {
            a.graphs[i].validate();
            CHECK(same(a.graphs[i], b.graphs[i]));
        }
        CHECK(a.train_losses == b.train_losses && a.held_losses == b.held_losses);
        CHECK(a.train_losses.back() < a.train_losses.front());
    }
}

TEST(histograms_sum_derivatives_up_to_rounding) {
    const std::size_t n = 3000;
    Random random(4);
    auto columns = random_columns(n, 11, 3);
    for (int bundled = 0; bundled < 9; ++bundled) columns.emplace_back(n, 0.0);
    for (std::size_t i = 0; i < n; ++i) {  // columns that are never off zero together
        const std::size_t at = 11 + random.below(9);
        columns[at][i] = random.below(5) ? static_cast<double>(random.below(4)) : missing;
    }
    const Dataset data = table_of(columns, 30);
    Team team(1);
    const BoostTable table(data, team);
    CHECK_EQ(table.places_in_row().size(), std::size_t{12});
    std::vector<float> g(n), h(n);
    std::vector<Row> rows;
    for (std::size_t i = 0; i < n; ++i) {
        g[i] = static_cast<float>(random.uniform() - 0.5) * (i == 7 ? 1000 : 1);
        h[i] = static_cast<float>(random.uniform());
        if (random.below(3)) rows.push_back(static_cast<Row>(i));
    }
    std::vector<std::vector<std::int64_t>> spare;
    for (const bool constant : {true, false}) {
        RowValues values;
        values.of_row.resize(n);
        values.round(g.data(), h.data(), rows, constant, team);
        Histograms histograms(table, values.width());
        histograms.count(table, values, rows, spare, team);
        for (std::size_t f = 0; f < data.n_features(); ++f) {
            const Column& column = data.column(f);
            std::vector<Slopes> expected(column.n_bins + 1);
            for (const Row row : rows) {
                Slopes& slopes = expected[column.code(row)];
                slopes.gradient += static_cast<double>(g[row]);
                slopes.hessian += constant ? 1.0 : static_cast<double>(h[row]);
                ++slopes.n;
            }
            for (std::uint32_t code = 0; code <= column.n_bins; ++code) {
                const auto* bin = histograms.bins() + (table.place(f) + code) * values.width();
                const Slopes found = constant ? values.slopes_of<1>(bin) : values.slopes_of<2>(bin);
                CHECK_EQ(found.n, expected[code].n);
                CHECK(std::abs(found.gradient - expected[code].gradient) < 1e-4);
                CHECK(std::abs(found.hessian - expected[code].hessian) < 1e-4);
            }
        }
    }
}

TEST(boosting_stops_where_held_rows_gain_no_more) {
    BoostCase noise(2, 400);
    Random random(9);
    for (double& y : noise.numbers) y = random.uniform();
    Team team(1);
    std::atomic<std::size_t> done{0};
    LossTargets targets;
    targets.numbers = noise.numbers;
    const Boosted out = boost({noise.data, targets, noise.rows, noise.held, {}, 0}, noise.params,
                              200, {5, 0.0}, false, done, team);
    CHECK(done < 200);
    CHECK_EQ(out.held_losses.size(), out.graphs.size() + 1);
    CHECK_EQ(out.held_losses.back(),
             *std::min_element(out.held_losses.begin(), out.held_losses.end()));
}
