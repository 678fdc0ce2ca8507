// The growth of one tree for one criterion (see grow/grower.hpp for the steps).
#pragma once

#include <algorithm>
#include <bit>
#include <memory>
#include <numeric>
#include <optional>

#include "base/random.hpp"
#include "grow/gathered.hpp"
#include "grow/grower.hpp"
#include "grow/missing.hpp"
#include "grow/node_histograms.hpp"
#include "grow/node_search.hpp"

namespace hedgerow {

template <class Sides>
class TreeGrower {
    using Stats = typename Sides::Stats;
    using Number = typename Stats::Number;
    using Target = typename Stats::Target;
    using Weight = typename Stats::Weight;
    using Work = Workspace<Sides>;

    // Nodes this small are grown where they are, without a gather.
    static constexpr std::uint32_t few_rows = 64;
    static constexpr std::uint32_t fewest_rows = 4;  // where there are codes by row
    // Subtrees of at most this many rows, or this share of all, are grown as one task.
    static constexpr std::uint32_t task_rows = 4096;
    static constexpr std::uint32_t task_share = 16;
    // Gather anew when a node has this share of the block's rows or less.
    static constexpr std::uint32_t gather_share = 8;
    // Trees that draw features gather once, when the block fits the second-level cache.
    static constexpr std::uint64_t gather_bytes = std::uint64_t{1} << 19;
    // Codes of a subtree that is grown on bits: its growth is not interrupted.
    static constexpr std::uint64_t bits_bytes = std::uint64_t{1} << 20;
    // The same of one that is grown on rows side by side.
    static constexpr std::uint64_t rows_bytes = std::uint64_t{1} << 20;
    using Histogram = typename NodeHistograms<Stats>::Histogram;

    struct Node {
        std::uint32_t begin, end;
        std::uint32_t depth;
        std::uint32_t n_constant;  // features known to be constant, first in the worker's list
        std::uint64_t key;
        Place place;
        Histogram histogram;
        Bounds bounds = {};
        std::uint32_t size() const { return end - begin; }
    };

    // A copy of the codes of a subtree, in which its rows are numbered 0..n-1.
    struct Block {
        Gathered codes;
        std::uint32_t n_rows;
    };

    // A node that waits in the best-first heap with its split. It keeps what its children start
    // from: the block it was read from (none: the columns), its histogram if there is room, and the
    // features that vary in it. Blocks go with the last node that waits in them, so that there are
    // about as many cells in them as in the data.
    struct Candidate {
        Node node;
        std::int32_t index;
        Split split;
        double gain;
        std::shared_ptr<const Block> block;
        std::vector<std::uint32_t> varying;
        bool operator<(const Candidate& other) const {
            return gain != other.gain ? gain < other.gain : index > other.index;
        }
    };

    // Where a subtree is grown: the views of the codes and the graph it is written to.
    struct Site {
        const std::vector<CodeView>& views;
        DecisionGraph& graph;
        Work& work;
        int worker;
    };

  public:
    TreeGrower(const Dataset& data, const GrowParams& params, Stats stats, std::vector<Row> rows,
               std::vector<Target> targets, std::vector<Weight> weights, Team& team,
               const RowCodes* by_row = nullptr)
        : data_(data),
          limits_{params},
          stats_(stats),
          rows_(std::move(rows)),
          targets_(std::move(targets)),
          weights_(std::move(weights)),
          team_(team),
          by_row_(by_row),
          n_features_(static_cast<std::uint32_t>(data.n_features())),
          search_(params, stats, n_features_),
          histograms_(stats, views_, data.n_rows(), team) {
        for (std::uint32_t f = 0; f < n_features_; ++f) {
            views_.emplace_back(data.column(f));
            on_bits_ &= reads_bits(views_.back());
            by_row_tree_ &= reads_bits(views_.back());
        }
        on_bits_ &= !params.keyed_draws;
        by_row_tree_ &= !params.keyed_draws;
        if (params.keyed_draws) by_row_ = nullptr;
    }

    // The tree is written over the given graph.
    DecisionGraph grow(DecisionGraph graph = {}) {
        const auto& stem = limits_.params.stem;
        Node root{0,
                  static_cast<std::uint32_t>(rows_.size()),
                  stem ? stem->depth : 0,
                  0,
                  stem ? stem->key : root_key(limits_.params, n_features_),
                  {},
                  nullptr};
        for (int i = 0; i < team_.size(); ++i) workspaces_.emplace_back(stats_);
        graph.clear();
        graph.n_features = n_features_;
        graph.n_outputs = stats_.n_outputs();
        Work& work = workspaces_[0];
        reset_features(work);
        const Site site{views_, graph, work, 0};
        limits_.total_weight = stem ? stem->total_weight : weight_between(root.begin, root.end);
        const std::uint32_t limit =
            std::max(task_rows, static_cast<std::uint32_t>(rows_.size() / task_share));
        if (may_reach_leaf_limit(root)) {
            grow_best_first(root, site, limit);
            return join_in_preorder(graph, {});
        }
        if (!search_.draws() && root.size() > limit) return grow_in_tasks(root, site, limit);
        grow_subtree(root, site, root.size());
        return graph;
    }

  private:
    DecisionGraph empty_graph() const {
        DecisionGraph graph;
        graph.n_features = n_features_;
        graph.n_outputs = stats_.n_outputs();
        return graph;
    }

    void reset_features(Work& work) const {
        work.features.resize(n_features_);
        std::iota(work.features.begin(), work.features.end(), 0u);
    }

    bool draws_by_key() const { return limits_.params.keyed_draws && search_.draws(); }

    void forget_constants(Node& node, Work& work) const {
        reset_features(work);
        node.n_constant = 0;
    }

    double weight_between(std::uint32_t begin, std::uint32_t end) const {
        if constexpr (Stats::weighted) {
            return static_cast<double>(
                std::accumulate(weights_.begin() + begin, weights_.begin() + end, Weight{0}));
        }
        return end - begin;
    }

    void sum_targets(const Node& node, Work& work) const {
        std::fill(work.total.begin(), work.total.end(), Number{0});
        const auto weight = [&](std::uint32_t i) { return Stats::weighted ? weights_[i] : 1; };
        if constexpr (Stats::classes && std::is_integral_v<Number>) {
            // Runs of one class are summed in a register.
            for (std::uint32_t i = node.begin; i < node.end;) {
                const Target y = targets_[i];
                Number sum = 0;
                for (; i < node.end && targets_[i] == y; ++i) sum += weight(i);
                work.total[y] += sum;
            }
            if constexpr (Stats::weighted) work.total[stats_.n_padded()] = node.size();
        } else {
            for (std::uint32_t i = node.begin; i < node.end; ++i) {
                stats_.add(work.total.data(), targets_[i], weight(i));
            }
        }
    }

    NodeRows<Stats> rows_of(const Node& node, const Work& work) const {
        return {rows_.data() + node.begin, targets_.data() + node.begin,
                Stats::weighted ? weights_.data() + node.begin : nullptr, node.size(),
                work.total.data()};
    }

    // Writes the node into the graph; returns its index.
    std::int32_t open(const Node& node, const Site& site) const {
        DecisionGraph& graph = site.graph;
        Work& work = site.work;
        sum_targets(node, work);
        const std::int32_t index =
            graph.add_leaf(node.place, node.size(), stats_.weight(work.total.data()), 0);
        double* value = graph.value.data() + std::size_t(index) * graph.n_outputs;
        if constexpr (Sides::ranked) {
            const QuantileSide all = work.quantiles.start(stats_, rows_of(node, work));
            graph.impurity[index] = all.loss / graph.weight[index];
            *value = all.value;
        } else {
            graph.impurity[index] = impurity_of(node, work);
            stats_.write_value(work.total.data(), value);
        }
        if constexpr (HasBounds<Sides>) clip(value, node.bounds);
        return index;
    }

    // Classes or centred numbers.
    void clip(double* value, const Bounds& bounds) const {
        if constexpr (Stats::classes) {
            value[1] = bounds.clip(value[1]);
            value[0] = 1 - value[1];
        } else {
            *value = Bounds{bounds.low + stats_.offset, bounds.high + stats_.offset}.clip(*value);
        }
    }

    double impurity_of(const Node& node, const Work& work) const {
        if constexpr (Stats::classes) {
            return Sides::node_impurity(stats_, work.total.data());
        } else if constexpr (has_several<Stats>) {
            return Sides::node_impurity(stats_, rows_of(node, work));
        } else {
            const double mean = work.total[0] / work.total[1];
            double sum = 0;
            for (std::uint32_t i = node.begin; i < node.end; ++i) {
                const double deviance = Sides::deviance(targets_[i], mean);
                if constexpr (Stats::weighted) {
                    sum += weights_[i] * deviance;
                } else {
                    sum += deviance;
                }
            }
            return std::max(0.0, sum / work.total[1]);
        }
    }

    bool may_split(const Node& node, std::int32_t index, const Site& site) const {
        if (!limits_.may_split(node.depth, node.size(), site.graph.weight[index],
                               site.graph.impurity[index])) {
            return false;
        }
        if constexpr (Stats::classes) {
            return !stats_.pure(site.work.total.data());
        } else {
            const auto first = targets_.begin() + node.begin;
            return std::any_of(first, targets_.begin() + node.end, [&](Target y) {
                if constexpr (has_several<Stats>) return !stats_.same(y, *first);
                return y != *first;
            });
        }
    }

    double loss_of(std::int32_t index, const Site& site) const {
        return limits_.loss_of(site.graph.weight[index], site.graph.impurity[index]);
    }

    double node_score(std::int32_t index, const Site& site) const {
        if constexpr (Sides::ranked) {
            return -loss_of(index, site);
        } else {
            return Sides::node_score(stats_, site.work.total.data());
        }
    }

    int direction_of(std::uint32_t feature) const {
        const auto& directions = limits_.params.monotonic;
        return directions.empty() ? 0 : directions[feature];
    }

    // The best split of the node, or none; site.work.total holds the node's stats.
    Split find_split(Node& node, std::int32_t index, const Site& site) {
        const double node_score = this->node_score(index, site), loss = loss_of(index, site);
        SplitRules rules = limits_.rules_for(loss, node_score, node.key);
        if constexpr (HasBounds<Sides>) {
            rules.bounds = node.bounds;
            const auto& directions = limits_.params.monotonic;
            rules.directions = directions.empty() ? nullptr : directions.data();
        }
        Split best = search(node, rules, node_score + loss, site);
        // Sums of distances are not carried along exactly: a split without gain may seem to lose.
        const double rounding = Sides::ranked ? 1e-12 * loss : 0;
        if (best.found() && !limits_.gains_enough(best.score + rounding, node_score)) best = {};
        return best;
    }

    Split search(Node& node, const SplitRules& rules, double pure_score, const Site& site) {
        if constexpr (!Sides::ranked) {
            if (node.histogram) return search_histogram(node, rules, site);
        }
        const auto rows = rows_of(node, site.work);
        if (!search_.draws()) {
            return search_.search_all(rows, node.n_constant, site.views, site.work, rules);
        }
        return search_.search_drawn(rows, node.n_constant, node.key, site.views, site.work, rules,
                                    pure_score);
    }

    // ---- large nodes: whole histograms, features in parallel ----

    // The features that are not known to be constant in the node.
    std::span<const std::uint32_t> varying(const Node& node, const Site& site) const {
        return std::span(site.work.features).subspan(node.n_constant);
    }

    void give_histogram(Node& node, const Site& site) {
        if (Sides::ranked || node.histogram || search_.draws()) return;
        node.histogram = histograms_.take();
        if (!node.histogram) return;
        histograms_.count(rows_of(node, site.work), varying(node, site), node.histogram);
    }

    // parent - small = large, in the parent's own memory. A child of at most `limit` rows needs
    // none.
    void share_histogram(Node& node, std::pair<Node, Node>& children, std::uint32_t limit,
                         const Site& site) {
        auto& [left, right] = children;
        Node& large = left.size() > right.size() ? left : right;
        Node& small = left.size() > right.size() ? right : left;
        const Histogram whole = std::move(node.histogram);
        if (!whole || large.size() <= limit) return;
        const Histogram counted = histograms_.take();
        if (!counted) return;
        histograms_.count(rows_of(small, site.work), varying(node, site), counted);
        histograms_.subtract(counted, varying(node, site), whole);
        large.histogram = whole;
        if (small.size() > limit) small.histogram = counted;
    }

    Split search_histogram(Node& node, const SplitRules& rules, const Site& site) {
        auto& features = site.work.features;
        const std::size_t n = n_features_ - node.n_constant;
        std::vector<Split> found(n);
        std::vector<std::uint8_t> varies(n);
        constexpr std::size_t chunk = 8;
        team_.for_each((n + chunk - 1) / chunk, [&](std::size_t group, int worker) {
            Sides& sides = workspaces_[worker].sides;
            if constexpr (Stats::classes) sides.set_classes(stats_.n_classes);
            if constexpr (has_several<Stats>) sides.use(stats_);
            for (std::size_t i = group * chunk; i < std::min(n, (group + 1) * chunk); ++i) {
                const std::uint32_t f = features[node.n_constant + i];
                varies[i] =
                    search_.scan_counted(sides, histograms_.bins(node.histogram, f), views_[f], f,
                                         site.work.total.data(), rules, found[i]);
            }
        });
        Split best;
        std::uint32_t n_constant = node.n_constant;
        for (std::size_t i = 0; i < n; ++i) {
            if (found[i].found() && rules.better(found[i].score, found[i].feature, best)) {
                best = std::move(found[i]);
            }
            if (!varies[i]) std::swap(features[node.n_constant + i], features[n_constant++]);
        }
        node.n_constant = n_constant;
        return best;
    }

    // ---- applying a split ----

    // Writes the test into the graph, partitions the rows, and returns the two children.
    std::pair<Node, Node> divide(const Node& node, std::int32_t index, const Split& split,
                                 const Site& site) {
        const auto f = static_cast<std::uint32_t>(split.feature);
        const CodeView& view = site.views[f];
        const Column& column = *view.column;
        DecisionGraph& graph = site.graph;
        std::vector<std::uint8_t> in_set;
        std::uint32_t middle;
        if (split.categorical) {
            in_set.assign(view.n_bins + 1, 0);
            for (const auto code : split.left_codes) in_set[code] = 1;
            in_set[view.n_bins] = split.missing_left;
            middle = partition(node, view, site, [&](auto code) { return in_set[code] != 0; });
        } else {
            const std::uint32_t n_left = split.b == view.n_bins ? view.n_bins : split.a + 1;
            middle = partition(node, view, site, [&](std::uint32_t code) {
                return code_goes_left(code, n_left, view.n_bins, split.missing_left);
            });
        }

        bool missing_left = split.missing_left;
        if (!column.has_missing || !saw_missing(node, view)) {
            missing_left =
                unseen_goes_left(weight_between(node.begin, middle), graph.weight[index]);
        }
        if (split.categorical) {
            const std::span<const Row> rows(rows_.data() + node.begin, node.size());
            graph.set_category(index, split.feature, category_set(view, rows, in_set, missing_left),
                               column.n_bins, missing_left);
        } else {
            graph.set_axis(index, split.feature, threshold_of(split, view), missing_left);
        }
        const auto child = [&](std::uint32_t begin, std::uint32_t end, bool is_left) {
            Node child{begin,
                       end,
                       node.depth + 1,
                       node.n_constant,
                       key_of(node.key, is_left ? 1 : 2),
                       {index, is_left},
                       nullptr};
            if constexpr (HasBounds<Sides>) {
                child.bounds = node.bounds.of_child(is_left, direction_of(f), split.middle);
            }
            return child;
        };
        return {child(node.begin, middle, true), child(middle, node.end, false)};
    }

    double threshold_of(const Split& split, const CodeView& view) const {
        if (split.b == view.n_bins) return std::numeric_limits<double>::infinity();
        if (limits_.params.splitter == GrowParams::Splitter::random) return split.threshold;
        return cut_between(*view.column, view.data_code(split.a), view.data_code(split.b))
            .threshold;
    }

    bool saw_missing(const Node& node, const CodeView& view) const {
        return std::any_of(rows_.begin() + node.begin, rows_.begin() + node.end,
                           [&](Row row) { return view.at(row) == view.n_bins; });
    }

    template <class GoesLeft>
    std::uint32_t partition(const Node& node, const CodeView& view, const Site& site,
                            const GoesLeft& goes_left) {
        const auto left = [&](Row row) { return goes_left(view.at(row)); };
        return node.begin +
               site.work.partition(rows_.data() + node.begin, targets_.data() + node.begin,
                                   Stats::weighted ? weights_.data() + node.begin : nullptr,
                                   node.size(), left);
    }

    // ---- frontiers ----

    // The children of an opened node, or none if it stays a leaf.
    std::optional<std::pair<Node, Node>> split(Node& node, std::int32_t index, const Site& site) {
        const Split split = find_split(node, index, site);
        if (!split.found()) return std::nullopt;
        return divide(node, index, split, site);
    }

    // Depth-first with a stack; `block_rows` is the size of the block the views belong to.
    void grow_subtree(const Node& root, const Site& site, std::uint32_t block_rows) {
        std::vector<Node> stack{root};
        while (!stack.empty()) {
            Node node = std::move(stack.back());
            stack.pop_back();
            if (node.size() > task_rows || (++site.work.n_opened & 63) == 0) {
                team_.checkpoint(site.worker);  // reading the clock takes 30 ns
            }
            if (fits_row_tree(node) && grow_by_row(node, site)) continue;
            if (fits_bits(node) && grow_on_bits(node, site)) continue;
            if (fits_block(node, site)) {
                grow_in_block(node, site);
                continue;
            }
            const std::int32_t index = open(node, site);
            if (!may_split(node, index, site)) continue;
            if (draws_by_key()) forget_constants(node, site.work);
            if (worth_gathering(node, site, block_rows)) {
                grow_gathered(node, index, site);
            } else if (auto children = split(node, index, site)) {
                stack.push_back(std::move(children->second));
                stack.push_back(std::move(children->first));
            }
        }
    }

    // Whether a subtree can be grown on bits; its codes are copied feature by feature.
    bool fits_bits(const Node& node) const {
        if (!on_bits_) return false;
        if (node.size() <= bits::word_rows) return true;
        return search_.random() && !by_row_ &&
               std::uint64_t(node.size()) * n_features_ <= bits_bytes;
    }

    bool fits_row_tree(const Node& node) const {
        return by_row_tree_ && node.size() * RowTree<Sides>::stride_for(n_features_) <= rows_bytes;
    }

    bool grow_by_row(const Node& node, const Site& site) {
        const subtree::NodeStart root{node.place, node.depth, node.n_constant, node.key};
        return search_.grow_by_row(rows_of(node, site.work), by_row_, root, site.views, site.work,
                                   limits_, site.graph);
    }

    bool grow_on_bits(const Node& node, const Site& site) {
        const subtree::NodeStart root{node.place, node.depth, node.n_constant, node.key};
        return search_.grow_on_bits(rows_of(node, site.work), root, site.views, site.work, limits_,
                                    site.graph);
    }

    // A gather reads every feature once; it pays if the levels below read more than that.
    bool worth_gathering(const Node& node, const Site& site, std::uint32_t block_rows) const {
        const bool gathered = &site.views != &views_;
        if (node.size() <= (by_row_ && !gathered ? fewest_rows : few_rows)) return false;
        if (!search_.draws()) return !gathered || node.size() * gather_share <= block_rows;
        if (draws_by_key()) return false;  // a block has no columns of known constants
        const auto levels = static_cast<std::uint64_t>(std::bit_width(node.size()));
        return !gathered && !by_row_ &&
               search_.max_features() * levels * 2 > std::uint64_t(n_features_) * 3 &&
               std::uint64_t(node.size()) * n_features_ <= gather_bytes;
    }

    // Whether whole rows are to be copied into a block for the cache: once, as soon as they fit.
    bool fits_block(const Node& node, const Site& site) const {
        return by_row_ && search_.draws() && &site.views == &views_ &&
               node.size() * RowBlock::stride_for(n_features_) <= gather_bytes;
    }

    void grow_in_block(const Node& node, const Site& site) {
        RowBlock& block = site.work.block;
        block.copy(*by_row_, views_, {rows_.data() + node.begin, node.size()});
        const Site inner{block.views, site.graph, site.work, site.worker};
        grow_subtree(node, inner, node.size());
    }

    // Numbers the node's rows anew, 0..n-1 in a copy of their codes.
    Block gather(Node& node, const Site& site) {
        const auto first = rows_.begin() + node.begin, last = rows_.begin() + node.end;
        const std::vector<Row> outer(first, last);
        std::iota(first, last, Row{0});
        return {Gathered(site.views, &site.views == &views_ ? by_row_ : nullptr, outer,
                         site.work.features, node.n_constant),
                node.size()};
    }

    // Grows an opened node on a copy of its codes.
    void grow_gathered(Node& node, std::int32_t index, const Site& site) {
        const Block block = gather(node, site);
        const Site inner{block.codes.views, site.graph, site.work, site.worker};
        if (const auto children = split(node, index, inner)) {
            grow_subtree(children->first, inner, node.size());
            grow_subtree(children->second, inner, node.size());
        }
    }

    // Whether the order of the splits matters: a limit of leaves that no tree of these rows
    // exceeds is none, and depth-first keeps a subtree in the cache (1.14x on mnist). Trees that
    // draw features differ by order, see below.
    bool may_reach_leaf_limit(const Node& root) const {
        const auto& params = limits_.params;
        return params.max_leaf_nodes > 0 &&
               (search_.draws() ||
                root.size() / std::max<std::int64_t>(1, params.min_samples_leaf) >
                    params.max_leaf_nodes);
    }

    // Nodes of more than `limit` rows are searched by whole histograms; the children of the others
    // are searched in a copy of the parent's codes. Trees that draw features have neither, and
    // start every node without known constants: what they draw depends on these, and best-first
    // jumps between branches.
    void grow_best_first(Node root, const Site& site, std::uint32_t limit) {
        std::vector<Candidate> heap;
        // Columns that fit the cache are read where they are (1.1x on 100 leaves of letter).
        const bool gathers = !search_.draws() && data_.n_rows() * n_features_ > gather_bytes;
        const auto site_of = [&](const std::shared_ptr<const Block>& block) -> Site {
            return {block ? block->codes.views : views_, site.graph, site.work, site.worker};
        };
        const auto consider = [&](Node node, const std::shared_ptr<const Block>& block) {
            team_.checkpoint(site.worker);
            const Site here = site_of(block);
            if (search_.draws()) forget_constants(node, site.work);
            const std::int32_t index = open(node, here);
            if (!may_split(node, index, here)) return;
            if (node.size() > limit) give_histogram(node, here);
            const double node_score = this->node_score(index, here);
            Split split = find_split(node, index, here);
            if (!histograms_.has_more()) node.histogram = nullptr;  // one is left for the next
            if (!split.found()) return;
            const double gain = limits_.gain_of(split.score, node_score);
            auto features = varying(node, here);
            if (search_.draws()) features = {};
            heap.push_back({std::move(node),
                            index,
                            std::move(split),
                            gain,
                            block,
                            {features.begin(), features.end()}});
            std::push_heap(heap.begin(), heap.end());
        };
        consider(std::move(root), nullptr);
        std::int64_t n_leaves = 1;
        while (!heap.empty() && n_leaves < limits_.params.max_leaf_nodes) {
            std::pop_heap(heap.begin(), heap.end());
            Candidate next = std::move(heap.back());
            heap.pop_back();
            Node& node = next.node;
            std::copy(next.varying.begin(), next.varying.end(),
                      site.work.features.begin() + node.n_constant);
            const Site here = site_of(next.block);
            auto children = divide(node, next.index, next.split, here);
            if (node.histogram) {
                share_histogram(node, children, limit, here);
            } else if (gathers && node.size() <= limit &&
                       worth_gathering(node, here, next.block ? next.block->n_rows : 0)) {
                next.block = std::make_shared<const Block>(gather(node, here));
                children.first.n_constant = children.second.n_constant = node.n_constant;
            }
            consider(std::move(children.first), next.block);
            consider(std::move(children.second), next.block);
            ++n_leaves;
        }
    }

    // The top of the tree node by node, everything at or below `limit` rows as a task.
    DecisionGraph grow_in_tasks(Node root, const Site& site, std::uint32_t limit) {
        struct Task {
            Node node;
            std::vector<std::uint32_t> features;
            DecisionGraph graph;
        };
        std::vector<Task> tasks;
        std::vector<Node> stack{std::move(root)};
        while (!stack.empty()) {
            Node node = std::move(stack.back());
            stack.pop_back();
            team_.checkpoint(0);
            if (node.size() <= limit) {
                site.graph.hang(-2 - static_cast<std::int32_t>(tasks.size()), node.place);
                tasks.push_back({std::move(node), site.work.features, empty_graph()});
                continue;
            }
            const std::int32_t index = open(node, site);
            if (!may_split(node, index, site)) continue;
            give_histogram(node, site);
            auto children = split(node, index, site);
            if (!children) continue;
            share_histogram(node, *children, limit, site);
            // The smaller child next: the histograms waiting on the stack then halve in rows.
            auto& [left, right] = *children;
            const bool left_first = left.size() <= right.size();
            stack.push_back(std::move(left_first ? right : left));
            stack.push_back(std::move(left_first ? left : right));
        }
        std::vector<std::size_t> order(tasks.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) {
            return tasks[a].node.size() > tasks[b].node.size();
        });
        team_.for_each(tasks.size(), [&](std::size_t i, int worker) {
            Task& task = tasks[order[i]];
            Work& work = workspaces_[worker];
            work.features = std::move(task.features);
            Node node = task.node;
            node.place = {};
            grow_subtree(node, {views_, task.graph, work, worker}, node.size());
        });
        std::vector<DecisionGraph> parts;
        for (auto& task : tasks) parts.push_back(std::move(task.graph));
        return join_in_preorder(site.graph, parts);
    }

    const Dataset& data_;
    Limits limits_;
    const Stats stats_;
    std::vector<Row> rows_;
    std::vector<Target> targets_;
    std::vector<Weight> weights_;
    Team& team_;
    const RowCodes* by_row_;
    std::uint32_t n_features_;
    NodeSearch<Sides> search_;
    bool on_bits_ = Sides::on_bits && search_.draws();  // grow small subtrees so
    bool by_row_tree_ =
        grows_rows<Sides> && search_.random() && n_features_ <= most_row_codes(Stats::classes);
    std::vector<CodeView> views_;
    std::vector<Work> workspaces_;
    NodeHistograms<Stats> histograms_;
};

}  // namespace hedgerow
