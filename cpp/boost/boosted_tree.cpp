#include "boost/boosted_tree.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <queue>

#include "base/random.hpp"

namespace hedgerow {

double Residuals::quantile_of(std::span<const Row> rows) const {
    std::vector<std::pair<double, double>> left_over;
    left_over.reserve(rows.size());
    for (const Row row : rows) {
        left_over.emplace_back(targets.numbers[row] - scores[row], targets.weight(row));
    }
    return weighted_quantile(left_over, level);
}

struct TreeBooster::Node {
    std::uint32_t begin = 0, end = 0;  // of the rows
    std::int64_t depth = 0;
    Slopes slopes;
    Bounds bounds;
    std::vector<std::uint32_t> groups;  // of features that may still be used together
    std::unique_ptr<Histograms> histograms;
    BoostSplit split;
    std::int32_t left = -1, right = -1;
    double removed = 0;  // what the splits from here on take off the loss

    std::uint32_t size() const { return end - begin; }
};

TreeBooster::TreeBooster(const BoostTable& table, const BoostParams& params)
    : table_(table), params_(params) {
    for (const auto& group : params.groups) {
        auto& in_group = in_group_.emplace_back(table.n_features(), std::uint8_t{0});
        for (const std::uint32_t feature : group) in_group[feature] = 1;
    }
}

class TreeBooster::Growth {
  public:
    Growth(TreeBooster& house, std::span<Row> rows, const RowValues& values,
           const std::optional<Residuals>& residuals, std::uint64_t key, Team& team)
        : house_(house),
          params_(house.params_),
          rows_(rows),
          values_(values),
          residuals_(residuals),
          key_(key),
          team_(team),
          search_(house.table_, house.params_, values) {
        if (house.free_width_ != values.width()) house.free_.clear();
        house.free_width_ = values.width();
    }

    BoostedTree grow() {
        add_root();
        std::size_t n_leaves = 1;
        const auto most = params_.max_leaf_nodes < 0
                              ? std::numeric_limits<std::size_t>::max()
                              : static_cast<std::size_t>(params_.max_leaf_nodes);
        while (!open_.empty() && n_leaves < most) {
            const auto at = open_.top().second;
            open_.pop();
            ++n_leaves;
            divide(at, n_leaves < most);
        }
        for (auto& node : nodes_) free(node);
        return tree();
    }

  private:
    void add_root() {
        Node root;
        root.end = static_cast<std::uint32_t>(rows_.size());
        for (std::uint32_t g = 0; g < house_.in_group_.size(); ++g) root.groups.push_back(g);
        const std::size_t n_tasks = (rows_.size() + rows_per_task - 1) / rows_per_task;
        std::vector<std::array<std::int64_t, 2>> sums(n_tasks);
        team_.for_each(n_tasks, [&](std::size_t task, int) {
            std::array<std::int64_t, 2> sum{};
            const std::size_t end = std::min((task + 1) * rows_per_task, rows_.size());
            for (std::size_t i = task * rows_per_task; i < end; ++i) {
                const std::int64_t value = values_.of_row[rows_[i]];
                if (values_.counted) {
                    sum[0] += value >> 32;
                    sum[1] += ((value & 0xffffffff) << values_.count_bits) + 1;
                } else {
                    sum[0] += value;
                }
            }
            sums[task] = sum;
        });
        std::array<std::int64_t, 2> total{};
        for (const auto& sum : sums) total[0] += sum[0], total[1] += sum[1];
        root.slopes = values_.counted ? values_.slopes_of<2>(total.data())
                                      : values_.slopes_of<1>(total.data());
        nodes_.push_back(std::move(root));
        if (may_split(nodes_[0])) {
            count(nodes_[0]);
            look(0);
        }
    }

    bool may_split(const Node& node) const {
        return (params_.max_depth < 0 || node.depth < params_.max_depth) &&
               node.size() >= 2 * std::uint64_t(params_.min_samples_leaf) &&
               node.slopes.hessian >= 2 * params_.min_hessian_leaf;
    }

    void count(Node& node) {
        if (house_.free_.empty()) {
            node.histograms = std::make_unique<Histograms>(house_.table_, values_.width());
        } else {
            node.histograms = std::move(house_.free_.back());
            house_.free_.pop_back();
        }
        node.histograms->count(house_.table_, values_, rows_.subspan(node.begin, node.size()),
                               house_.spare_, team_);
    }

    void free(Node& node) {
        if (node.histograms) house_.free_.push_back(std::move(node.histograms));
    }

    // The features that a node may be split on, drawn where it looks at a share of them.
    std::span<const std::uint32_t> features_for(std::size_t at) {
        const auto& varying = house_.table_.varying();
        const Node& node = nodes_[at];
        if (house_.in_group_.empty() && params_.max_features >= 1) return varying;
        features_.clear();
        for (const std::uint32_t feature : varying) {
            if (house_.in_group_.empty() ||
                std::any_of(node.groups.begin(), node.groups.end(), [&](std::uint32_t group) {
                    return house_.in_group_[group][feature];
                })) {
                features_.push_back(feature);
            }
        }
        if (params_.max_features < 1 && !features_.empty()) {
            const auto n = static_cast<std::size_t>(std::max(
                1.0, std::ceil(params_.max_features * static_cast<double>(features_.size()))));
            Random random(key_of(key_, at));
            for (std::size_t i = 0; i < n; ++i) {
                std::swap(features_[i], features_[i + random.below(features_.size() - i)]);
            }
            features_.resize(n);
            std::sort(features_.begin(), features_.end());
        }
        return features_;
    }

    void look(std::size_t at) {
        team_.checkpoint(0);
        Node& node = nodes_[at];
        node.split =
            search_.best(*node.histograms, node.slopes, node.bounds, features_for(at), team_);
        if (node.split.found()) {
            open_.push({node.split.gain, at});
        } else {
            free(node);
        }
    }

    bool goes_left(const BoostSplit& split, std::uint32_t code, std::uint32_t missing) const {
        if (code == missing) return split.missing_left;
        return split.categorical ? split.set[code / 64] >> (code % 64) & 1
                                 : code < split.n_left_codes;
    }

    template <class GoesLeft>
    std::uint32_t partition_by(Node& node, const GoesLeft& goes_left) {
        Row* const rows = rows_.data() + node.begin;
        auto& waiting = house_.waiting_;
        if (waiting.size() < node.size()) waiting.resize(rows_.size());
        const std::size_t n = node.size();
        const std::size_t n_parts = std::clamp<std::size_t>(n / rows_per_task, 1, team_.size());
        std::vector<std::uint32_t> n_left(n_parts);
        team_.for_each(n_parts, [&](std::size_t part, int) {
            const std::size_t first = n * part / n_parts, end = n * (part + 1) / n_parts;
            Row* left = rows + first;
            Row* right = waiting.data() + first;
            for (std::size_t i = first; i < end; ++i) {
                const Row row = rows[i];
                const bool go_left = goes_left(row);
                // Both places are written, one of them for good: no branch to mispredict.
                *left = row;
                *right = row;
                left += go_left;
                right += !go_left;
            }
            n_left[part] = static_cast<std::uint32_t>(left - (rows + first));
        });
        std::size_t to = n_left[0];
        for (std::size_t part = 1; part < n_parts; ++part) {
            std::copy_n(rows + n * part / n_parts, n_left[part], rows + to);
            to += n_left[part];
        }
        const auto total = static_cast<std::uint32_t>(to);
        for (std::size_t part = 0; part < n_parts; ++part) {
            const std::size_t first = n * part / n_parts, end = n * (part + 1) / n_parts;
            std::copy_n(waiting.data() + first, end - first - n_left[part], rows + to);
            to += end - first - n_left[part];
        }
        return total;
    }

    std::uint32_t partition(Node& node) {
        const BoostSplit& split = node.split;
        const Column& column = house_.table_.data().column(split.feature);
        const std::uint32_t missing = column.n_bins;
        if (column.wide) {
            const std::uint16_t* codes = column.wide_codes();
            return partition_by(node,
                                [&](Row row) { return goes_left(split, codes[row], missing); });
        }
        std::array<std::uint8_t, 256> left{};
        for (std::uint32_t code = 0; code <= missing; ++code) {
            left[code] = goes_left(split, code, missing);
        }
        const std::uint8_t* codes = column.narrow_codes();
        if (!split.categorical && !split.missing_left) {
            // The missing code is beyond those that go left.
            return partition_by(
                node, [codes, n = split.n_left_codes](Row row) { return codes[row] < n; });
        }
        return partition_by(node, [&](Row row) { return left[codes[row]] != 0; });
    }

    void divide(std::size_t at, bool go_on) {
        const std::uint32_t n_left = partition(nodes_[at]);
        Node children[2];
        for (int side = 0; side < 2; ++side) {
            const Node& node = nodes_[at];
            Node& child = children[side];
            child.begin = side == 0 ? node.begin : node.begin + n_left;
            child.end = side == 0 ? node.begin + n_left : node.end;
            child.depth = node.depth + 1;
            child.slopes = side == 0 ? node.split.left : node.split.right;
            child.bounds = node.bounds;
            for (const std::uint32_t group : node.groups) {
                if (house_.in_group_[group][node.split.feature]) child.groups.push_back(group);
            }
        }
        limit(nodes_[at], children);
        const bool first_open = go_on && may_split(children[0]);
        const bool second_open = go_on && may_split(children[1]);
        if (first_open || second_open) {
            // The smaller child is counted; the parent's histograms become the larger one's.
            const bool left_is_small = children[0].size() <= children[1].size();
            Node& small = children[left_is_small ? 0 : 1];
            Node& large = children[left_is_small ? 1 : 0];
            const bool small_open = left_is_small ? first_open : second_open;
            const bool large_open = left_is_small ? second_open : first_open;
            count(small);
            large.histograms = std::move(nodes_[at].histograms);
            if (large_open) large.histograms->subtract(*small.histograms);
            if (!small_open) free(small);
            if (!large_open) free(large);
        } else {
            free(nodes_[at]);
        }
        const auto first = static_cast<std::int32_t>(nodes_.size());
        nodes_[at].left = first;
        nodes_[at].right = first + 1;
        nodes_.push_back(std::move(children[0]));
        nodes_.push_back(std::move(children[1]));
        if (nodes_[first].histograms) look(first);
        if (nodes_[first + 1].histograms) look(first + 1);
    }

    // Values of both sides of a monotonic split keep to the middle between them, so that no later
    // split can turn them round.
    void limit(const Node& node, Node (&children)[2]) const {
        if (params_.monotonic.empty()) return;
        const int direction = params_.monotonic[node.split.feature];
        if (direction == 0) return;
        const double middle = (search_.value_of(children[0].slopes, node.bounds) +
                               search_.value_of(children[1].slopes, node.bounds)) /
                              2;
        (direction > 0 ? children[0] : children[1]).bounds.high = middle;
        (direction > 0 ? children[1] : children[0]).bounds.low = middle;
    }

    double quantile(const Node& node) const {
        return residuals_->quantile_of(rows_.subspan(node.begin, node.size()));
    }

    double value_of(const Node& node, const Bounds& bounds) const {
        return residuals_ ? bounds.clip(quantile(node)) : search_.value_of(node.slopes, bounds);
    }

    // Quantiles are not the Newton steps that bounds were made of: they get bounds of their own.
    void limit_quantiles(const Node& node, const Bounds& bounds, Bounds& left,
                         Bounds& right) const {
        left = right = bounds;
        if (params_.monotonic.empty()) return;
        const int direction = params_.monotonic[node.split.feature];
        if (direction == 0) return;
        const double middle = bounds.clip(quantile(node));
        (direction > 0 ? left : right).high = middle;
        (direction > 0 ? right : left).low = middle;
    }

    BoostedTree tree() {
        for (std::size_t at = nodes_.size(); at-- > 0;) {
            Node& node = nodes_[at];
            if (node.left < 0) continue;
            node.removed =
                node.split.gain / 2 + nodes_[node.left].removed + nodes_[node.right].removed;
        }
        BoostedTree out;
        out.graph.n_features = static_cast<std::uint32_t>(house_.table_.n_features());
        out.graph.reserve(nodes_.size());
        // In preorder: the right child waits below the left one.
        std::vector<Emission> stack{{0, {}, {}}};
        while (!stack.empty()) {
            const Emission next = stack.back();
            stack.pop_back();
            emit(next, stack, out);
        }
        return out;
    }

    struct Emission {
        std::int32_t node;
        Place place;
        Bounds bounds;  // of quantiles
    };

    void emit(const Emission& here, std::vector<Emission>& stack, BoostedTree& out) const {
        const Node& node = nodes_[here.node];
        // Impurities are such that what a split takes off them is its gain.
        const double impurity = node.removed / node.size();
        const std::int32_t index =
            out.graph.add_leaf(here.place, node.size(), node.size(), impurity);
        if (node.left < 0) {
            const double value =
                params_.learning_rate * value_of(node, residuals_ ? here.bounds : node.bounds);
            out.graph.value[index] = value;
            out.leaves.push_back({value, node.begin, node.end});
            return;
        }
        const BoostSplit& split = node.split;
        if (split.categorical) {
            const Column& column = house_.table_.data().column(split.feature);
            out.graph.set_category(index, split.feature, split.set, column.n_bins,
                                   split.missing_left);
        } else {
            out.graph.set_axis(index, split.feature, split.threshold, split.missing_left);
        }
        Bounds left, right;
        if (residuals_) limit_quantiles(node, here.bounds, left, right);
        stack.push_back({node.right, {index, false}, right});
        stack.push_back({node.left, {index, true}, left});
    }

    static constexpr std::size_t rows_per_task = 16384;

    struct Better {
        bool operator()(const std::pair<double, std::size_t>& a,
                        const std::pair<double, std::size_t>& b) const {
            return a.first != b.first ? a.first < b.first : a.second > b.second;
        }
    };

    TreeBooster& house_;
    const BoostParams& params_;
    std::span<Row> rows_;
    const RowValues& values_;
    const std::optional<Residuals>& residuals_;
    std::uint64_t key_;
    Team& team_;
    SplitSearch search_;
    std::vector<Node> nodes_;
    std::vector<std::uint32_t> features_;
    std::priority_queue<std::pair<double, std::size_t>, std::vector<std::pair<double, std::size_t>>,
                        Better>
        open_;
};

BoostedTree TreeBooster::grow(std::span<Row> rows, const RowValues& values,
                              const std::optional<Residuals>& residuals, std::uint64_t key,
                              Team& team) {
    return Growth(*this, rows, values, residuals, key, team).grow();
}

}  // namespace hedgerow
