#include "explain/shapley.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <stdexcept>

namespace hedgerow {

namespace {

constexpr std::size_t most_steps = std::size_t{1} << 26;
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
    graphs_.push_back(graph);
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
    n_distinct_ = std::max(n_distinct_, n_distinct);
    depth_ = std::max(depth_, depth);
    if (graph.is_leaf(node)) {
        const auto value = graph.value_of(node);
        for (std::uint32_t k = 0; k < n_outputs_; ++k) expected_[k] += reach * value[k];
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

// What one thread writes on while it walks: levels of a path, each with its factor at the points.
struct PathShapley::Walk {
    Walk(std::size_t n_distinct, std::size_t depth, std::size_t n_outputs)
        : n_points((((n_distinct + 1) / 2) + lanes - 1) / lanes * lanes),
          n_outputs(n_outputs),
          rule(gauss_legendre(n_points)),
          product((depth + 1) * n_points),
          below((depth + 1) * n_points * n_outputs) {}

    double* product_at(std::size_t depth) { return product.data() + depth * n_points; }
    double* below_at(std::size_t depth) { return below.data() + depth * n_points * n_outputs; }

    std::size_t n_points, n_outputs;
    Quadrature rule;
    std::vector<double> product;       // of the factors above, at each level
    std::vector<double> below;         // of each output: leaves' values times products, added up
    std::vector<std::uint8_t> passes;  // of each step: whether the row passes its feature's tests
};

template <class T>
void PathShapley::walk(const T* x, Walk& walk, double* out) const {
    const std::size_t q = walk.n_points, k_all = n_outputs_;
    const double* point = walk.rule.point.data();
    const double* weight = walk.rule.weight.data();
    for (std::size_t g = 0; g < graphs_.size(); ++g) {
        const DecisionGraph& graph = graphs_[g];
        const auto& steps = steps_[g];
        walk.passes.resize(steps.size());
        const auto visit = [&](const auto& self, std::int32_t at, std::size_t depth,
                               bool row_is_here) -> void {
            const Step& step = steps[at];
            double* const below = walk.below_at(depth);
            double* const product = walk.product_at(depth);
            const bool passed = row_is_here && (step.same < 0 || walk.passes[step.same]);
            walk.passes[at] = passed;
            if (depth > 0 && !passed && step.share == 0) {  // no leaf below counts
                std::fill_n(below, q * k_all, 0.0);
                return;
            }
            // The factor of the step's feature, and that which it replaces.
            const double z = step.share, rise = passed - z;
            double z_above = 1, rise_above = 0;
            if (depth > 0) {
                if (step.same >= 0) {
                    z_above = steps[step.same].share;
                    rise_above = walk.passes[step.same] - z_above;
                }
                const double* const above = walk.product_at(depth - 1);
                for (std::size_t i = 0; i < q; ++i) {
                    product[i] =
                        above[i] * (z + point[i] * rise) / (z_above + point[i] * rise_above);
                }
            } else {
                std::fill_n(product, q, 1.0);
            }
            if (step.left < 0) {
                const auto value = graph.value_of(step.node);
                for (std::size_t k = 0; k < k_all; ++k) {
                    for (std::size_t i = 0; i < q; ++i) below[k * q + i] = value[k] * product[i];
                }
            } else {
                const bool go_left = graph.goes_left(step.node, x);
                self(self, step.left, depth + 1, go_left);
                std::copy_n(walk.below_at(depth + 1), q * k_all, below);
                self(self, step.right, depth + 1, !go_left);
                const double* const right = walk.below_at(depth + 1);
                for (std::size_t i = 0; i < q * k_all; ++i) below[i] += right[i];
            }
            if (depth == 0) return;
            std::array<double, 256> share;  // of the leaves below, at the points
            for (std::size_t first = 0; first < q; first += share.size()) {
                const std::size_t n = std::min(share.size(), q - first);
                for (std::size_t i = 0; i < n; ++i) {
                    const double t = point[first + i];
                    share[i] = weight[first + i] *
                               (rise / (z + t * rise) - rise_above / (z_above + t * rise_above));
                }
                double* const to = out + std::size_t(step.feature) * k_all;
                for (std::size_t k = 0; k < k_all; ++k) {
                    const double* const leaves = below + k * q + first;
                    std::array<double, lanes> sums{};
                    for (std::size_t i = 0; i < n; i += lanes) {
                        for (std::size_t l = 0; l < lanes; ++l) {
                            sums[l] += share[i + l] * leaves[i + l];
                        }
                    }
                    to[k] += (sums[0] + sums[1]) + (sums[2] + sums[3]);
                }
            }
        };
        visit(visit, 0, 0, true);
    }
}

template <class T>
void PathShapley::walk_pairs(const T* x, Walk& walk, double* out) const {
    const std::size_t q = walk.n_points, k_all = n_outputs_, p = n_features_;
    std::vector<std::int32_t> path;  // the last step of each distinct feature
    std::vector<double> factors, products(q);
    for (std::size_t g = 0; g < graphs_.size(); ++g) {
        const DecisionGraph& graph = graphs_[g];
        const auto& steps = steps_[g];
        walk.passes.resize(steps.size());
        const auto visit = [&](const auto& self, std::int32_t at, bool row_is_here) -> void {
            const Step& step = steps[at];
            walk.passes[at] = row_is_here && (step.same < 0 || walk.passes[step.same]);
            if (at > 0 && !walk.passes[at] && step.share == 0) return;
            const auto replaced = std::find(path.begin(), path.end(), step.same);
            const bool is_new = at > 0 && step.same < 0;
            const std::size_t place = is_new ? path.size() : std::size_t(replaced - path.begin());
            if (is_new) {
                path.push_back(at);
            } else if (at > 0) {
                path[place] = at;
            }
            if (step.left >= 0) {
                const bool go_left = graph.goes_left(step.node, x);
                self(self, step.left, go_left);
                self(self, step.right, !go_left);
            } else {
                const std::size_t n = path.size();
                factors.resize(n * q);
                std::copy(walk.rule.weight.begin(), walk.rule.weight.end(), products.begin());
                for (std::size_t a = 0; a < n; ++a) {
                    const double z = steps[path[a]].share, rise = walk.passes[path[a]] - z;
                    for (std::size_t i = 0; i < q; ++i) {
                        factors[a * q + i] = z + walk.rule.point[i] * rise;
                        products[i] *= factors[a * q + i];
                    }
                }
                const auto value = graph.value_of(step.node);
                const auto give = [&](std::size_t i, std::size_t j, double share) {
                    double* const to = out + (i * p + j) * k_all;
                    for (std::size_t k = 0; k < k_all; ++k) to[k] += share * value[k];
                };
                for (std::size_t a = 0; a < n; ++a) {
                    const Step& one = steps[path[a]];
                    const double rise = walk.passes[path[a]] - one.share;
                    double alone = 0;
                    for (std::size_t i = 0; i < q; ++i) alone += products[i] / factors[a * q + i];
                    give(one.feature, one.feature, rise * alone);
                    for (std::size_t b = 0; b < a; ++b) {
                        const Step& two = steps[path[b]];
                        double both = 0;
                        for (std::size_t i = 0; i < q; ++i) {
                            both += products[i] / factors[a * q + i] / factors[b * q + i];
                        }
                        both *= rise * (walk.passes[path[b]] - two.share) / 2;
                        give(one.feature, two.feature, both);
                        give(two.feature, one.feature, both);
                        give(one.feature, one.feature, -both);
                        give(two.feature, two.feature, -both);
                    }
                }
            }
            if (is_new) {
                path.pop_back();
            } else if (at > 0) {
                path[place] = step.same;
            }
        };
        visit(visit, 0, true);
    }
}

template <class T, class Body>
void PathShapley::for_rows(const T* x, std::size_t n_rows, std::size_t n_numbers, double* out,
                           Team& team, const Body& body) const {
    std::fill_n(out, n_rows * n_numbers, 0.0);
    std::vector<Walk> walks(team.size(), Walk(n_distinct_, depth_, n_outputs_));
    team.for_each(n_rows, [&](std::size_t row, int worker) {
        team.checkpoint(worker);
        body(x + row * n_features_, walks[worker], out + row * n_numbers);
    });
}

template <class T>
void PathShapley::values(const T* x, std::size_t n_rows, double* out, Team& team) const {
    for_rows(x, n_rows, std::size_t(n_features_) * n_outputs_, out, team,
             [&](const T* row, Walk& on, double* to) { walk(row, on, to); });
}

template <class T>
void PathShapley::interactions(const T* x, std::size_t n_rows, double* out, Team& team) const {
    for_rows(x, n_rows, std::size_t(n_features_) * n_features_ * n_outputs_, out, team,
             [&](const T* row, Walk& on, double* to) { walk_pairs(row, on, to); });
}

namespace {

// Which way each row goes at each test, whether it gets there or not.
template <class T>
std::vector<std::uint8_t> turns(const DecisionGraph& graph, const T* x, std::size_t n_rows) {
    std::vector<std::uint8_t> left(n_rows * graph.n_nodes());
    for (std::size_t row = 0; row < n_rows; ++row) {
        for (std::size_t node = 0; node < graph.n_nodes(); ++node) {
            if (graph.is_leaf(std::int32_t(node))) continue;
            left[row * graph.n_nodes() + node] =
                graph.goes_left(std::int32_t(node), x + row * graph.n_features);
        }
    }
    return left;
}

// Two rows on their way through one graph: features on which they have parted, and whose side each
// path is on.
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
    void walk(const DecisionGraph& graph, const std::uint8_t* row, const std::uint8_t* other,
              double scale, double* out) {
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
            const bool row = row_[node], other = other_[node];
            const std::uint8_t side = side_[feature];
            if (side == open && row != other) {
                part(feature, of_row, graph.child(node, row));
                part(feature, of_other, graph.child(node, other));
                return;
            }
            node = graph.child(node, side == of_other ? other : row);
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
    const std::uint8_t *row_ = nullptr, *other_ = nullptr;
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
    std::vector<Pair> pairs(team.size(), Pair(std::uint32_t(p), most));
    constexpr std::size_t rows_per_task = 16;
    for (const DecisionGraph* graph : graphs) {
        const auto others = turns(*graph, background, n_background);
        team.for_each(
            (n_rows + rows_per_task - 1) / rows_per_task, [&](std::size_t task, int worker) {
                const std::size_t begin = task * rows_per_task;
                const std::size_t end = std::min(begin + rows_per_task, n_rows);
                const auto left = turns(*graph, x + begin * p, end - begin);
                for (std::size_t row = begin; row < end; ++row) {
                    team.checkpoint(worker);
                    for (std::size_t other = 0; other < n_background; ++other) {
                        pairs[worker].walk(*graph, left.data() + (row - begin) * graph->n_nodes(),
                                           others.data() + other * graph->n_nodes(),
                                           1.0 / double(n_background), out + row * size);
                    }
                }
            });
    }
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
