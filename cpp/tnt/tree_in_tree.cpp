#include "tnt/tree_in_tree.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "base/random.hpp"
#include "grow/prune.hpp"
#include "margin/mean_margin.hpp"
#include "tnt/network.hpp"

namespace hedgerow {
namespace {

class Learner {
    // Nodes with more rows are grown one after the other, each by the whole team.
    static constexpr std::size_t many_rows = 4096;
    // A table with more codes than the cache has bytes is copied by row, for the small nodes.
    static constexpr std::size_t many_cells = std::size_t{1} << 20;
    // Shares of a limit of splits: enough of them to keep the price, and too many to be cut down.
    static constexpr double enough = 0.95, too_many = 1.05;

  public:
    Learner(const Dataset& data, const double* numbers, std::vector<Row> rows,
            std::span<const Row> validation, const GrowTargets& targets,
            const TreeInTreeParams& params, Team& team)
        : data_(data),
          numbers_(numbers),
          rows_(std::move(rows)),
          validation_(validation),
          targets_(targets),
          params_(params),
          team_(team),
          stats_(targets, rows_, params.micro),
          router_(params.micro),
          leaf_of_(data.n_rows()),
          other_(data.n_rows()),
          better_(data.n_rows()),
          side_(data.n_rows()),
          new_side_(data.n_rows()) {
        router_.n_classes = 2;
        router_.min_impurity_decrease = params.router_gain;  // in prices, as grow_pruned has it
        if (!stats_.has_classes()) router_.criterion = GrowParams::Criterion::gini;
        const std::int32_t all = stats_.new_set();
        for (const Row row : rows_) stats_.add(all, row);
        weight_ = stats_.weight(all);
        whole_loss_ = stats_.loss(all);
        unit_ = stats_.has_classes() ? weight_ : whole_loss_;
        price_ = params.C * unit_;
        for (std::size_t f = 0; f < data.n_features(); ++f) {
            n_categories_.push_back(data.column(f).categorical ? data.column(f).n_bins : 0);
        }
        if (data.n_rows() * data.n_features() > many_cells && has_narrow_codes(data)) {
            by_row_.emplace(data, team);
        }
        if (!stats_.has_classes() || !targets.weights.empty()) care_weight_.resize(data.n_rows());
    }

    TreeInTree learn(DecisionGraph graph) {
        TreeInTree out{{}, params_.C, {}};
        for (std::uint32_t merge = 0; merge < params_.n_merges; ++merge) {
            Network network(graph, data_, numbers_);
            graph = network.merged();  // with the thresholds that the codes go by
            enter(network);
            auto best = score_of(measure(network, merge, 0));
            bool better = false;
            std::uint32_t n_repriced = 0;  // not counted, but at most as many again
            for (std::uint32_t round = 0;
                 round < params_.n_rounds + n_repriced && visit_all(network); ++round) {
                TreeInTreeRound now = measure(network, merge, round);
                now.accepted = params_.keep_last || score_of(now) < best;
                out.rounds.push_back(now);
                if (now.accepted || merge + round == 0) out.C = price_ / unit_;
                if (params_.max_splits > 0 && reprice(now.n_splits, now.objective * weight_)) {
                    n_repriced = std::min(n_repriced + 1, params_.n_rounds);
                }
                if (!now.accepted) continue;
                best = score_of(now);
                better = true;
                graph = network.merged();
            }
            if (!better) break;
            graph = tidy(graph, data_, numbers_, rows_, stats_, false).graph;
        }
        out.result = tidy(graph, data_, numbers_, rows_, stats_, params_.merge_leaves);
        return out;
    }

  private:
    bool fits(const TreeInTreeRound& round) const {
        return params_.max_splits == 0 || round.n_splits <= too_many * params_.max_splits;
    }

    // Rounds are compared by what they get wrong, and by the objective where that is equal. Those
    // that are too large to be cut down come last.
    std::tuple<double, double, double> score_of(const TreeInTreeRound& round) const {
        return {fits(round) ? 0 : round.n_splits,
                validation_.empty() ? round.loss : round.validation_loss, round.objective};
    }

    // The number of splits falls about like 1 / price. A price below a tenth of what splits remove
    // in the mean, such as none at all, is left at once.
    bool reprice(std::uint32_t n_splits, double objective) {
        const double share = static_cast<double>(n_splits) / params_.max_splits;
        if (share <= too_many && share >= enough) return false;
        double price = std::max(price_ * share, params_.C * unit_);
        if (share > 1) price = std::max(price, 0.1 * (whole_loss_ - objective) / n_splits);
        if (price == price_) return false;
        std::fill(seen_.begin(), seen_.end(), 0);
        price_ = price;
        return true;
    }

    // A tree cut down to the limit of splits, and the price that does it.
    DecisionGraph within_limit(DecisionGraph tree) {
        std::vector<double> prices = pruning_prices(tree, team_);
        if (prices.size() <= 2 * std::size_t{params_.max_splits} + 1) return tree;
        const auto last = prices.begin() + params_.max_splits;
        std::nth_element(prices.begin(), last, prices.end(), std::greater{});
        price_ = *last * weight_;
        return prune(tree, *last);
    }

    TreeInTreeRound measure(const Network& network, std::uint32_t merge,
                            std::uint32_t round) const {
        TreeInTreeRound now{};
        now.merge = merge;
        now.round = round;
        for (const auto& node : network.nodes) {
            now.n_splits += node.micro->n_splits();
            if (!node.is_leaf()) continue;
            for (const std::int32_t leaf : node.micro->leaf_outcomes()) {
                now.objective += stats_.loss(leaf);
            }
        }
        now.objective = (now.objective + price_ * now.n_splits) / weight_;
        const auto mean_loss = [&](std::span<const Row> rows, const auto& leaf_of) {
            double lost = 0, weight = 0;
            for (const Row row : rows) {
                lost += stats_.weight_of(row) * stats_.row_loss(leaf_of(row), row);
                weight += stats_.weight_of(row);
            }
            return lost / weight;
        };
        now.loss = mean_loss(rows_, [&](Row row) { return leaf_of_[row]; });
        now.validation_loss =
            mean_loss(validation_, [&](Row row) { return network.outcome_from(0, row); });
        return now;
    }

    // Finds the leaf of every row.
    void enter(const Network& network) {
        const auto n_leaves = std::count_if(network.nodes.begin(), network.nodes.end(),
                                            [](const auto& node) { return node.is_leaf(); });
        stats_.resize(0);
        stats_.resize(static_cast<std::size_t>(n_leaves));
        for (const Row row : rows_) {
            leaf_of_[row] = network.outcome_from(0, row);
            stats_.add(leaf_of_[row], row);
        }
        for (std::int32_t leaf = 0; leaf < n_leaves; ++leaf) stats_.settle(leaf);
        seen_.assign(network.nodes.size(), 0);
    }

    // One round; false if no node got a new micro-tree.
    bool visit_all(Network& network) {
        bool changed = false;
        std::vector<std::vector<Row>> rows_at(network.nodes.size());
        rows_at[0] = rows_;
        for (const auto& wave : network.waves) {
            auto grown = grow_wave(network, wave, rows_at);
            for (std::size_t i = 0; i < wave.size(); ++i) {
                Network::Node& node = network.nodes[wave[i]];
                std::vector<Row>& rows = rows_at[wave[i]];
                if (grown[i]) {
                    node.micro = std::move(grown[i]);
                    changed = true;
                    node.is_leaf() ? fill_leaves(*node.micro, rows) : move_rows(rows);
                }
                if (node.is_leaf()) continue;
                for (const Row row : rows) rows_at[node.child[side_[row]]].push_back(row);
                std::vector<Row>().swap(rows);
            }
        }
        return changed;
    }

    std::vector<std::unique_ptr<MicroTree>> grow_wave(const Network& network,
                                                      const std::vector<std::int32_t>& wave,
                                                      std::vector<std::vector<Row>>& rows_at) {
        std::vector<std::unique_ptr<MicroTree>> grown(wave.size());
        std::vector<std::size_t> small;
        for (std::size_t i = 0; i < wave.size(); ++i) {
            if (rows_at[wave[i]].size() <= many_rows) {
                small.push_back(i);
            } else {
                grown[i] = grow_micro(network, wave[i], rows_at[wave[i]], team_);
            }
        }
        std::stable_sort(small.begin(), small.end(), [&](auto a, auto b) {
            return rows_at[wave[a]].size() > rows_at[wave[b]].size();
        });
        team_.for_each(small.size(), [&](std::size_t i, int worker) {
            const std::int32_t node = wave[small[i]];
            Team alone(1, team_.poll_for(worker));
            grown[small[i]] = grow_micro(network, node, rows_at[node], alone);
        });
        return grown;
    }

    // A new micro-tree for the node, or none if nothing has changed since it last got one.
    std::unique_ptr<MicroTree> grow_micro(const Network& network, std::int32_t i,
                                          std::vector<Row>& rows, Team& team) {
        if (rows.empty()) return nullptr;
        std::sort(rows.begin(), rows.end());  // from several parents: memory is read forwards again
        const Network::Node& node = network.nodes[i];
        if (node.is_leaf()) {
            if (seen_before(i, rows, {})) return nullptr;
            DecisionGraph tree = grow_pruned(rows, targets_, params_.micro, team);
            if (i == 0 && params_.max_splits > 0) tree = within_limit(std::move(tree));
            return std::make_unique<MicroTree>(std::move(tree), data_, numbers_);
        }
        const std::vector<Row> care = find_care_rows(network, node, rows);
        if (seen_before(i, rows, care)) return nullptr;
        auto router = std::make_unique<MicroTree>(
            care.empty() ? one_way(rows)
                         : without_idle_splits(
                               grow_pruned(care, {better_, {}, care_weight_}, router_, team)),
            data_, numbers_);
        for (std::size_t t = 0; t < router->tree.n_nodes(); ++t) {
            router->outcome[t] = says_right(router->tree, static_cast<std::int32_t>(t));
        }
        for (const Row row : rows) new_side_[row] = static_cast<std::uint8_t>(router->of(row));
        return router;
    }

    // Both sides of every row: where it is, where it would be, and which is better.
    std::vector<Row> find_care_rows(const Network& network, const Network::Node& node,
                                    const std::vector<Row>& rows) {
        std::vector<Row> care;
        for (const Row row : rows) {
            const std::int32_t side = node.micro->of(row);
            side_[row] = new_side_[row] = static_cast<std::uint8_t>(side);
            other_[row] = network.outcome_from(node.child[1 - side], row);
            if (other_[row] == leaf_of_[row]) continue;
            const double gain =
                stats_.row_loss(leaf_of_[row], row) - stats_.row_loss(other_[row], row);
            if (gain == 0) continue;
            better_[row] = gain > 0 ? 1 - side : side;
            if (!care_weight_.empty()) care_weight_[row] = std::abs(gain) * stats_.weight_of(row);
            care.push_back(row);
        }
        return care;
    }

    DecisionGraph grow_pruned(const std::vector<Row>& rows, const GrowTargets& targets,
                              GrowParams params, Team& team) const {
        double weight = 0;
        for (const Row row : rows) weight += targets.weight(row);
        params.ccp_alpha = price_ / weight;
        params.min_impurity_decrease *= params.ccp_alpha;
        using enum TreeInTreeParams::Tests;
        if (params_.tests == axis) return grow_axis(rows, targets, params, team);
        DecisionGraph oblique_tree = grow_oblique(rows, targets, params, team);
        if (params_.tests == oblique) return oblique_tree;
        DecisionGraph axis_tree = grow_axis(rows, targets, params, team);
        return cost_of(oblique_tree) < cost_of(axis_tree) ? oblique_tree : axis_tree;
    }

    // The objective of a micro-tree, and the number of its splits where that is equal.
    std::pair<double, std::size_t> cost_of(const DecisionGraph& tree) const {
        const std::size_t n_splits = tree.n_nodes() - tree.n_leaves();
        double cost = price_ * static_cast<double>(n_splits);
        for (std::size_t i = 0; i < tree.n_nodes(); ++i) {
            if (tree.is_leaf(static_cast<std::int32_t>(i))) {
                cost += tree.weight[i] * tree.impurity[i];
            }
        }
        return {cost, n_splits};
    }

    DecisionGraph grow_oblique(const std::vector<Row>& rows, const GrowTargets& targets,
                               const GrowParams& params, Team& team) const {
        const MarginTable<double> table{numbers_, data_.n_rows(),
                                        static_cast<std::uint32_t>(data_.n_features()),
                                        n_categories_};
        const Labels labels{targets.classes, targets.numbers, targets.weights,
                            std::max(params.n_classes, 1u)};
        return grow_mean_margin(table, rows, labels, params_.scale, params, team);
    }

    DecisionGraph grow_axis(const std::vector<Row>& rows, const GrowTargets& targets,
                            const GrowParams& params, Team& team) const {
        return grow(data_, rows, targets, params, team, by_row_ ? &*by_row_ : nullptr);
    }

    static bool says_right(const DecisionGraph& router, std::int32_t node) {
        const auto shares = router.value_of(node);
        return shares[1] > shares[0];
    }

    // A router for a node whose sides are equally good: all go where most are.
    DecisionGraph one_way(const std::vector<Row>& rows) const {
        std::size_t n_right = 0;
        for (const Row row : rows) n_right += side_[row];
        DecisionGraph tree;
        tree.n_features = static_cast<std::uint32_t>(data_.n_features());
        tree.n_outputs = 2;
        tree.add_node();
        tree.value[2 * n_right > rows.size()] = 1;
        return tree;
    }

    // A router's split whose leaves all say the same has nothing to say.
    static DecisionGraph without_idle_splits(const DecisionGraph& tree) {
        constexpr std::int8_t mixed = 2;
        std::vector<std::int8_t> says(tree.n_nodes());
        std::vector<bool> ends(tree.n_nodes());
        for (auto i = static_cast<std::int32_t>(tree.n_nodes()) - 1; i >= 0; --i) {
            says[i] = says_right(tree, i);
            if (tree.is_leaf(i)) continue;
            const std::int8_t left = says[tree.left[i]], right = says[tree.right[i]];
            ends[i] = left == right && left != mixed;
            if (!ends[i]) says[i] = mixed;
        }
        return cut_at(tree, ends);
    }

    // Whether the node's last micro-tree was grown from the same rows and targets.
    bool seen_before(std::int32_t node, const std::vector<Row>& rows,
                     const std::vector<Row>& care) {
        std::uint64_t key = scramble(rows.size());
        for (const Row row : rows) key = scramble(key ^ row);
        for (const Row row : care) {
            key = scramble(key ^ (2 * std::uint64_t{row} + std::uint64_t(better_[row])));
            if (!care_weight_.empty()) {
                key = scramble(key ^ std::bit_cast<std::uint64_t>(care_weight_[row]));
            }
        }
        return std::exchange(seen_[node], key) == key;
    }

    // The rows of a leaf into the leaves of its new micro-tree.
    void fill_leaves(MicroTree& micro, const std::vector<Row>& rows) {
        for (std::size_t t = 0; t < micro.tree.n_nodes(); ++t) {
            if (micro.tree.is_leaf(static_cast<std::int32_t>(t))) {
                micro.outcome[t] = stats_.new_set();
            }
        }
        for (const Row row : rows) {
            leaf_of_[row] = micro.of(row);
            stats_.add(leaf_of_[row], row);
        }
        for (const std::int32_t leaf : micro.leaf_outcomes()) stats_.settle(leaf);
    }

    // The rows that a new router sends to the other side into the leaves they come to there.
    void move_rows(const std::vector<Row>& rows) {
        std::vector<std::int32_t> touched;
        for (const Row row : rows) {
            if (new_side_[row] == side_[row]) continue;
            side_[row] = new_side_[row];
            if (leaf_of_[row] == other_[row]) continue;
            stats_.remove(leaf_of_[row], row);
            stats_.add(other_[row], row);
            touched.push_back(leaf_of_[row]);
            touched.push_back(other_[row]);
            leaf_of_[row] = other_[row];
        }
        for (const std::int32_t leaf : touched) stats_.settle(leaf);
    }

    const Dataset& data_;
    const double* numbers_;                    // for oblique tests
    std::vector<std::uint32_t> n_categories_;  // by feature, 0 for numbers
    const std::vector<Row> rows_;
    const std::span<const Row> validation_;
    const GrowTargets targets_;
    const TreeInTreeParams& params_;
    Team& team_;
    RowStats stats_;  // of the leaves
    std::optional<RowCodes> by_row_;
    GrowParams router_;
    double weight_ = 0, whole_loss_ = 0;
    double unit_ = 0, price_ = 0;      // price of a split = C * unit
    std::vector<std::uint64_t> seen_;  // by node: a hash of what its micro-tree was grown from
    // By row of the data set; the nodes of a wave share no row, so they write without locks.
    std::vector<std::int32_t> leaf_of_;  // where the row is now
    std::vector<std::int32_t> other_;    // where it would be on the other side of the node
    std::vector<std::int32_t> better_;   // the side that serves it better
    std::vector<double> care_weight_;    // empty: all one
    std::vector<std::uint8_t> side_, new_side_;
};

}  // namespace

TreeInTree grow_tree_in_tree(const Dataset& data, const double* numbers, const RowChoice& rows,
                             std::span<const Row> validation, const GrowTargets& targets,
                             const TreeInTreeParams& params, const DecisionGraph* start,
                             Team& team) {
    DecisionGraph leaf;
    leaf.n_features = static_cast<std::uint32_t>(data.n_features());
    leaf.add_node();
    if (params.tests != TreeInTreeParams::Tests::axis && !numbers) {
        throw std::invalid_argument("oblique micro-trees need the numbers of the data set");
    }
    return Learner(data, numbers, rows_that_count(data.n_rows(), rows, targets.weights), validation,
                   targets, params, team)
        .learn(start ? *start : std::move(leaf));
}

}  // namespace hedgerow
