#include "boost/boosting.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/random.hpp"
#include "boost/boost_table.hpp"
#include "boost/boosted_graph.hpp"
#include "boost/boosted_tree.hpp"
#include "boost/histogram.hpp"
#include "graph/coded.hpp"

namespace hedgerow {

namespace {

constexpr std::size_t rows_per_task = 8192;
constexpr std::size_t most_judged_rows = 10000;  // of the training rows, as in scikit-learn

// Calls body(first, end) for ranges of 0..n-1.
template <class Body>
void for_ranges(std::size_t n, Team& team, const Body& body) {
    team.for_each((n + rows_per_task - 1) / rows_per_task, [&](std::size_t task, int) {
        body(task * rows_per_task, std::min((task + 1) * rows_per_task, n));
    });
}

class Booster {
  public:
    Booster(const BoostInput& input, const BoostParams& params, Team& team)
        : input_(input),
          params_(params),
          team_(team),
          n_rows_(input.data.n_rows()),
          table_(input.data, team),
          trees_(table_, params),
          graphs_(params.members == BoostParams::Members::graph
                      ? std::make_optional<GraphBooster>(input.data, params)
                      : std::nullopt),
          scores_(input.scores.begin(), input.scores.end()),
          gradient_(n_rows_ * params.loss.n_scores()),
          hessian_(n_rows_ * params.loss.n_scores()),
          rows_(input.rows.begin(), input.rows.end()) {
        values_.of_row.resize(n_rows_);
        if (scores_.empty()) {
            boosted_.intercept = params.loss.initial_scores(input.targets, input.rows);
            for (const double start : boosted_.intercept) {
                scores_.insert(scores_.end(), n_rows_, start);
            }
        }
        judge_rows();
    }

    Boosted run(std::size_t n_rounds, const Stopping& stopping, bool track,
                std::atomic<std::size_t>& done) {
        track |= stopping.patience > 0;
        if (track) judge();
        for (std::size_t round = 0; round < n_rounds; ++round) {
            boost_round(input_.first_round + round);
            done = round + 1;
            if (track) judge();
            if (stopping.patience > 0 && has_settled(stopping)) break;
        }
        if (stopping.patience > 0) keep_best();
        return std::move(boosted_);
    }

  private:
    void boost_round(std::size_t round) {
        const Loss& loss = params_.loss;
        for_ranges(n_rows_, team_, [&](std::size_t first, std::size_t end) {
            loss.derivatives(input_.targets, scores_.data(), first, end, gradient_.data(),
                             hessian_.data());
        });
        const std::uint64_t key = key_of(params_.seed, round);
        draw_rows(key);
        const bool constant = input_.targets.weights.empty() && loss.has_constant_hessian();
        for (std::uint32_t k = 0; k < loss.n_scores(); ++k) {
            const std::size_t at = k * n_rows_;
            values_.round(gradient_.data() + at, hessian_.data() + at, drawn_, constant, team_);
            std::optional<Residuals> residuals;
            if (loss.has_quantile_leaves()) {
                residuals.emplace(Residuals{input_.targets, scores_.data(), loss.quantile_level()});
            }
            grown_on_ = drawn_;
            BoostedTree tree = trees_.grow(grown_on_, values_, residuals, key_of(key, k), team_);
            if (graphs_) {
                graphs_->improve(tree, grown_on_, gradient_.data() + at, hessian_.data() + at,
                                 residuals, team_);
            }
            add_to_scores(tree, scores_.data() + at);
            boosted_.graphs.push_back(std::move(tree.graph));
        }
    }

    // The rows of a round; `others_` are those that have to be sent through its trees.
    void draw_rows(std::uint64_t key) {
        if (params_.subsample >= 1) {
            if (!drawn_.empty()) return;
            drawn_ = rows_;
            others_.assign(input_.held.begin(), input_.held.end());
            return;
        }
        drawn_.clear();
        others_.assign(input_.held.begin(), input_.held.end());
        for (const Row row : rows_) {
            const bool in = Random(key_of(key, row)).uniform() < params_.subsample;
            (in ? drawn_ : others_).push_back(row);
        }
        if (drawn_.empty()) {
            drawn_ = rows_;
            others_.assign(input_.held.begin(), input_.held.end());
        }
    }

    void add_to_scores(const BoostedTree& tree, double* scores) {
        team_.for_each(tree.leaves.size(), [&](std::size_t leaf, int) {
            const LeafRows& part = tree.leaves[leaf];
            for (std::uint32_t i = part.begin; i < part.end; ++i) {
                scores[grown_on_[i]] += part.value;
            }
        });
        if (others_.empty()) return;
        const CodedGraph coded(tree.graph, input_.data);
        for_ranges(others_.size(), team_, [&](std::size_t first, std::size_t end) {
            for (std::size_t i = first; i < end; ++i) {
                scores[others_[i]] += tree.graph.value[coded.leaf_of(others_[i])];
            }
        });
    }

    // Targets of the rows that losses are taken of, side by side.
    struct Judged {
        std::vector<Row> rows;
        std::vector<std::int32_t> classes;
        std::vector<double> numbers, weights, scores;
        double weight = 0;

        Judged() = default;
        Judged(std::vector<Row> chosen, const LossTargets& targets) : rows(std::move(chosen)) {
            for (const Row row : rows) {
                if (!targets.classes.empty()) classes.push_back(targets.classes[row]);
                if (!targets.numbers.empty()) numbers.push_back(targets.numbers[row]);
                weights.push_back(targets.weight(row));
                weight += weights.back();
            }
        }
    };

    void judge_rows() {
        std::vector<Row> train;
        const std::size_t step = std::max<std::size_t>(1, rows_.size() / most_judged_rows);
        for (std::size_t i = 0; i < rows_.size(); i += step) train.push_back(rows_[i]);
        train_ = Judged(std::move(train), input_.targets);
        held_ = Judged({input_.held.begin(), input_.held.end()}, input_.targets);
    }

    double mean_loss(Judged& judged) const {
        const std::size_t n = judged.rows.size();
        const std::uint32_t n_scores = params_.loss.n_scores();
        judged.scores.resize(n * n_scores);
        for (std::uint32_t k = 0; k < n_scores; ++k) {
            for (std::size_t i = 0; i < n; ++i) {
                judged.scores[k * n + i] = scores_[k * n_rows_ + judged.rows[i]];
            }
        }
        const LossTargets targets{judged.classes, judged.numbers, judged.weights};
        return params_.loss.total(targets, judged.scores.data(), 0, n) / judged.weight;
    }

    void judge() {
        boosted_.train_losses.push_back(mean_loss(train_));
        if (!held_.rows.empty()) boosted_.held_losses.push_back(mean_loss(held_));
    }

    const std::vector<double>& judged_losses() const {
        return boosted_.held_losses.empty() ? boosted_.train_losses : boosted_.held_losses;
    }

    bool has_settled(const Stopping& stopping) const {
        const auto& losses = judged_losses();
        if (losses.size() <= stopping.patience) return false;
        const auto recent = losses.end() - static_cast<std::ptrdiff_t>(stopping.patience);
        const double before = *std::min_element(losses.begin(), recent);
        return *std::min_element(recent, losses.end()) >
               before - stopping.least * std::abs(losses.front());
    }

    void keep_best() {
        const auto& losses = judged_losses();
        const auto best = static_cast<std::size_t>(std::min_element(losses.begin(), losses.end()) -
                                                   losses.begin());
        boosted_.graphs.resize(best * params_.loss.n_scores());
        boosted_.train_losses.resize(best + 1);
        if (!boosted_.held_losses.empty()) boosted_.held_losses.resize(best + 1);
    }

    const BoostInput& input_;
    const BoostParams& params_;
    Team& team_;
    std::size_t n_rows_;
    BoostTable table_;
    TreeBooster trees_;
    std::optional<GraphBooster> graphs_;
    std::vector<double> scores_;
    std::vector<float> gradient_, hessian_;
    RowValues values_;
    std::vector<Row> rows_, drawn_, others_, grown_on_;
    Judged train_, held_;
    Boosted boosted_;
};

}  // namespace

Boosted boost(const BoostInput& input, const BoostParams& params, std::size_t n_rounds,
              const Stopping& stopping, bool track, std::atomic<std::size_t>& done, Team& team) {
    params.loss.check(input.targets);
    return Booster(input, params, team).run(n_rounds, stopping, track, done);
}

}  // namespace hedgerow
