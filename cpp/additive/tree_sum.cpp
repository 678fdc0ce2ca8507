#include "additive/tree_sum.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "additive/tree_sum_members.hpp"
#include "additive/tree_sum_refit.hpp"
#include "additive/tree_sum_search.hpp"
#include "additive/tree_sum_table.hpp"
#include "additive/tree_sum_tune.hpp"

namespace hedgerow {

namespace {

// The evidence takes splits for given, but each is the best of many and promises too much. So
// ridges are a multiple of it; while growing, one that rises with the number of splits: what is
// still to be learnt then is spread over more and shallower members, as a small learning rate does
// in boosting. Chosen on the sets of CHOOSE in benchmarks/sizes.py.
constexpr double final_ridge = 3;
double growing_ridge(std::size_t n_splits) {
    return std::clamp(static_cast<double>(n_splits) / 8, final_ridge, 30.0);
}

constexpr double step_growth = 1.25;  // ridge and stale gains are looked at again after so much

class Grower {
  public:
    Grower(const Dataset& data, const RowChoice& rows, const LossTargets& targets,
           const TreeSumParams& params, Team& team)
        : params_(params),
          table_(data, rows, targets, team),
          members_(table_),
          fit_(table_, members_, params.loss, params.ridge, params.monotone, team),
          search_(table_, members_, fit_, params, team),
          tuner_(table_, members_, fit_, params.min_samples_leaf, team) {
        losses_.push_back(fit_.penalised_loss());
    }

    void grow() {
        while (members_.n_splits() < params_.max_splits && add_best()) {
        }
        for (std::uint32_t pass = 0; pass < params_.tuning_passes && tune(); ++pass) {
        }
        for (std::uint32_t swap = 0; swap < params_.max_swaps && swap_weakest(); ++swap) {
        }
        settle();
    }

    TreeSum result() const;

  private:
    struct Stale {
        SumSplit split;
        std::size_t step = 0;  // when it was searched, from 1; 0: never
    };

    // Fits all leaves until a step lowers the loss by no more than a share of it.
    void refit(double share) {
        fit_.fit(share * std::abs(fit_.loss()));
        search_.read_derivatives();
        losses_.push_back(fit_.penalised_loss());
        ++step_;
    }

    // The leaf (-1: a new root) with the best split.
    std::pair<std::int32_t, SumSplit> best();
    std::pair<std::int32_t, SumSplit> best_of_all();
    bool add_best();
    // Returns the node that was split.
    std::int32_t add(std::int32_t leaf, const SumTest& test);
    std::int32_t weakest();
    void drop(std::int32_t node);
    bool swap_weakest();
    bool tune();
    void settle();
    void write_member(std::int32_t at, Place place, DecisionGraph& graph,
                      std::vector<double>& mean) const;

    const TreeSumParams& params_;
    SumTable table_;
    SumMembers members_;
    SumFit fit_;
    SumSearch search_;
    SumTuner tuner_;
    std::vector<double> losses_;
    std::vector<Stale> stale_;  // by node; that of a new root comes first
    std::size_t step_ = 1;
    double next_search_ = 0, next_ridge_ = 4;
};

std::pair<std::int32_t, SumSplit> Grower::best_of_all() {
    auto splits = search_.all();
    std::size_t column = 0;
    for (std::size_t c = 1; c < splits.size(); ++c) {
        if (splits[c].gain > splits[column].gain) column = c;
    }
    std::pair<std::int32_t, SumSplit> out{members_.leaf_at(column), splits[column]};
    if (!params_.exact_search) {
        for (std::size_t c = 0; c < splits.size(); ++c) {
            const auto at = static_cast<std::size_t>(members_.leaf_at(c) + 1);
            if (stale_.size() <= at) stale_.resize(at + 1);
            stale_[at] = {std::move(splits[c]), step_};
        }
    }
    return out;
}

std::pair<std::int32_t, SumSplit> Grower::best() {
    const auto n_splits = static_cast<double>(members_.n_splits());
    if (params_.exact_search || n_splits >= next_search_) {
        next_search_ = std::max(n_splits * step_growth, n_splits + 4);
        return best_of_all();
    }
    while (true) {
        std::size_t top = 0;
        double gain = -2;
        for (std::size_t c = 0; c < members_.n_columns(); ++c) {
            const auto at = static_cast<std::size_t>(members_.leaf_at(c) + 1);
            if (stale_.size() <= at) stale_.resize(at + 1);
            const double expected = stale_[at].step == 0 ? INFINITY : stale_[at].split.gain;
            if (expected > gain) top = at, gain = expected;
        }
        const auto leaf = static_cast<std::int32_t>(top) - 1;
        if (stale_[top].step == step_) return {leaf, stale_[top].split};
        stale_[top] = {search_.one(leaf), step_};
    }
}

std::int32_t Grower::add(std::int32_t leaf, const SumTest& test) {
    if (leaf < 0) {
        leaf = members_.plant();
        fit_.planted();
    }
    members_.split(leaf, test);
    fit_.was_split(leaf);
    search_.use(test);
    const SumNode& node = members_.node(leaf);
    for (const auto child : {node.left, node.right}) {
        const auto at = static_cast<std::size_t>(child + 1);
        if (at < stale_.size()) stale_[at].step = 0;
    }
    return leaf;
}

bool Grower::add_best() {
    if (members_.n_columns() + 2 > SumMembers::most_columns) return false;
    const auto [leaf, split] = best();
    if (!split.found() || split.gain < 0.5 * params_.min_gain * fit_.noise()) return false;
    add(leaf, search_.test_of(split));
    refit(params_.tolerance * split.gain / std::max(std::abs(fit_.loss()), 1e-300));
    if (params_.ridge < 0 && static_cast<double>(members_.n_splits()) >= next_ridge_) {
        next_ridge_ *= step_growth;
        fit_.improve_ridge(growing_ridge(members_.n_splits()));
        refit(params_.tolerance * split.gain / std::max(std::abs(fit_.loss()), 1e-300));
    }
    return true;
}

std::int32_t Grower::weakest() {
    fit_.invert();
    std::int32_t found = -1;
    double least = INFINITY;
    for (std::size_t member = 0; member < members_.n_members(); ++member) {
        for (const auto at : members_.inner_nodes(member)) {
            const SumNode& node = members_.node(at);
            if (!members_.node(node.left).is_leaf() || !members_.node(node.right).is_leaf()) {
                continue;
            }
            const double price = fit_.price_of_joining(at);
            if (price < least) found = at, least = price;
        }
    }
    return found;
}

void Grower::drop(std::int32_t at) {
    fit_.will_join(at);
    members_.join(at);
    const SumNode& node = members_.node(at);
    if (node.parent < 0) {
        const std::size_t member = node.member;
        fit_.will_fell(member);
        members_.fell(member);
    }
    search_.recount_used();
    if (static_cast<std::size_t>(at + 1) < stale_.size()) stale_[at + 1].step = 0;
}

bool Grower::swap_weakest() {
    if (members_.n_splits() < 2) return false;
    const double before = fit_.penalised_loss();
    const std::int32_t out = weakest();
    const SumTest test = members_.node(out).test;
    const bool was_root = members_.node(out).parent < 0;
    drop(out);
    refit(1e-6);
    const auto [leaf, split] = best_of_all();
    std::int32_t in = -1;
    if (split.found()) {
        in = add(leaf, search_.test_of(split));
        refit(1e-6);
        if (fit_.penalised_loss() < before - 1e-9 * std::abs(before)) return true;
        drop(in);
    }
    add(was_root ? -1 : out, test);
    refit(1e-6);
    return false;
}

// One pass over all members; whether any test has changed.
bool Grower::tune() {
    bool has_changed = false;
    for (std::size_t member = 0; member < members_.n_members(); ++member) {
        const double before = fit_.penalised_loss();
        const auto changed = tuner_.tune(member);
        if (changed.empty()) continue;
        fit_.rows_moved();
        refit(1e-6);
        if (fit_.penalised_loss() < before) {
            has_changed = true;
        } else {
            tuner_.undo(changed);
            fit_.rows_moved();
            refit(1e-6);
        }
    }
    search_.recount_used();
    return has_changed;
}

void Grower::settle() {
    constexpr int most_rounds = 20;
    for (int round = 0; params_.ridge < 0 && members_.n_splits() > 0 && round < most_rounds;
         ++round) {
        const double before = fit_.ridge();
        fit_.improve_ridge(final_ridge);
        refit(1e-9);
        if (std::abs(fit_.ridge() - before) <= 1e-3 * before) break;
    }
    refit(std::min(1e-12 * params_.tolerance, 1e-12));
    fit_.finish();
}

void Grower::write_member(std::int32_t at, Place place, DecisionGraph& graph,
                          std::vector<double>& mean) const {
    const SumNode& node = members_.node(at);
    const LossTargets targets = table_.targets();
    double weight = 0;
    for (const auto row : members_.rows(at)) weight += targets.weight(row);
    const std::int32_t here = graph.add_leaf(place, node.n_rows(), weight, 0);
    const std::uint32_t k = fit_.n_scores();
    if (node.is_leaf()) {
        for (std::uint32_t s = 0; s < k; ++s) mean[s] = fit_.value(s, node.column);
    } else {
        const SumTest& test = node.test;
        if (test.categorical) {
            graph.set_category(here, test.feature, test.set, test.threshold, test.missing_left);
        } else {
            graph.set_axis(here, test.feature, test.threshold, test.missing_left);
        }
        std::vector<double> beside(k);
        write_member(node.left, {here, true}, graph, mean);
        write_member(node.right, {here, false}, graph, beside);
        const std::int32_t l = graph.left[here], r = graph.right[here];
        const double share = graph.weight[r] / weight;
        double spread = 0;
        for (std::uint32_t s = 0; s < k; ++s) {
            const double apart = beside[s] - mean[s];
            spread += share * (1 - share) * apart * apart;
            mean[s] += share * apart;
        }
        graph.impurity[here] = (1 - share) * graph.impurity[l] + share * graph.impurity[r] + spread;
    }
    std::copy(mean.begin(), mean.end(), graph.value.begin() + std::ptrdiff_t(here) * k);
}

TreeSum Grower::result() const {
    const std::uint32_t k = fit_.n_scores();
    TreeSum out;
    out.losses = losses_;
    out.ridge = fit_.ridge();
    out.freedom = fit_.freedom();
    for (std::uint32_t s = 0; s < k; ++s) out.intercept.push_back(fit_.value(s, 0));
    for (std::size_t member = 0; member < members_.n_members(); ++member) {
        DecisionGraph& graph = out.members.emplace_back();
        graph.n_features = static_cast<std::uint32_t>(table_.n_features());
        graph.n_outputs = k;
        std::vector<double> mean(k);
        write_member(members_.root(member), {}, graph, mean);
        for (std::size_t i = 0; i < graph.value.size(); ++i) graph.value[i] -= mean[i % k];
        for (std::uint32_t s = 0; s < k; ++s) out.intercept[s] += mean[s];
    }
    return out;
}

}  // namespace

TreeSum grow_tree_sum(const Dataset& data, const RowChoice& rows, const LossTargets& targets,
                      const TreeSumParams& params, Team& team) {
    if (!params.monotone.empty() && params.monotone.size() != data.n_features()) {
        throw std::invalid_argument("one direction is needed for each feature");
    }
    if (!params.monotone.empty() && params.loss.n_scores() > 1) {
        throw std::invalid_argument("directions are for numbers and for two classes");
    }
    Grower grower(data, rows, targets, params, team);
    grower.grow();
    return grower.result();
}

}  // namespace hedgerow
