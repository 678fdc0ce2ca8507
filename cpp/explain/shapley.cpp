#include "explain/shapley.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <stdexcept>

namespace hedgerow {

namespace {

constexpr std::size_t most_steps = std::size_t{1} << 26;
constexpr std::size_t rows_per_task = 32;  // they go through a graph while it is in the cache
constexpr std::size_t lanes = 4;  // points come in such groups, which the compiler makes vectors of

struct Quadrature {
    std::vector<double> point, weight;
};

// Gauss's rule on [0, 1]: exact for polynomials of a degree below 2n.
Quadrature gauss_legendre(std::size_t n) {
    Quadrature rule{std::vector<double>(n), std::vector<double>(n)};
    for (std::size_t i = 0; i < n; ++i) {
        double x = std::cos(std::numbers::pi * (double(i) + 0.75) / (double(n) + 0.5)), slope = 1;
        for (int round = 0; round < 100; ++round) {
            double p = 1, before = 0;  // Legendre's polynomials by their recurrence
            for (std::size_t k = 1; k <= n; ++k) {
                const double next =
                    ((2.0 * double(k) - 1) * x * p - (double(k) - 1) * before) / double(k);
                before = p;
                p = next;
            }
            slope = double(n) * (x * p - before) / (x * x - 1);
            const double step = p / slope;
            x -= step;
            if (std::abs(step) < 1e-16) break;
        }
        rule.point[i] = (1 - x) / 2;
        rule.weight[i] = 1 / ((1 - x * x) * slope * slope);
    }
    return rule;
}

void refuse_oblique(const DecisionGraph& graph) {
    const bool is_oblique = std::any_of(graph.kind.begin(), graph.kind.end(), [](auto kind) {
        return static_cast<Kind>(kind) == Kind::oblique;
    });
    if (is_oblique) {
        throw std::invalid_argument(
            "Shapley values need tests of one feature each; this model has oblique tests.");
    }
}

}  // namespace

std::vector<double> left_shares(const DecisionGraph& graph) {
    std::vector<double> share(graph.n_nodes(), 0.5);
    for (std::size_t node = 0; node < graph.n_nodes(); ++node) {
        if (graph.is_leaf(std::int32_t(node))) continue;
        const double all = graph.weight[node], left = graph.weight[graph.left[node]];
        const double right = graph.weight[graph.right[node]];
        const bool is_divided = all > 0 ? std::abs(left + right - all) <= 1e-6 * all : node > 0;
        if (!is_divided) {
            throw std::invalid_argument(
                "The model does not know how its tests divided the training rows, because it keeps "
                "no row counts or has shared nodes: give 'background', some of these rows.");
        }
        if (all > 0) share[node] = left / (left + right);
    }
    return share;
}

template <class T>
std::vector<double> left_shares(const DecisionGraph& graph, const T* x, std::size_t n_rows) {
    std::vector<double> share(graph.n_nodes(), 0.5), left(graph.n_nodes()), all(graph.n_nodes());
    for (std::size_t row = 0; row < n_rows; ++row) {
        const T* numbers = x + row * graph.n_features;
        for (std::int32_t node = 0; !graph.is_leaf(node);) {
            const bool go_left = graph.goes_left(node, numbers);
            all[node] += 1;
            left[node] += go_left;
            node = graph.child(node, go_left);
        }
    }
    for (std::size_t node = 0; node < graph.n_nodes(); ++node) {
        if (all[node] > 0) share[node] = left[node] / all[node];
    }
    return share;
}

PathShapley::PathShapley(std::uint32_t n_features, std::uint32_t n_outputs)
    : n_features_(n_features), n_outputs_(n_outputs), expected_(n_outputs) {}

void PathShapley::add(const DecisionGraph& graph, std::span<const double> left_share) {
    refuse_oblique(graph);
    if (graph.n_features != n_features_ || graph.n_outputs != n_outputs_ ||
        left_share.size() != graph.n_nodes()) {
        throw std::invalid_argument("the graphs differ in features or outputs");
    }
    graphs_.push_back(&graph);
    steps_.emplace_back();
    std::vector<std::int32_t> last(n_features_, -1);
    unroll(graph, left_share, 0, -1, -1, 1, 1, last, 0, 0);
}

std::int32_t PathShapley::unroll(const DecisionGraph& graph, std::span<const double> left_share,
                                 std::int32_t node, std::int32_t same, std::int32_t feature,
                                 double share, double reach, std::vector<std::int32_t>& last,
                                 std::uint32_t n_distinct, std::uint32_t depth) {
    auto& steps = steps_.back();
    if (steps.size() == most_steps) {
        throw std::invalid_argument(
            "The graph has too many paths for Shapley values by paths: give background rows.");
    }
    const auto at = static_cast<std::int32_t>(steps.size());
    steps.push_back({.node = node, .feature = feature, .same = same, .share = share});
    if (feature >= 0) {
        steps[at].place = same < 0 ? static_cast<std::int32_t>(n_distinct) - 1 : steps[same].place;
    }
    n_distinct_ = std::max(n_distinct_, n_distinct);
    depth_ = std::max(depth_, depth);
    if (graph.is_leaf(node)) {
        const auto value = graph.value_of(node);
        steps[at].first = static_cast<std::uint32_t>(values_.size());
        for (std::uint32_t k = 0; k < n_outputs_; ++k) {
            expected_[k] += reach * value[k];
            if (value[k] != 0) values_.push_back({k, value[k]});  // most classes have no share
        }
        steps[at].end = static_cast<std::uint32_t>(values_.size());
        return at;
    }
    const std::int32_t tested = graph.feature[node], above = last[tested];
    const double before = above < 0 ? 1 : steps[above].share;
    for (const bool is_left : {true, false}) {
        const double part = is_left ? left_share[node] : 1 - left_share[node];
        const std::int32_t next = static_cast<std::int32_t>(steps.size());
        last[tested] = next;
        const std::int32_t child =
            unroll(graph, left_share, graph.child(node, is_left), above, tested, before * part,
                   reach * part, last, n_distinct + (above < 0), depth + 1);
        (is_left ? steps[at].left : steps[at].right) = child;
    }
    last[tested] = above;
    return at;
}

// One thread on its way down the paths of a graph with one row: the product of all factors at the
// points, level by level, and for each distinct feature of the path its factor.
template <class T, class AtLeaf>
class PathShapley::Walk {
  public:
    Walk(const PathShapley& shapley, const Quadrature& rule, const AtLeaf& at_leaf)
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
        Walk<T, decltype(give)> walk(*this, rule, give);
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
void PathShapley::values(const T* x, std::size_t n_rows, double* out, Team& team) const {
    const auto at_leaf = [&](const auto& walk, double* to) {
        const std::size_t q = walk.n_points();
        for (std::size_t i = 0; i < walk.n_distinct(); ++i) {
            const double share = walk.rise(i) * dot(walk.product(), walk.inverse(i), q);
            walk.add_value(share, to + walk.feature(i) * n_outputs_);
        }
    };
    for_rows(x, n_rows, std::size_t(n_features_) * n_outputs_, out, team, at_leaf);
}

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

namespace {

// Two rows on their way through one graph: features on which they have parted, and whose side each
// path is on.
template <class T>
class Pair {
  public:
    Pair(std::uint32_t n_features, std::size_t most) : side_(n_features) {
        // worth[a][b] of a leaf that a features of the row and b of the other lead to.
        worth_.resize((most + 1) * (most + 1));
        size_ = most + 1;
        for (std::size_t a = 1; a <= most; ++a) {
            for (std::size_t b = 0; a + b <= most; ++b) {
                worth_[a * size_ + b] =
                    std::exp(std::lgamma(double(a)) + std::lgamma(double(b) + 1) -
                             std::lgamma(double(a + b) + 1));
            }
        }
    }

    // Adds `scale` times the Shapley values of one row against another.
    void walk(const DecisionGraph& graph, const T* row, const T* other, double scale, double* out) {
        graph_ = &graph;
        row_ = row;
        other_ = other;
        scale_ = scale;
        out_ = out;
        visit(0);
    }

  private:
    enum Side : std::uint8_t { open, of_row, of_other };

    void visit(std::int32_t node) {
        const DecisionGraph& graph = *graph_;
        while (!graph.is_leaf(node)) {
            const std::int32_t feature = graph.feature[node];
            const std::uint8_t side = side_[feature];
            const bool left = graph.goes_left(node, side == of_other ? other_ : row_);
            if (side == open && left != graph.goes_left(node, other_)) {
                part(feature, of_row, graph.child(node, left));
                part(feature, of_other, graph.child(node, !left));
                return;
            }
            node = graph.child(node, left);
        }
        if (parted_.empty()) return;
        const std::size_t b = parted_.size() - n_of_row_, k_all = graph.n_outputs;
        const double for_row = n_of_row_ ? scale_ * worth_[n_of_row_ * size_ + b] : 0;
        const double for_other = b ? -scale_ * worth_[b * size_ + n_of_row_] : 0;
        const auto value = graph.value_of(node);
        for (const std::int32_t feature : parted_) {
            const double share = side_[feature] == of_row ? for_row : for_other;
            double* const to = out_ + std::size_t(feature) * k_all;
            for (std::size_t k = 0; k < k_all; ++k) to[k] += share * value[k];
        }
    }
    void part(std::int32_t feature, Side side, std::int32_t node) {
        side_[feature] = side;
        parted_.push_back(feature);
        n_of_row_ += side == of_row;
        visit(node);
        n_of_row_ -= side == of_row;
        parted_.pop_back();
        side_[feature] = open;
    }

    const DecisionGraph* graph_ = nullptr;
    const T *row_ = nullptr, *other_ = nullptr;
    double scale_ = 1;
    double* out_ = nullptr;
    std::vector<std::uint8_t> side_;
    std::vector<std::int32_t> parted_;
    std::size_t n_of_row_ = 0, size_ = 0;
    std::vector<double> worth_;
};

}  // namespace

template <class T>
void background_shapley(std::span<const DecisionGraph* const> graphs, const T* x,
                        std::size_t n_rows, const T* background, std::size_t n_background,
                        double* out, Team& team) {
    if (graphs.empty()) return;
    const std::size_t p = graphs[0]->n_features, size = p * graphs[0]->n_outputs;
    std::fill_n(out, n_rows * size, 0.0);
    std::size_t most = 1;  // features on a path
    for (const DecisionGraph* graph : graphs) {
        refuse_oblique(*graph);
        most = std::max(most, std::min<std::size_t>(graph->depth(), p));
    }
    std::vector<Pair<T>> pairs(team.size(), Pair<T>(std::uint32_t(p), most));
    team.for_each((n_rows + rows_per_task - 1) / rows_per_task, [&](std::size_t task, int worker) {
        const std::size_t end = std::min((task + 1) * rows_per_task, n_rows);
        for (const DecisionGraph* graph : graphs) {
            team.checkpoint(worker);
            for (std::size_t row = task * rows_per_task; row < end; ++row) {
                for (std::size_t other = 0; other < n_background; ++other) {
                    pairs[worker].walk(*graph, x + row * p, background + other * p,
                                       1.0 / double(n_background), out + row * size);
                }
            }
        }
    });
}

#define HEDGEROW_SHAPLEY(T)                                                                        \
    template std::vector<double> left_shares(const DecisionGraph&, const T*, std::size_t);         \
    template void PathShapley::values(const T*, std::size_t, double*, Team&) const;                \
    template void PathShapley::interactions(const T*, std::size_t, double*, Team&) const;          \
    template void background_shapley(std::span<const DecisionGraph* const>, const T*, std::size_t, \
                                     const T*, std::size_t, double*, Team&);
HEDGEROW_SHAPLEY(float)
HEDGEROW_SHAPLEY(double)
#undef HEDGEROW_SHAPLEY

}  // namespace hedgerow
