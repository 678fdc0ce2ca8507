#include "grow/forest.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <stdexcept>

#include "base/random.hpp"
#include "graph/coded.hpp"
#include "grow/row_tree.hpp"
#include "grow/sample.hpp"

namespace hedgerow {
namespace {

std::uint64_t key_of_member(const ForestParams& params, std::uint64_t member) {
    return key_of(scramble(params.seed), member);
}

// The rows that a forest is grown on.
struct View {
    const RowChoice& rows;
    std::size_t size;

    Row operator[](std::size_t i) const { return rows ? (*rows)[i] : static_cast<Row>(i); }
};

// The rows of a member's bag, which counts the rows of the view, with their weights.
Sample sample_of(const ForestParams& params, const GrowTargets& targets, const View& view,
                 const std::vector<std::uint32_t>& bag) {
    const std::size_t n_outputs = targets.n_outputs;
    std::vector<std::vector<double>> by_class;  // the weights of classes, by output
    for (std::size_t o = 0; params.balanced_subsample && o < n_outputs; ++o) {
        const auto& several = params.tree.class_counts;
        std::vector<double> counts(several.empty() ? params.tree.n_classes : several[o], 0.0);
        for (std::size_t i = 0; i < bag.size(); ++i) {
            counts[targets.classes[view[i] * n_outputs + o]] += bag[i];
        }
        const double total = std::accumulate(counts.begin(), counts.end(), 0.0);
        const auto present =
            std::count_if(counts.begin(), counts.end(), [](double c) { return c > 0; });
        for (double& count : counts) {
            count = count > 0 ? total / (static_cast<double>(present) * count) : 1.0;
        }
        by_class.push_back(std::move(counts));
    }
    std::vector<Row> rows;
    std::vector<double> weights;
    for (std::size_t i = 0; i < bag.size(); ++i) {
        const Row row = view[i];
        double weight = bag[i];
        if (!targets.weights.empty()) weight *= targets.weights[row];
        for (std::size_t o = 0; o < by_class.size(); ++o) {
            weight *= by_class[o][targets.classes[row * n_outputs + o]];
        }
        if (weight == 0) continue;
        rows.push_back(row);
        weights.push_back(weight);
    }
    const std::vector<std::uint32_t> all(bag.size(), 1);
    if (rows.empty() && bag != all) {  // a bag of rows without weight: take all that have some
        ForestParams plain = params;
        plain.balanced_subsample = false;
        return sample_of(plain, targets, view, all);
    }
    return {std::move(rows), std::move(weights)};
}

// A copy of the codes by row pays for trees that draw features of a wide table, which gather small
// nodes from it (grow/gathered.hpp), and for those that draw thresholds too, of a narrow one
// (grow/row_tree.hpp). It takes whole rows, so trees must read a fair share of them: with 50,000
// words of 8,000 texts the copy alone took the time of 40 trees.
bool worth_copying(const Dataset& data, const GrowParams& tree, std::size_t n_trees) {
    constexpr std::size_t few_trees = 4, few_features = 256, many_features = 4096, fair_share = 4;
    const std::size_t p = data.n_features();
    if (n_trees < few_trees || !tree.draws(p)) return false;
    if (p <= few_features) {
        return tree.splitter == GrowParams::Splitter::random &&
               p <= most_row_codes(tree.for_classes()) && has_plain_codes(data);
    }
    const std::size_t drawn =
        tree.max_features < 0 ? p : static_cast<std::size_t>(tree.max_features);
    return has_narrow_codes(data) &&
           (p <= many_features || drawn * std::bit_width(data.n_rows()) * fair_share >= p);
}

void add_importances(const DecisionGraph& graph, std::vector<double>& importances) {
    std::vector<double> gain(graph.n_features, 0.0);
    const auto loss = [&](std::int32_t node) { return graph.weight[node] * graph.impurity[node]; };
    for (std::size_t i = 0; i < graph.n_nodes(); ++i) {
        const auto node = static_cast<std::int32_t>(i);
        if (graph.is_leaf(node)) continue;
        gain[graph.feature[i]] += loss(node) - loss(graph.left[i]) - loss(graph.right[i]);
    }
    const double total = std::accumulate(gain.begin(), gain.end(), 0.0);
    if (total > 0) {
        for (double& g : gain) g /= total;
    }
    importances.insert(importances.end(), gain.begin(), gain.end());
}

// A member between being grown and being added to the forest.
struct Grown {
    DecisionGraph graph;
    std::vector<Row> unseen;
    std::vector<CodedGraph::Group> groups;  // of the unseen rows
};

// Adds a member's values to the sums of its unseen rows; most leaves have one class.
void add_unseen(const Grown& grown, Unseen& unseen) {
    std::size_t i = 0;
    for (const auto& [leaf, end] : grown.groups) {
        const auto value = grown.graph.value_of(leaf);
        for (std::size_t k = 0; k < value.size(); ++k) {
            if (value[k] == 0) continue;
            for (std::size_t j = i; j < end; ++j) {
                unseen.sums[grown.unseen[j] * value.size() + k] += value[k];
            }
        }
        for (; i < end; ++i) ++unseen.counts[grown.unseen[i]];
    }
}

}  // namespace

std::vector<std::uint32_t> bag_of(const ForestParams& params, std::size_t n_rows,
                                  std::uint64_t member) {
    if (!params.bootstrap && params.n_draws >= n_rows) return std::vector<std::uint32_t>(n_rows, 1);
    if (params.by_row) return bag_of_rows(params, n_rows, member, 0, n_rows);
    std::vector<std::uint32_t> bag(n_rows, 0);
    Random random(key_of(key_of_member(params, member), 0));
    if (params.bootstrap) {
        for (std::uint32_t i = 0; i < params.n_draws; ++i) ++bag[random.below(n_rows)];
        return bag;
    }
    // Floyd's draws without replacement: where a row is taken already, the last one is free.
    for (std::size_t last = n_rows - params.n_draws; last < n_rows; ++last) {
        const std::size_t row = random.below(last + 1);
        bag[bag[row] == 0 ? row : last] = 1;
    }
    return bag;
}

std::vector<std::uint32_t> bag_of_rows(const ForestParams& params, std::size_t n_rows,
                                       std::uint64_t member, std::size_t first, std::size_t n) {
    std::vector<std::uint32_t> bag(n, 1);
    if (!params.bootstrap) return bag;
    const std::uint64_t key = key_of(key_of_member(params, member), 0);
    const double mean = static_cast<double>(params.n_draws) / static_cast<double>(n_rows);
    const double none = std::exp(-mean);
    for (std::size_t i = 0; i < n; ++i) {
        const double u = Random(key_of(key, first + i)).uniform();
        double share = none, sum = none;
        std::uint32_t k = 0;
        for (; u >= sum && k < 32; sum += share) share *= mean / ++k;
        bag[i] = k;
    }
    return bag;
}

void Forest::add_member(const DecisionGraph& graph) {
    add(graph);
    add_importances(graph, importances);
}

Forest Forest::joined(std::uint32_t n_features, std::uint32_t n_outputs,
                      std::span<const Forest* const> parts) {
    Forest out(n_features, n_outputs);
    for (const Forest* part : parts) {
        for (std::size_t i = 0; i < part->n_graphs(); ++i) out.add(part->unpack(i));
        out.importances.insert(out.importances.end(), part->importances.begin(),
                               part->importances.end());
    }
    out.seal();
    return out;
}

std::uint64_t seed_of_tree(const ForestParams& params, std::uint64_t member) {
    return key_of(key_of_member(params, member), 1);
}

void grow_forest(const Dataset& data, const RowChoice& rows, const GrowTargets& targets,
                 const ForestParams& params, std::size_t n_trees, Forest& forest, Unseen* unseen,
                 std::atomic<std::size_t>& done, Team& team) {
    const View view{rows, rows ? rows->size() : data.n_rows()};
    if (view.size == 0) throw std::invalid_argument("no rows to grow on");
    const std::size_t first = params.first + forest.n_graphs();
    std::vector<std::unique_ptr<Grown>> waiting(n_trees);
    std::size_t n_added = 0;
    std::vector<DecisionGraph> spare;  // graphs of members that were added
    std::mutex adding;
    std::optional<RowCodes> by_row;
    if (worth_copying(data, params.tree, n_trees)) by_row.emplace(data, team);

    const auto add = [&](Grown& grown) {
        forest.add_member(grown.graph);
        if (unseen) add_unseen(grown, *unseen);
        spare.push_back(std::move(grown.graph));
    };

    team.for_each(n_trees, [&](std::size_t i, int worker) {
        const std::uint64_t member = first + i;
        const auto bag = bag_of(params, view.size, member);
        GrowParams tree = params.tree;
        tree.seed = seed_of_tree(params, member);
        Team solo(1, team.poll_for(worker));
        auto grown = std::make_unique<Grown>();
        Sample sample = sample_of(params, targets, view, bag);
        if (by_row) sample.by_row = &*by_row;
        if (std::lock_guard lock(adding); !spare.empty()) {
            sample.memory = std::move(spare.back());
            spare.pop_back();
        }
        grown->graph = grow_sample(data, std::move(sample), targets, tree, solo);
        if (unseen) {
            grown->unseen.assign(unseen->held.begin(), unseen->held.end());
            for (std::size_t i = 0; unseen->out_of_bag && i < bag.size(); ++i) {
                if (bag[i] == 0) grown->unseen.push_back(view[i]);
            }
            grown->groups = CodedGraph(grown->graph, data).group_by_leaf(grown->unseen);
        }
        std::lock_guard lock(adding);
        waiting[i] = std::move(grown);
        for (; n_added < n_trees && waiting[n_added]; ++n_added) {
            add(*waiting[n_added]);
            waiting[n_added].reset();
        }
        ++done;
    });
    forest.seal();
}

template <class T>
std::vector<double> out_of_bag_importances(const Forest& forest, const ForestParams& params,
                                           const T* x, std::size_t n_rows,
                                           const GrowTargets& targets, Team& team) {
    const std::size_t p = forest.n_features(), k = forest.n_outputs();
    std::vector<double> out(forest.n_graphs() * p, 0.0);
    team.for_each(forest.n_graphs(), [&](std::size_t member, int worker) {
        const auto bag = bag_of(params, n_rows, member);
        std::vector<Row> unseen;
        for (std::size_t row = 0; row < n_rows; ++row) {
            if (bag[row] == 0) unseen.push_back(static_cast<Row>(row));
        }
        if (unseen.empty()) {
            std::fill_n(out.begin() + member * p, p, std::numeric_limits<double>::quiet_NaN());
            return;
        }
        std::vector<double> value(k);
        const std::size_t n_outputs = targets.n_outputs;
        const auto loss = [&](const T* row_values, Row row) {
            std::fill(value.begin(), value.end(), 0.0);
            forest.add_value_of(member, row_values, value.data());
            double sum = 0;
            auto of_output = value.begin();
            for (std::size_t o = 0; o < n_outputs; ++o) {
                const std::size_t at = row * n_outputs + o;
                if (targets.classes.empty()) {
                    const double error = value[o] - targets.numbers[at];
                    sum += error * error;
                    continue;
                }
                const auto& several = params.tree.class_counts;
                const auto end = of_output + (several.empty() ? k : several[o]);
                sum += std::max_element(of_output, end) - of_output != targets.classes[at];
                of_output = end;
            }
            return sum / static_cast<double>(n_outputs);
        };
        double base = 0;
        for (const Row row : unseen) base += loss(x + row * p, row);
        std::vector<T> changed(p);
        for (const std::uint32_t f : forest.features_of(member)) {
            team.checkpoint(worker);
            std::vector<Row> from = unseen;
            Random random(key_of(key_of(key_of_member(params, member), 2), f));
            for (std::size_t i = from.size() - 1; i > 0; --i) {
                std::swap(from[i], from[random.below(i + 1)]);
            }
            double shuffled = 0;
            for (std::size_t i = 0; i < unseen.size(); ++i) {
                std::copy_n(x + unseen[i] * p, p, changed.begin());
                changed[f] = x[from[i] * p + f];
                shuffled += loss(changed.data(), unseen[i]);
            }
            out[member * p + f] = (shuffled - base) / static_cast<double>(unseen.size());
        }
    });
    return out;
}

template std::vector<double> out_of_bag_importances(const Forest&, const ForestParams&,
                                                    const float*, std::size_t, const GrowTargets&,
                                                    Team&);
template std::vector<double> out_of_bag_importances(const Forest&, const ForestParams&,
                                                    const double*, std::size_t, const GrowTargets&,
                                                    Team&);

}  // namespace hedgerow
