#include <algorithm>
#include <bit>
#include <cmath>

#include "explain/shapley.hpp"

namespace hedgerow {
namespace {

using Mask = std::uint64_t;  // a bit for each background row
constexpr std::size_t most_together = 64;
constexpr std::size_t rows_per_task = 32;  // they go through a graph while it is in the cache

template <class Body>
void for_bits(Mask mask, const Body& body) {
    for (; mask; mask &= mask - 1) body(static_cast<std::size_t>(std::countr_zero(mask)));
}

// What a leaf counts that `a` features of the row and `b` of the other row lead to.
class Worth {
  public:
    explicit Worth(std::size_t most) : size_(most + 1), worth_(size_ * size_) {
        for (std::size_t a = 1; a <= most; ++a) {
            for (std::size_t b = 0; a + b <= most; ++b) {
                worth_[a * size_ + b] =
                    std::exp(std::lgamma(double(a)) + std::lgamma(double(b) + 1) -
                             std::lgamma(double(a + b) + 1));
            }
        }
    }
    double operator()(std::size_t a, std::size_t b) const { return worth_[a * size_ + b]; }

  private:
    std::size_t size_;
    std::vector<double> worth_;
};

// For every node, whose numbers go left among up to 64 rows.
template <class T>
std::vector<Mask> who_goes_left(const DecisionGraph& graph, const T* rows, std::size_t n) {
    const std::size_t p = graph.n_features;
    std::vector<double> columns(p * most_together);
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t f = 0; f < p; ++f) columns[f * most_together + i] = rows[i * p + f];
    }
    std::vector<Mask> left(graph.n_nodes());
    for (std::size_t at = 0; at < graph.n_nodes(); ++at) {
        const auto node = static_cast<std::int32_t>(at);
        if (graph.is_leaf(node)) continue;
        const double* const column = columns.data() + graph.feature[at] * most_together;
        const double threshold = graph.threshold[at];
        const bool missing = graph.missing_left[at];
        for (std::size_t i = 0; i < n; ++i) {
            const bool is_left =
                static_cast<Kind>(graph.kind[at]) == Kind::axis
                    ? number_goes_left(column[i], threshold, missing)
                    : graph.tests.goes_left(graph.detail[at], column[i], threshold, missing);
            left[at] |= Mask{is_left} << i;
        }
    }
    return left;
}

// A row and up to 64 background rows on their way through one graph together: for each feature, who
// has parted from the row on it and goes on by the row's number or by its own. Where they part, the
// feature gets what the leaves on both sides add to the sums of those that part.
template <class T>
class Together {
  public:
    Together(std::uint32_t n_features, std::uint32_t n_outputs, const Worth& worth)
        : worth_(worth),
          by_row_(n_features),
          by_own_(n_features),
          n_outputs_(n_outputs),
          sums_(2 * most_together * n_outputs) {}

    // Adds `scale` times the Shapley values of a row against n background rows, where `left` tells
    // of every node whose numbers go left.
    void walk(const DecisionGraph& graph, const Mask* left, std::size_t n, const T* row,
              double scale, double* out) {
        graph_ = &graph;
        left_ = left;
        row_ = row;
        scale_ = scale;
        out_ = out;
        std::fill_n(sums_.begin(), 2 * n * n_outputs_, 0.0);
        visit(0, n == most_together ? ~Mask{0} : (Mask{1} << n) - 1);
    }

  private:
    enum Side { of_row, of_own };
    double* sum(std::size_t i, Side side) { return sums_.data() + (2 * i + side) * n_outputs_; }

    void visit(std::int32_t node, Mask here) {
        const DecisionGraph& graph = *graph_;
        while (!graph.is_leaf(node)) {
            const std::int32_t feature = graph.feature[node];
            const bool left = graph.goes_left(node, row_);
            const Mask by_row = by_row_[feature], by_own = by_own_[feature];
            const Mask row_way =
                left ? left_[node] : ~left_[node];  // whose numbers go with the row
            const Mask others = here & ~by_row & ~row_way;
            const Mask parting = others & ~by_own;  // they are on both sides from now on
            const Mask with_row = here & (by_row | row_way | parting);
            const std::int32_t near = graph.child(node, left), far = graph.child(node, !left);
            if (parting) {
                by_row_[feature] = by_row | parting;
                part(feature, parting, n_by_row_, of_row, scale_, near, with_row);
                by_row_[feature] = by_row;
                by_own_[feature] = by_own | parting;
                part(feature, parting, n_by_own_, of_own, -scale_, far, others);
                by_own_[feature] = by_own;
                return;
            }
            if (others && with_row) visit(near, with_row);
            here = others ? others : with_row;
            node = others ? far : near;
        }
        const auto value = graph.value_of(node);
        for_bits(here, [&](std::size_t i) {
            const double for_row = worth_(n_by_row_[i], n_by_own_[i]);
            const double for_own = worth_(n_by_own_[i], n_by_row_[i]);
            double* const to_row = sum(i, of_row);
            double* const to_own = sum(i, of_own);
            for (std::size_t k = 0; k < n_outputs_; ++k) {
                to_row[k] += for_row * value[k];
                to_own[k] += for_own * value[k];
            }
        });
    }
    // One side of a test that some part on.
    void part(std::int32_t feature, Mask parting, std::uint32_t* counts, Side side, double scale,
              std::int32_t node, Mask here) {
        const std::size_t first = before_.size();
        for_bits(parting, [&](std::size_t i) {
            ++counts[i];
            before_.insert(before_.end(), sum(i, side), sum(i, side) + n_outputs_);
        });
        visit(node, here);
        double* const to = out_ + std::size_t(feature) * n_outputs_;
        const double* before = before_.data() + first;
        for_bits(parting, [&](std::size_t i) {
            --counts[i];
            const double* const after = sum(i, side);
            for (std::size_t k = 0; k < n_outputs_; ++k) to[k] += scale * (after[k] - before[k]);
            before += n_outputs_;
        });
        before_.resize(first);
    }

    const Worth& worth_;
    const DecisionGraph* graph_ = nullptr;
    const T* row_ = nullptr;
    double scale_ = 1;
    double* out_ = nullptr;
    const Mask* left_ = nullptr;
    std::vector<Mask> by_row_, by_own_;  // by feature: who parted, and goes by whose number
    std::size_t n_outputs_;
    std::vector<double> sums_;    // of the leaves, for both sides of each background row
    std::vector<double> before_;  // sums before the tests on the way
    std::uint32_t n_by_row_[most_together] = {}, n_by_own_[most_together] = {};
};

}  // namespace

template <class T>
void background_shapley(std::span<const DecisionGraph* const> graphs, const T* x,
                        std::size_t n_rows, const T* background, std::size_t n_background,
                        double* out, Team& team) {
    if (graphs.empty()) return;
    const std::uint32_t p = graphs[0]->n_features, n_outputs = graphs[0]->n_outputs;
    const std::size_t size = std::size_t(p) * n_outputs;
    std::fill_n(out, n_rows * size, 0.0);
    std::size_t most = 1;  // features on a path
    for (const DecisionGraph* graph : graphs) {
        refuse_oblique(*graph);
        most = std::max(most, std::min<std::size_t>(graph->depth(), p));
    }
    const Worth worth(most);
    const double scale = 1.0 / double(n_background);
    std::vector<Together<T>> together(team.size(), Together<T>(p, n_outputs, worth));
    std::vector<std::vector<Mask>> left(graphs.size());
    for (std::size_t first = 0; first < n_background; first += most_together) {
        const std::size_t n = std::min(most_together, n_background - first);
        team.for_each(graphs.size(), [&](std::size_t g, int) {
            left[g] = who_goes_left(*graphs[g], background + first * p, n);
        });
        const std::size_t n_tasks = (n_rows + rows_per_task - 1) / rows_per_task;
        team.for_each(n_tasks, [&](std::size_t task, int worker) {
            const std::size_t end = std::min((task + 1) * rows_per_task, n_rows);
            for (std::size_t g = 0; g < graphs.size(); ++g) {
                team.checkpoint(worker);
                for (std::size_t row = task * rows_per_task; row < end; ++row) {
                    together[worker].walk(*graphs[g], left[g].data(), n, x + row * p, scale,
                                          out + row * size);
                }
            }
        });
    }
}

template void background_shapley(std::span<const DecisionGraph* const>, const float*, std::size_t,
                                 const float*, std::size_t, double*, Team&);
template void background_shapley(std::span<const DecisionGraph* const>, const double*, std::size_t,
                                 const double*, std::size_t, double*, Team&);

}  // namespace hedgerow
