#include "graph/value_order.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

namespace hedgerow {
namespace {

using Order = std::pair<std::int32_t, std::int32_t>;  // the first leaf's value is not the larger

// What rows can have of a feature: numbers above `low`, up to `high`, or categories.
struct Range {
    double low = -std::numeric_limits<double>::infinity();
    double high = std::numeric_limits<double>::infinity();
    std::vector<std::uint64_t> categories = {};  // bits; empty before the first test of them
    bool missing = true;                         // or unknown

    bool empty() const {
        const bool has_values =
            categories.empty() ? low < high
                               : std::ranges::any_of(categories, [](auto w) { return w != 0; });
        return !has_values && !missing;
    }
    void cut(double threshold, bool left, bool missing_left) {
        (left ? high : low) = left ? std::min(high, threshold) : std::max(low, threshold);
        missing &= left == missing_left;
    }
    void cut(std::span<const std::uint64_t> set, double n_known, bool left, bool missing_left) {
        if (categories.empty()) {
            categories.resize(set.size());
            for (std::size_t c = 0; c < static_cast<std::size_t>(n_known); ++c) {
                categories[c / 64] |= std::uint64_t{1} << (c % 64);
            }
        }
        for (std::size_t w = 0; w < set.size(); ++w) categories[w] &= left ? set[w] : ~set[w];
        missing &= left == missing_left;
    }
    void widen(const Range& other) {
        low = std::min(low, other.low);
        high = std::max(high, other.high);
        missing |= other.missing;
        if (other.categories.empty()) categories.clear();
        for (std::size_t w = 0; w < categories.size(); ++w) categories[w] |= other.categories[w];
    }
};

struct Box {
    std::vector<Range> common;  // by feature, what both rows have
    Range lower, higher;        // what each has of the feature that they differ in

    bool possible() const { return lower.low < std::min(lower.high, higher.high); }
    void widen(const Box& other) {
        for (std::size_t f = 0; f < common.size(); ++f) common[f].widen(other.common[f]);
        lower.widen(other.lower);
        higher.widen(other.higher);
    }
};

// The pairs of two rows that differ in one feature.
class Pairs {
  public:
    Pairs(const DecisionGraph& graph, std::int32_t feature)
        : graph_(graph), feature_(feature), position_(graph.n_nodes()) {
        const auto order = topological_order(graph);
        for (std::size_t i = 0; i < order.size(); ++i) position_[order[i]] = i;
    }

    std::vector<Order> of_leaves() {
        Box all;
        all.common.resize(graph_.n_features);
        all.lower.missing = all.higher.missing = false;
        reach(0, 0, std::move(all));
        std::vector<Order> found;
        while (!waiting_.empty()) {
            auto next = waiting_.extract(waiting_.begin());
            const auto [sum, a, b] = next.key();
            const Box& box = next.mapped();
            if (a == b) {
                if (!graph_.is_leaf(a)) both(a, box);
            } else if (graph_.is_leaf(a) && graph_.is_leaf(b)) {
                found.emplace_back(a, b);
            } else {
                one(a, b, box);
            }
        }
        return found;
    }

  private:
    // Every way to a pair comes from pairs further up, of a smaller sum of positions.
    using Key = std::tuple<std::size_t, std::int32_t, std::int32_t>;

    void reach(std::int32_t a, std::int32_t b, Box box) {
        const Key key{position_[a] + position_[b], a, b};
        const auto [at, is_new] = waiting_.try_emplace(key, std::move(box));
        if (!is_new) at->second.widen(box);
    }

    // Both rows are at the node.
    void both(std::int32_t node, const Box& box) {
        const std::int32_t feature = graph_.feature[node];
        const double threshold = graph_.threshold[node];
        for (const bool left : {true, false}) {
            Box side = box;
            if (feature == feature_) {
                side.lower.cut(threshold, left, false);
                side.higher.cut(threshold, left, false);
                if (!side.possible()) continue;
            } else if (!narrow(side, node, left)) {
                continue;
            }
            reach(graph_.child(node, left), graph_.child(node, left), std::move(side));
        }
        if (feature != feature_) return;
        Box apart = box;
        apart.lower.cut(threshold, true, false);
        apart.higher.cut(threshold, false, false);
        if (apart.lower.empty() || apart.higher.empty()) return;
        reach(graph_.left[node], graph_.right[node], std::move(apart));
    }

    // The row that is further up takes its test.
    void one(std::int32_t a, std::int32_t b, const Box& box) {
        const bool lower = !graph_.is_leaf(a) && (graph_.is_leaf(b) || position_[a] < position_[b]);
        const std::int32_t node = lower ? a : b;
        for (const bool left : {true, false}) {
            Box side = box;
            if (graph_.feature[node] == feature_) {
                (lower ? side.lower : side.higher).cut(graph_.threshold[node], left, false);
                if (side.lower.empty() || side.higher.empty() || !side.possible()) continue;
            } else if (!narrow(side, node, left)) {
                continue;
            }
            const std::int32_t child = graph_.child(node, left);
            reach(lower ? child : a, lower ? b : child, std::move(side));
        }
    }

    // False if no row is left.
    bool narrow(Box& box, std::int32_t node, bool left) const {
        Range& range = box.common[graph_.feature[node]];
        const bool missing_left = graph_.missing_left[node];
        if (static_cast<Kind>(graph_.kind[node]) == Kind::axis) {
            range.cut(graph_.threshold[node], left, missing_left);
        } else {
            range.cut(graph_.tests.set(graph_.detail[node]), graph_.threshold[node], left,
                      missing_left);
        }
        return !range.empty();
    }

    const DecisionGraph& graph_;
    const std::int32_t feature_;
    std::vector<std::size_t> position_;
    std::map<Key, Box> waiting_;
};

// The values nearest to those of the leaves, by weighted squares, that are in order: pairs in the
// wrong order are moved together, and apart again as far as later pairs make that possible
// (Hildreth 1957).
std::vector<double> nearest_in_order(const std::vector<double>& values,
                                     const std::vector<double>& weight,
                                     const std::vector<Order>& orders) {
    constexpr int most_sweeps = 1000;
    std::vector<double> near = values, force(orders.size(), 0.0);
    const auto [low, high] = std::ranges::minmax(values);
    const double enough = 1e-9 * (high - low);
    for (int sweep = 0; sweep < most_sweeps; ++sweep) {
        double most = 0;
        for (std::size_t k = 0; k < orders.size(); ++k) {
            const auto [a, b] = orders[k];
            const double wrong = (near[a] - near[b]) / (1 / weight[a] + 1 / weight[b]);
            const double more = std::max(wrong, -force[k]);
            force[k] += more;
            near[a] -= more / weight[a];
            near[b] += more / weight[b];
            most = std::max(most, std::abs(more) * std::max(1 / weight[a], 1 / weight[b]));
        }
        if (most <= enough) break;
    }
    return near;
}

// Each value becomes the middle of the largest that it must reach and the smallest that it must not
// exceed: both are in order, hence so is the middle, to the last digit.
void finish(std::vector<double>& values, const std::vector<Order>& orders) {
    std::vector<double> low = values, high = values;
    for (bool moved = true; moved;) {
        moved = false;
        for (const auto& [a, b] : orders) {
            moved |= low[a] > low[b] || high[a] > high[b];
            low[b] = std::max(low[b], low[a]);
            high[a] = std::min(high[a], high[b]);
        }
    }
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = low[i] / 2 + high[i] / 2;
}

}  // namespace

void put_in_order(DecisionGraph& graph, std::span<const std::int8_t> directions) {
    if (graph.n_outputs > 2 || directions.size() != graph.n_features) {
        throw std::invalid_argument("directions are for numbers and for two classes");
    }
    if (std::ranges::count(graph.kind, static_cast<std::uint8_t>(Kind::oblique)) > 0) {
        throw std::invalid_argument("tests of several features keep to no direction");
    }
    std::vector<Order> orders;
    for (std::size_t f = 0; f < directions.size(); ++f) {
        if (directions[f] == 0) continue;
        for (auto [a, b] : Pairs(graph, static_cast<std::int32_t>(f)).of_leaves()) {
            if (directions[f] < 0) std::swap(a, b);
            orders.emplace_back(a, b);
        }
    }
    std::vector<double> values(graph.n_nodes()), weight(graph.n_nodes());
    for (std::size_t node = 0; node < values.size(); ++node) {
        values[node] = graph.value_of(static_cast<std::int32_t>(node)).back();
        weight[node] = std::max(graph.weight[node], std::numeric_limits<double>::min());
    }
    const bool in_order = std::ranges::all_of(
        orders, [&](const Order& order) { return values[order.first] <= values[order.second]; });
    if (in_order) return;
    values = nearest_in_order(values, weight, orders);
    finish(values, orders);
    for (std::size_t node = 0; node < values.size(); ++node) {
        if (!graph.is_leaf(static_cast<std::int32_t>(node))) continue;
        double* value = graph.value.data() + node * graph.n_outputs;
        value[graph.n_outputs - 1] = values[node];
        if (graph.n_outputs == 2) value[0] = 1 - values[node];
    }
}

}  // namespace hedgerow
