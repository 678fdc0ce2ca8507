#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <stdexcept>

#include "explain/quadrature.hpp"
#include "explain/shapley.hpp"

namespace hedgerow {

namespace {

constexpr std::size_t most_steps = std::size_t{1} << 26;
constexpr std::size_t lanes = 8;           // rows that go through a graph side by side
constexpr std::size_t rows_per_task = 32;  // they go through a graph while it is in the cache

using Eight = std::array<double, lanes>;
using Choice = std::array<std::int64_t, lanes>;  // all bits or none

// One of two numbers, without a branch: the compiler makes vectors of this.
double chosen(std::int64_t choice, double one, double other) {
    return std::bit_cast<double>((std::bit_cast<std::int64_t>(one) & choice) |
                                 (std::bit_cast<std::int64_t>(other) & ~choice));
}

Choice spread(std::uint8_t rows) {
    Choice out;
    for (std::size_t r = 0; r < lanes; ++r) out[r] = -static_cast<std::int64_t>(rows >> r & 1);
    return out;
}

}  // namespace

void refuse_oblique(const DecisionGraph& graph) {
    const bool is_oblique = std::any_of(graph.kind.begin(), graph.kind.end(), [](auto kind) {
        return static_cast<Kind>(kind) == Kind::oblique;
    });
    if (is_oblique) {
        throw std::invalid_argument(
            "Shapley values need tests of one feature each; this model has oblique tests.");
    }
}

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
    note_outputs(steps[at], steps[steps[at].left], steps[steps[at].right]);
    return at;
}

void PathShapley::note_outputs(Step& step, const Step& left, const Step& right) {
    std::vector<std::uint32_t> below;
    for (const Step* child : {&left, &right}) {
        const bool is_leaf = child->left < 0;
        for (std::uint32_t i = child->first; i < child->end; ++i) {
            below.push_back(is_leaf ? values_[i].output : outputs_[i]);
        }
    }
    std::sort(below.begin(), below.end());
    step.first = static_cast<std::uint32_t>(outputs_.size());
    outputs_.insert(outputs_.end(), below.begin(), std::unique(below.begin(), below.end()));
    step.end = static_cast<std::uint32_t>(outputs_.size());
}

// Eight rows on their way through a graph. Down: the products of all factors at the points. Up: for
// each output, the sum of value times product over the leaves below. A test of a feature brings the
// row's factor, and gives the feature the sum of the leaves below times the share of the factor
// that is the feature's: rise over factor, less that of the last test of the feature above, which
// gives for the same leaves.
template <class T>
class PathShapley::Walk {
  public:
    Walk(const PathShapley& shapley, const Quadrature& rule)
        : shapley_(shapley),
          rule_(rule),
          products_((shapley.depth_ + 1) * n_points()),
          weights_((shapley.depth_ + 1) * n_points()),
          sums_((shapley.depth_ + 1) * shapley.n_outputs_ * n_points()),
          numbers_(shapley.n_features_),
          near_(n_points()),
          far_(n_points()),
          gives_(n_points()),
          takes_(n_points()),
          takes_all_(n_points()) {
        for (std::size_t i = 0; i < n_points(); ++i) {
            products_[i].fill(rule.weight[i]);
            takes_all_[i] = -1 / (1 - rule.point[i]);
        }
    }

    // Adds the values of up to eight rows; x(r) is the r-th.
    template <class RowOf>
    void walk(std::size_t graph, std::size_t n_rows, const RowOf& x, Eight* out) {
        graph_ = shapley_.graphs_[graph];
        steps_ = shapley_.steps_[graph].data();
        out_ = out;
        passes_.resize(shapley_.steps_[graph].size());
        for (std::size_t f = 0; f < numbers_.size(); ++f) {
            for (std::size_t r = 0; r < lanes; ++r) {
                numbers_[f][r] = static_cast<double>(x(std::min(r, n_rows - 1))[f]);
            }
        }
        visit(0, 0, every_row);
    }

  private:
    static constexpr std::uint8_t every_row = 0xff;

    std::size_t n_points() const { return rule_.point.size(); }
    Eight* sums_of(std::size_t level, std::uint32_t output) {
        return sums_.data() + (level * shapley_.n_outputs_ + output) * n_points();
    }

    void visit(std::int32_t at, std::size_t level, std::uint8_t rows) {
        const Step& step = steps_[at];
        if (level > 0) {
            const std::uint8_t before = step.same < 0 ? every_row : passes_[step.same];
            const std::uint8_t pass = rows & before;
            if (!pass && step.share == 0) return;  // no leaf below counts
            passes_[at] = pass;
            factor(step, level, pass, before);
        }
        if (step.left < 0) {
            if (level > 0) add_leaf(step, level);
            return;
        }
        for (std::uint32_t i = step.first; i < step.end; ++i) {
            std::fill_n(sums_of(level, shapley_.outputs_[i]), n_points(), Eight{});
        }
        const std::uint8_t left = rows_left(step.node);
        visit(step.left, level + 1, left);
        visit(step.right, level + 1, static_cast<std::uint8_t>(~left));
        if (level > 0) add_sums(step, level);
    }
    std::uint8_t rows_left(std::int32_t node) const {
        const DecisionGraph& graph = *graph_;
        const Eight& numbers = numbers_[graph.feature[node]];
        const double threshold = graph.threshold[node];
        const bool missing = graph.missing_left[node];
        std::uint8_t left = 0;
        if (static_cast<Kind>(graph.kind[node]) == Kind::axis) {
            for (std::size_t r = 0; r < lanes; ++r) {
                left |= number_goes_left(numbers[r], threshold, missing) << r;
            }
        } else {
            for (std::size_t r = 0; r < lanes; ++r) {
                left |= graph.tests.goes_left(graph.detail[node], numbers[r], threshold, missing)
                        << r;
            }
        }
        return left;
    }
    // The products with the step's factor in place of that of the last test of its feature, and
    // what the feature gets of the sums below: for rows that pass all tests of the feature, that
    // passed `before`, and others.
    void factor(const Step& step, std::size_t level, std::uint8_t pass, std::uint8_t before) {
        const Eight* const above = products_.data() + (level - 1) * n_points();
        Eight* const product = products_.data() + level * n_points();
        Eight* const weight = weights_.data() + level * n_points();
        const double z = step.share, last = step.same < 0 ? 1 : steps_[step.same].share;
        const double others = last > 0 ? z / last : 0;
        for (std::size_t i = 0; i < n_points(); ++i) {
            const double t = rule_.point[i], here = z + t * (1 - z);
            near_[i] = here;
            far_[i] = z * (1 - t);
            gives_[i] = (1 - z) / here;
            takes_[i] = takes_all_[i];
        }
        for (std::size_t i = 0; step.same >= 0 && i < n_points(); ++i) {
            const double part = 1 / (last + rule_.point[i] * (1 - last));
            near_[i] *= part;
            far_[i] *= part;
            gives_[i] -= (1 - last) * part;
            takes_[i] -= (1 - last) * part;
        }
        const Choice passes = spread(pass), passed = spread(before);
        for (std::size_t i = 0; i < n_points(); ++i) {
            const double near = near_[i], far = far_[i], gives = gives_[i], takes = takes_[i];
            for (std::size_t r = 0; r < lanes; ++r) {
                product[i][r] =
                    above[i][r] * chosen(passes[r], near, chosen(passed[r], far, others));
                weight[i][r] = chosen(passes[r], gives, chosen(passed[r], takes, 0.0));
            }
        }
    }
    void add_leaf(const Step& step, std::size_t level) {
        const Eight* const product = products_.data() + level * n_points();
        const Eight share = weighed(product, level);
        for (std::uint32_t v = step.first; v < step.end; ++v) {
            const auto [output, number] = shapley_.values_[v];
            give(step, output, share, number);
            Eight* const above = sums_of(level - 1, output);
            for (std::size_t i = 0; i < n_points(); ++i) {
                for (std::size_t r = 0; r < lanes; ++r) above[i][r] += number * product[i][r];
            }
        }
    }
    void add_sums(const Step& step, std::size_t level) {
        for (std::uint32_t o = step.first; o < step.end; ++o) {
            const std::uint32_t output = shapley_.outputs_[o];
            const Eight* const sums = sums_of(level, output);
            give(step, output, weighed(sums, level), 1);
            Eight* const above = sums_of(level - 1, output);
            for (std::size_t i = 0; i < n_points(); ++i) {
                for (std::size_t r = 0; r < lanes; ++r) above[i][r] += sums[i][r];
            }
        }
    }
    Eight weighed(const Eight* sums, std::size_t level) const {
        const Eight* const weight = weights_.data() + level * n_points();
        Eight out{};
        for (std::size_t i = 0; i < n_points(); ++i) {
            for (std::size_t r = 0; r < lanes; ++r) out[r] += sums[i][r] * weight[i][r];
        }
        return out;
    }
    void give(const Step& step, std::uint32_t output, const Eight& share, double number) {
        Eight& to = out_[std::size_t(step.feature) * shapley_.n_outputs_ + output];
        for (std::size_t r = 0; r < lanes; ++r) to[r] += number * share[r];
    }

    const PathShapley& shapley_;
    const Quadrature& rule_;
    const DecisionGraph* graph_ = nullptr;
    const Step* steps_ = nullptr;
    Eight* out_ = nullptr;
    std::vector<Eight> products_, weights_;  // at the points, by level
    std::vector<Eight> sums_;                // at the points, by level and output
    std::vector<Eight> numbers_;             // of the rows, by feature
    // Of a step, by point: factors of rows that pass and of others, and what its feature then gets.
    std::vector<double> near_, far_, gives_, takes_, takes_all_;
    std::vector<std::uint8_t> passes_;  // by step: the rows that pass, a bit for each
};

template <class T>
void PathShapley::values(const T* x, std::size_t n_rows, double* out, Team& team) const {
    const std::size_t size = std::size_t(n_features_) * n_outputs_;
    const Quadrature rule = gauss_legendre((n_distinct_ + 1) / 2);
    team.for_each((n_rows + rows_per_task - 1) / rows_per_task, [&](std::size_t task, int worker) {
        const std::size_t begin = task * rows_per_task;
        const std::size_t n = std::min(rows_per_task, n_rows - begin);
        Walk<T> walk(*this, rule);
        std::vector<Eight> sums((n + lanes - 1) / lanes * size);
        for (std::size_t g = 0; g < graphs_.size(); ++g) {
            team.checkpoint(worker);
            for (std::size_t first = 0; first < n; first += lanes) {
                const auto row_of = [&](std::size_t r) {
                    return x + (begin + first + r) * n_features_;
                };
                walk.walk(g, std::min(lanes, n - first), row_of,
                          sums.data() + first / lanes * size);
            }
        }
        for (std::size_t row = 0; row < n; ++row) {
            const Eight* const from = sums.data() + row / lanes * size;
            for (std::size_t i = 0; i < size; ++i) {
                out[(begin + row) * size + i] = from[i][row % lanes];
            }
        }
    });
}

template std::vector<double> left_shares(const DecisionGraph&, const float*, std::size_t);
template std::vector<double> left_shares(const DecisionGraph&, const double*, std::size_t);
template void PathShapley::values(const float*, std::size_t, double*, Team&) const;
template void PathShapley::values(const double*, std::size_t, double*, Team&) const;

}  // namespace hedgerow
