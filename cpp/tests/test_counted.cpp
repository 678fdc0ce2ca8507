#include "check.hpp"
#include "grow/counted.hpp"
#include "grow/limits.hpp"
#include "tables.hpp"

using namespace hedgerow;
using namespace hedgerow::testing;

namespace {

// A tree that is grown from counts of two halves of the rows, node by node.
struct FromCounts {
    const Dataset& data;
    const Classes& y;
    const Numbers& weights;
    GrowParams params;
    std::vector<DecisionGraph> nodes;
    std::vector<std::int32_t> left, right;

    std::int32_t grow(const std::vector<Row>& rows, const Stem& stem) {
        params.stem = stem;
        Team team(1);
        // Each row is in one of two nodes, which are added up as parts of one.
        std::vector<std::int32_t> node_of(y.size(), -1);
        for (std::size_t i = 0; i < rows.size(); ++i) node_of[rows[i]] = i % 3 == 0;
        auto counts = count_classes(data, node_of, 2, y, weights, params, team);
        const std::size_t size = n_counts(data, params, !weights.empty());
        for (std::size_t i = 0; i < size; ++i) counts[i] += counts[size + i];
        counts.resize(size);
        const Decision found = decide(data, params, counts, !weights.empty());
        const auto index = static_cast<std::int32_t>(nodes.size());
        nodes.push_back(found.node);
        left.push_back(-1), right.push_back(-1);
        if (found.goes_left.empty()) return index;
        const Column& column = data.column(found.node.feature[0]);
        std::vector<Row> sides[2];
        for (const Row row : rows) sides[!found.goes_left[column.code(row)]].push_back(row);
        CHECK_EQ(sides[0].size(), found.n_left);
        const std::uint32_t depth = stem.depth + 1;
        left[index] = grow(sides[0], {depth, found.left_key, stem.total_weight});
        right[index] = grow(sides[1], {depth, found.right_key, stem.total_weight});
        return index;
    }

    DecisionGraph whole() {
        std::vector<Row> rows;
        double total = 0;
        for (std::size_t i = 0; i < y.size(); ++i) {
            const double weight = weights.empty() ? 1 : weights[i];
            if (weight > 0) rows.push_back(static_cast<Row>(i));
            total += weight;
        }
        grow(rows, {0, root_key(params, data.n_features()), total});
        std::vector<const DecisionGraph*> given;
        for (const auto& node : nodes) given.push_back(&node);
        return join_nodes(given, left, right, {});
    }
};

}  // namespace

TEST(a_tree_from_counts_is_the_tree_of_the_rows) {
    const std::size_t n = 700;
    Dataset data = table_of(random_columns(n, 5, 1), 30);
    Random random(2);
    std::vector<std::int32_t> codes(n);
    for (auto& code : codes) code = static_cast<std::int32_t>(random.below(12)) - 1;
    data.append_categories(codes.data(), 11);
    Classes y;
    Numbers whole_weights;
    for (std::size_t i = 0; i < n; ++i) {
        y.push_back(static_cast<int>(random.below(3)));
        whole_weights.push_back(static_cast<double>(random.below(4)));
    }
    for (const auto splitter : {GrowParams::Splitter::best, GrowParams::Splitter::random}) {
        for (const std::int64_t max_features : {-1, 2}) {
            for (const Numbers& weights : {Numbers{}, whole_weights}) {
                GrowParams params = classes_params(3);
                params.splitter = splitter;
                params.max_features = max_features;
                params.keyed_draws = true;
                params.seed = 5;
                NOTE(static_cast<int>(splitter), max_features, weights.size());
                FromCounts grown{data, y, weights, params, {}, {}, {}};
                CHECK(same(grown.whole(), grow_classes(data, y, params, weights)));
            }
        }
    }
}
