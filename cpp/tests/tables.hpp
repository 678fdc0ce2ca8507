// Small tables and graphs for the tests.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/random.hpp"
#include "data/dataset.hpp"
#include "graph/decision_graph.hpp"
#include "grow/grower.hpp"

namespace hedgerow::testing {

inline constexpr double missing = std::numeric_limits<double>::quiet_NaN();
inline constexpr double infinity = std::numeric_limits<double>::infinity();

using Numbers = std::vector<double>;
using Classes = std::vector<std::int32_t>;

// A table of numeric columns, exact unless told otherwise.
inline Dataset table_of(const std::vector<Numbers>& columns, std::uint32_t max_bins = 0,
                        int n_threads = 1) {
    Dataset data(columns.at(0).size());
    std::vector<Strided<double>> views;
    for (const auto& column : columns) views.push_back({column.data(), 1});
    Team team(n_threads);
    data.append_numbers<double>(views, max_bins, team);
    return data;
}

inline std::vector<std::uint32_t> codes_of(const Column& column, std::size_t n) {
    std::vector<std::uint32_t> codes;
    for (std::size_t i = 0; i < n; ++i) codes.push_back(column.code(static_cast<Row>(i)));
    return codes;
}

inline GrowParams classes_params(std::uint32_t n_classes) {
    GrowParams params;
    params.n_classes = n_classes;
    return params;
}

inline GrowParams numbers_params(
    GrowParams::Criterion criterion = GrowParams::Criterion::squared_error) {
    GrowParams params;
    params.criterion = criterion;
    return params;
}

inline DecisionGraph grow_classes(const Dataset& data, const Classes& y, const GrowParams& params,
                                  const Numbers& weights = {}, const RowChoice& rows = {},
                                  int n_threads = 1) {
    Team team(n_threads);
    DecisionGraph graph = grow(data, rows, {y, {}, weights}, params, team);
    graph.validate();
    return graph;
}

inline DecisionGraph grow_numbers(const Dataset& data, const Numbers& y, const GrowParams& params,
                                  const Numbers& weights = {}, const RowChoice& rows = {},
                                  int n_threads = 1) {
    Team team(n_threads);
    DecisionGraph graph = grow(data, rows, {{}, y, weights}, params, team);
    graph.validate();
    return graph;
}

// Columns of random numbers: whole, real, and with every seventh value missing.
inline std::vector<Numbers> random_columns(std::size_t n_rows, std::size_t n_columns,
                                           std::uint64_t seed) {
    std::vector<Numbers> columns(n_columns, Numbers(n_rows));
    Random random(seed);
    for (std::size_t j = 0; j < n_columns; ++j) {
        for (double& v : columns[j]) {
            v = j % 2 ? static_cast<double>(random.below(20)) : random.uniform() - 0.5;
            if (j % 3 == 2 && random.below(7) == 0) v = missing;
        }
    }
    return columns;
}

inline Numbers row_of(const std::vector<Numbers>& columns, std::size_t row) {
    Numbers out;
    for (const auto& column : columns) out.push_back(column[row]);
    return out;
}

inline bool same(const DecisionGraph& a, const DecisionGraph& b) {
    return a.kind == b.kind && a.missing_left == b.missing_left && a.feature == b.feature &&
           a.left == b.left && a.right == b.right && a.threshold == b.threshold &&
           a.n_samples == b.n_samples && a.weight == b.weight && a.impurity == b.impurity &&
           a.value == b.value && a.tests.words == b.tests.words;
}

}  // namespace hedgerow::testing
