#include <algorithm>
#include <array>

#include "explain/quadrature.hpp"
#include "explain/shapley.hpp"

namespace hedgerow {

namespace {

constexpr std::size_t rows_per_task = 32;  // they go through a graph while it is in the cache
constexpr std::size_t lanes = 4;  // points come in such groups, which the compiler makes vectors of

}  // namespace

// One thread on its way down the paths of a graph with one row: the product of all factors at the
// points, level by level, and for each distinct feature of the path its factor.
template <class T, class AtLeaf>
class PathShapley::PairWalk {
  public:
    PairWalk(const PathShapley& shapley, const Quadrature& rule, const AtLeaf& at_leaf)
        : values_(shapley.values_),
          rule_(rule),
          at_leaf_(at_leaf),
          products_((shapley.depth_ + 1) * n_points()),
          inverses_((shapley.depth_ + 1) * n_points()),
          path_(shapley.n_distinct_) {}

    std::size_t n_points() const { return rule_.point.size(); }

    void walk(const DecisionGraph& graph, const std::vector<Step>& steps, const T* x) {
        graph_ = &graph;
        steps_ = steps.data();
        x_ = x;
        rises_.resize(steps.size());
        levels_.resize(steps.size());
        std::copy(rule_.weight.begin(), rule_.weight.end(), products_.begin());
        visit(0, 0, true);
    }

    // Of the leaf that was reached; then, of each distinct feature of its path: by how much
    // the row is above the share of the rows, and one over its factor at the points.
    void add_value(double scale, double* to) const {
        for (std::uint32_t i = leaf_->first; i < leaf_->end; ++i) {
            to[values_[i].output] += scale * values_[i].number;
        }
    }
    const double* product() const { return products_.data() + level_ * n_points(); }
    std::size_t n_distinct() const { return n_distinct_; }
    std::size_t feature(std::size_t i) const { return steps_[path_[i]].feature; }
    double rise(std::size_t i) const { return rises_[path_[i]]; }
    const double* inverse(std::size_t i) const {
        return inverses_.data() + levels_[path_[i]] * n_points();
    }

  private:
    void visit(std::int32_t at, std::size_t level, bool row_is_here) {
        const Step& step = steps_[at];
        const bool is_new = level > 0 && step.same < 0;
        if (level > 0) {
            // Above, a row that passed has not less than its share.
            const bool passes = row_is_here && (step.same < 0 || rises_[step.same] >= 0);
            if (!passes && step.share == 0) return;  // no leaf below counts
            rises_[at] = passes - step.share;
            levels_[at] = static_cast<std::uint32_t>(level);
            factor(step, level, rises_[at]);
            path_[step.place] = at;
            n_distinct_ += is_new;
        }
        if (step.left < 0) {
            leaf_ = &step;
            level_ = level;
            at_leaf_(*this);
        } else {
            const bool go_left = graph_->goes_left(step.node, x_);
            visit(step.left, level + 1, go_left);
            visit(step.right, level + 1, !go_left);
        }
        n_distinct_ -= is_new;
        if (step.same >= 0) path_[step.place] = step.same;
    }
    // The product with the step's factor in place of that of the last test of its feature.
    void factor(const Step& step, std::size_t level, double rise) {
        const std::size_t q = n_points();
        const double* const above = products_.data() + (level - 1) * q;
        double* const product = products_.data() + level * q;
        double* const inverse = inverses_.data() + level * q;
        const double* const point = rule_.point.data();
        const double z = step.share;
        for (std::size_t i = 0; i < q; ++i) {
            const double here = z + point[i] * rise;
            product[i] = above[i] * here;
            inverse[i] = 1 / here;
        }
        if (step.same < 0) return;
        const double* const replaced = inverses_.data() + levels_[step.same] * q;
        for (std::size_t i = 0; i < q; ++i) product[i] *= replaced[i];
    }

    const std::vector<Value>& values_;
    const Quadrature& rule_;
    const AtLeaf& at_leaf_;
    const DecisionGraph* graph_ = nullptr;
    const Step* steps_ = nullptr;
    const T* x_ = nullptr;
    const Step* leaf_ = nullptr;
    std::size_t level_ = 0, n_distinct_ = 0;
    std::vector<double> products_, inverses_;  // at the points, by level
    std::vector<double> rises_;                // by step
    std::vector<std::uint32_t> levels_;        // by step
    std::vector<std::int32_t> path_;           // the last step of each distinct feature
};

template <class T, class AtLeaf>
void PathShapley::for_rows(const T* x, std::size_t n_rows, std::size_t n_numbers, double* out,
                           Team& team, const AtLeaf& at_leaf) const {
    std::fill_n(out, n_rows * n_numbers, 0.0);
    const std::size_t needed = (n_distinct_ + 1) / 2;
    const Quadrature rule = gauss_legendre((needed + lanes - 1) / lanes * lanes);
    team.for_each((n_rows + rows_per_task - 1) / rows_per_task, [&](std::size_t task, int worker) {
        double* to = nullptr;
        const auto give = [&](const auto& walk) { at_leaf(walk, to); };
        PairWalk<T, decltype(give)> walk(*this, rule, give);
        const std::size_t end = std::min((task + 1) * rows_per_task, n_rows);
        for (std::size_t g = 0; g < graphs_.size(); ++g) {
            team.checkpoint(worker);
            for (std::size_t row = task * rows_per_task; row < end; ++row) {
                to = out + row * n_numbers;
                walk.walk(*graphs_[g], steps_[g], x + row * n_features_);
            }
        }
    });
}

namespace {

double dot(const double* a, const double* b, std::size_t n) {
    std::array<double, lanes> sums{};
    for (std::size_t i = 0; i < n; i += lanes) {
        for (std::size_t l = 0; l < lanes; ++l) sums[l] += a[i + l] * b[i + l];
    }
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

}  // namespace

template <class T>
void PathShapley::interactions(const T* x, std::size_t n_rows, double* out, Team& team) const {
    const auto at_leaf = [&](const auto& walk, double* to) {
        const std::size_t q = walk.n_points();
        const auto give = [&](std::size_t i, std::size_t j, double share) {
            const std::size_t pair = walk.feature(i) * n_features_ + walk.feature(j);
            walk.add_value(share, to + pair * n_outputs_);
        };
        std::vector<double> without(q);
        for (std::size_t i = 0; i < walk.n_distinct(); ++i) {
            for (std::size_t l = 0; l < q; ++l) without[l] = walk.product()[l] * walk.inverse(i)[l];
            double alone = 0;
            for (const double at_point : without) alone += at_point;
            give(i, i, walk.rise(i) * alone);
            for (std::size_t j = 0; j < i; ++j) {
                const double both =
                    walk.rise(i) * walk.rise(j) / 2 * dot(without.data(), walk.inverse(j), q);
                give(i, j, both);
                give(j, i, both);
                give(i, i, -both);
                give(j, j, -both);
            }
        }
    };
    const std::size_t n_numbers = std::size_t(n_features_) * n_features_ * n_outputs_;
    for_rows(x, n_rows, n_numbers, out, team, at_leaf);
}

template void PathShapley::interactions(const float*, std::size_t, double*, Team&) const;
template void PathShapley::interactions(const double*, std::size_t, double*, Team&) const;

}  // namespace hedgerow
