#include "margin/mean_margin.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <stdexcept>

#include "grow/limits.hpp"
#include "grow/prune.hpp"

namespace hedgerow {

namespace {

constexpr std::uint32_t block_rows = 1024;
// Subtrees of at most this many rows, or this share of all, are grown as one task.
constexpr std::uint32_t task_rows = 2048;
constexpr std::uint32_t task_share = 16;
// A node of fewer cells is summed sooner than the team has woken up, some ten microseconds.
constexpr std::uint64_t shared_cells = std::uint64_t{1} << 17;
// Products of two values, summed, must stay finite.
constexpr double largest_value = 1e100;
// Means that agree to this share differ by rounding alone.
constexpr double rounding = 1e-13;

double difference(double a, double b) {
    const double d = a - b;
    return std::abs(d) <= rounding * std::max(std::abs(a), std::abs(b)) ? 0.0 : d;
}

template <class T>
class Grower {
    struct Node {
        std::uint32_t begin, end, depth;
        Place place;
        std::uint32_t size() const { return end - begin; }
    };

    // What one thread needs while it grows.
    struct Workspace {
        std::vector<double> sums, block;
        Labels::Workspace labels;
        std::vector<ObliqueTerm> terms;
        std::vector<Row> right;
        int worker = 0;
        bool alone = true;  // false: blocks of rows are shared among the team
    };

  public:
    Grower(const MarginTable<T>& table, std::vector<Row> rows, const Labels& labels,
           std::span<const double> scale, const GrowParams& params, Team& team)
        : table_(table),
          rows_(std::move(rows)),
          flags_(rows_.size()),
          labels_(labels),
          scale_(scale),
          limits_{params},
          team_(team) {
        std::size_t n_places = 0;
        for (std::uint32_t j = 0; j < table.n_features; ++j) {
            if (const std::uint32_t n = table.n_categories[j]) nominal_.push_back({j, n});
            n_places += table.n_categories[j];
        }
        look_for_missing();
        for (const Row row : rows_) limits_.total_weight += labels.weight(row);
        seen_ = table.n_features;
        places_ = seen_ + (missing_ ? table.n_features : 0);
        weight_ = places_ + n_places;
    }

    DecisionGraph grow() {
        std::vector<Workspace> workspaces(team_.size());
        for (int i = 0; i < team_.size(); ++i) workspaces[i].worker = i;
        const Node root{0, static_cast<std::uint32_t>(rows_.size()), 0, {}};
        const std::uint32_t limit = std::max(task_rows, root.size() / task_share);
        DecisionGraph top = empty_graph();
        if (root.size() <= limit || team_.size() == 1) {
            grow_subtree(root, 0, top, workspaces[0]);
            return top;
        }
        workspaces[0].alone = false;
        const auto tasks = grow_subtree(root, limit, top, workspaces[0]);
        workspaces[0].alone = true;
        std::vector<DecisionGraph> parts(tasks.size(), empty_graph());
        team_.for_each(tasks.size(), [&](std::size_t i, int worker) {
            Node node = tasks[i];
            node.place = {};
            grow_subtree(node, 0, parts[i], workspaces[worker]);
        });
        return join_in_preorder(top, parts);
    }

  private:
    DecisionGraph empty_graph() const {
        DecisionGraph graph;
        graph.n_features = table_.n_features;
        graph.n_outputs = labels_.n_outputs;
        return graph;
    }

    std::span<Row> rows_of(const Node& node) {
        return {rows_.data() + node.begin, rows_.data() + node.end};
    }

    template <class Body>
    void for_blocks(const Node& node, const Workspace& work, Body body) {
        const auto run = [&](std::size_t b, int) {
            const auto begin = node.begin + static_cast<std::uint32_t>(b) * block_rows;
            body(b, begin, std::min(begin + block_rows, node.end));
        };
        const std::size_t n_blocks = (node.size() + block_rows - 1) / block_rows;
        if (!work.alone && std::uint64_t{node.size()} * table_.n_features >= shared_cells) {
            return team_.for_each(n_blocks, run);
        }
        for (std::size_t b = 0; b < n_blocks; ++b) run(b, work.worker);
    }

    void look_for_missing() {
        std::vector<std::uint8_t> found((rows_.size() + block_rows - 1) / block_rows);
        Workspace work;
        work.alone = false;
        const Node all{0, static_cast<std::uint32_t>(rows_.size()), 0, {}};
        for_blocks(all, work, [&](std::size_t b, std::uint32_t begin, std::uint32_t end) {
            bool missing = false, large = false;
            for (std::uint32_t i = begin; i < end; ++i) {
                const T* x = table_.row(rows_[i]);
                for (std::uint32_t j = 0; j < table_.n_features; ++j) {
                    missing |= x[j] != x[j];
                    large |= std::abs(static_cast<double>(x[j])) > largest_value;
                }
            }
            if (large) {
                throw std::invalid_argument(
                    "X holds a value beyond 1e100: mean margins multiply values, scale it down");
            }
            found[b] = missing;
        });
        missing_ = std::find(found.begin(), found.end(), 1) != found.end();
    }

    // Grows depth-first; nodes of at most `limit` rows are left to the caller. They are returned,
    // and child -2 - i stands for the i-th of them.
    std::vector<Node> grow_subtree(const Node& root, std::uint32_t limit, DecisionGraph& graph,
                                   Workspace& work) {
        std::vector<Node> left_over, stack{root};
        while (!stack.empty()) {
            const Node node = stack.back();
            stack.pop_back();
            std::int32_t index = -2 - static_cast<std::int32_t>(left_over.size());
            if (node.size() > limit) {
                index = open(node, graph);
            } else {
                left_over.push_back(node);
            }
            graph.hang(index, node.place);
            if (index < 0) continue;
            team_.checkpoint(work.worker);
            if (const auto middle = split(node, index, graph, work)) {
                stack.push_back({*middle, node.end, node.depth + 1, {index, false}});
                stack.push_back({node.begin, *middle, node.depth + 1, {index, true}});
            }
        }
        return left_over;
    }

    // Writes the node into the graph, as a leaf so far; returns its index.
    std::int32_t open(const Node& node, DecisionGraph& graph) {
        const std::int32_t index = graph.add_node();
        double* value = graph.value.data() + std::size_t(index) * graph.n_outputs;
        graph.n_samples[index] = static_cast<std::int32_t>(node.size());
        graph.weight[index] = labels_.centre(rows_of(node), value);
        graph.impurity[index] = labels_.impurity(rows_of(node), graph.weight[index],
                                                 graph.value_of(index), limits_.params.criterion);
        return index;
    }

    // Gives the node its test and partitions its rows; returns where the right side begins, or
    // nothing if the node stays a leaf.
    std::optional<std::uint32_t> split(const Node& node, std::int32_t index, DecisionGraph& graph,
                                       Workspace& work) {
        if (!limits_.may_split(node.depth, node.size(), graph.weight[index],
                               graph.impurity[index])) {
            return {};
        }
        const std::size_t n_in_t = labels_.divide(rows_of(node), graph.value_of(index),
                                                  flags_.data() + node.begin, work.labels);
        if (n_in_t == 0 || n_in_t == node.size()) return {};
        sum_groups(node, work);
        const double threshold = find_boundary(work);
        if (work.terms.empty()) return {};

        const auto test = std::make_shared<const ObliqueTest>(work.terms);
        for_blocks(node, work, [&](std::size_t, std::uint32_t begin, std::uint32_t end) {
            const auto at = [&](std::size_t i) { return table_.row(rows_[begin + i]); };
            test->go_left(end - begin, at, threshold, flags_.data() + begin);
            for (std::uint32_t i = begin; i < end; ++i) flags_[i] = !flags_[i];
        });
        std::uint32_t n_right = 0;
        double weight_right = 0;
        for (std::uint32_t i = node.begin; i < node.end; ++i) {
            n_right += flags_[i];
            weight_right += flags_[i] * labels_.weight(rows_[i]);
        }
        const std::uint32_t n_left = node.size() - n_right;
        const double weight_left = graph.weight[index] - weight_right;
        const GrowParams& params = limits_.params;
        if (std::min(n_left, n_right) < params.min_samples_leaf ||
            std::min(weight_left, weight_right) < params.min_weight_leaf) {
            return {};
        }

        graph.set_oblique(index, test, threshold);
        partition(node, work);
        return node.begin + n_left;
    }

    // Sums of both groups into work.sums: F's first, then T's. Each has, one after another, the
    // sum of every column, the weight seen in every column (where values are missing), the weight
    // in every place of the categories, and the total weight.
    void sum_groups(const Node& node, Workspace& work) {
        const std::size_t size = 2 * (weight_ + 1);
        const std::size_t n_blocks = (node.size() + block_rows - 1) / block_rows;
        work.sums.assign(size, 0.0);
        if (n_blocks == 1) return sum_block(node.begin, node.end, work.sums.data());
        if (work.alone) {
            for_blocks(node, work, [&](std::size_t, std::uint32_t begin, std::uint32_t end) {
                work.block.assign(size, 0.0);
                sum_block(begin, end, work.block.data());
                for (std::size_t i = 0; i < size; ++i) work.sums[i] += work.block[i];
            });
            return;
        }
        work.block.assign(n_blocks * size, 0.0);
        for_blocks(node, work, [&](std::size_t b, std::uint32_t begin, std::uint32_t end) {
            sum_block(begin, end, work.block.data() + b * size);
        });
        for (std::size_t b = 0; b < n_blocks; ++b) {
            for (std::size_t i = 0; i < size; ++i) work.sums[i] += work.block[b * size + i];
        }
    }

    void sum_block(std::uint32_t begin, std::uint32_t end, double* sums) const {
        const std::uint32_t p = table_.n_features;
        for (std::uint32_t i = begin; i < end; ++i) {
            const T* __restrict x = table_.row(rows_[i]);
            double* __restrict sum = sums + flags_[i] * (weight_ + 1);
            const double w = labels_.weight(rows_[i]);
            sum[weight_] += w;
            if (nominal_.size() == p) {
                // No number to add up.
            } else if (missing_) {
                for (std::uint32_t j = 0; j < p; ++j) {
                    const double v = static_cast<double>(x[j]);
                    sum[j] += v == v ? w * v : 0.0;
                    sum[seen_ + j] += v == v ? w : 0.0;
                }
            } else {
                for (std::uint32_t j = 0; j < p; ++j) sum[j] += w * static_cast<double>(x[j]);
            }
            double* place = sum + places_;
            for (const auto [j, n] : nominal_) {
                const T code = x[j];
                if (code >= 0 && code < static_cast<T>(n)) {
                    place[static_cast<std::int32_t>(code)] += w;
                } else {
                    for (std::uint32_t k = 0; k < n; ++k) place[k] += w / n;
                }
                place += n;
            }
        }
    }

    // Writes the terms of the boundary, none if the means coincide; returns its threshold.
    double find_boundary(Workspace& work) const {
        const double* f = work.sums.data();
        const double* t = f + weight_ + 1;
        auto& terms = work.terms;
        terms.clear();
        // Neighbouring features need no indices, so zeros stay between the first and last number.
        std::size_t used = 0;
        for (std::uint32_t j = 0; j < table_.n_features; ++j) {
            double normal = 0, centre = 0;
            const double in_f = missing_ ? f[seen_ + j] : f[weight_];
            const double in_t = missing_ ? t[seen_ + j] : t[weight_];
            if (table_.n_categories[j] == 0 && in_f > 0 && in_t > 0) {
                const double mean_f = f[j] / in_f, mean_t = t[j] / in_t;
                normal = difference(mean_t, mean_f);
                if (!scale_.empty()) normal /= scale_[j] * scale_[j];
                centre = (mean_f + mean_t) / 2;
            }
            if (normal == 0 && terms.empty()) continue;
            terms.push_back({static_cast<std::int32_t>(j), -1, normal, normal == 0 ? 0 : centre});
            if (normal != 0) used = terms.size();
        }
        terms.resize(used);
        double threshold = 0;
        std::size_t place = places_;
        for (std::uint32_t j = 0; j < table_.n_features; ++j) {
            const std::uint32_t n = table_.n_categories[j];
            const std::size_t before = terms.size();
            bool apart = false;
            for (std::uint32_t k = 0; k < n; ++k, ++place) {
                const double mean_f = f[place] / f[weight_], mean_t = t[place] / t[weight_];
                const double normal = difference(mean_t, mean_f);
                terms.push_back(
                    {static_cast<std::int32_t>(j), static_cast<std::int32_t>(k), normal, 0});
                threshold += normal * (mean_f + mean_t) / 2;
                apart |= normal != 0;
            }
            if (!apart) terms.resize(before);
        }
        return threshold;
    }

    // Left rows first, both sides in their order.
    void partition(const Node& node, Workspace& work) {
        work.right.clear();
        std::uint32_t to = node.begin;
        for (std::uint32_t i = node.begin; i < node.end; ++i) {
            if (flags_[i]) {
                work.right.push_back(rows_[i]);
            } else {
                rows_[to++] = rows_[i];
            }
        }
        std::copy(work.right.begin(), work.right.end(), rows_.begin() + to);
    }

    struct Nominal {
        std::uint32_t feature, n_categories;
    };

    const MarginTable<T>& table_;
    std::vector<Nominal> nominal_;
    std::vector<Row> rows_;
    std::vector<std::uint8_t> flags_;  // by position in rows_: in group T, then on the right side
    const Labels& labels_;
    std::span<const double> scale_;
    Limits limits_;
    Team& team_;
    bool missing_ = false;
    std::size_t seen_, places_, weight_;  // where the parts of a group's sums begin
};

}  // namespace

template <class T>
DecisionGraph grow_mean_margin(const MarginTable<T>& table, const RowChoice& rows,
                               const Labels& labels, std::span<const double> scale,
                               const GrowParams& params, Team& team) {
    auto counted = rows_that_count(table.n_rows, rows, labels.weights);
    auto graph = Grower<T>(table, std::move(counted), labels, scale, params, team).grow();
    return params.ccp_alpha > 0 ? prune(graph, params.ccp_alpha) : graph;
}

template <class T>
std::vector<double> standard_scale(const MarginTable<T>& table, const RowChoice& rows,
                                   std::span<const double> weights, Team& team) {
    const auto counted = rows_that_count(table.n_rows, rows, weights);
    std::vector<double> scale(table.n_features, 1.0);
    constexpr std::uint32_t chunk = 64;  // columns at a time: rows are read in pieces, in order
    team.for_each((table.n_features + chunk - 1) / chunk, [&](std::size_t c, int) {
        const auto first = static_cast<std::uint32_t>(c) * chunk;
        const auto n = std::min(chunk, table.n_features - first);
        double weight[chunk] = {}, mean[chunk] = {}, squares[chunk] = {};
        for (const Row row : counted) {
            const T* x = table.row(row) + first;
            const double w = weights.empty() ? 1.0 : weights[row];
            for (std::uint32_t j = 0; j < n; ++j) {
                const double v = static_cast<double>(x[j]);
                weight[j] += v == v ? w : 0.0;
                mean[j] += v == v ? w * v : 0.0;
            }
        }
        for (std::uint32_t j = 0; j < n; ++j) mean[j] /= weight[j];
        for (const Row row : counted) {
            const T* x = table.row(row) + first;
            const double w = weights.empty() ? 1.0 : weights[row];
            for (std::uint32_t j = 0; j < n; ++j) {
                const double distance = static_cast<double>(x[j]) - mean[j];
                squares[j] += distance == distance ? w * distance * distance : 0.0;
            }
        }
        for (std::uint32_t j = 0; j < n; ++j) {
            const double deviation = std::sqrt(squares[j] / weight[j]);
            const bool varies = deviation > rounding * std::abs(mean[j]) && deviation > 1e-100;
            if (varies && table.n_categories[first + j] == 0) scale[first + j] = deviation;
        }
    });
    return scale;
}

template DecisionGraph grow_mean_margin(const MarginTable<float>&, const RowChoice&, const Labels&,
                                        std::span<const double>, const GrowParams&, Team&);
template DecisionGraph grow_mean_margin(const MarginTable<double>&, const RowChoice&, const Labels&,
                                        std::span<const double>, const GrowParams&, Team&);
template std::vector<double> standard_scale(const MarginTable<float>&, const RowChoice&,
                                            std::span<const double>, Team&);
template std::vector<double> standard_scale(const MarginTable<double>&, const RowChoice&,
                                            std::span<const double>, Team&);

}  // namespace hedgerow
