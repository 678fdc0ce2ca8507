#include "graph/graph_sum.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

#include "base/exponential.hpp"

namespace hedgerow {

Link link_of(const std::string& name) {
    if (name == "identity") return Link::identity;
    if (name == "log") return Link::log;
    if (name == "logit") return Link::logit;
    if (name == "softmax") return Link::softmax;
    throw std::invalid_argument("unknown link '" + name + "'");
}

namespace {
void link_row(Link link, const double* scores, std::size_t k, double* values) {
    switch (link) {
        case Link::identity:
            std::copy_n(scores, k, values);
            return;
        case Link::log:
            std::transform(scores, scores + k, values, exponential);
            return;
        case Link::logit: {
            const double score = *scores;
            values[0] = 1 / (1 + exponential(score));
            values[1] = 1 / (1 + exponential(-score));
            return;
        }
        case Link::softmax: {
            const double largest = *std::max_element(scores, scores + k);
            double total = 0;
            for (std::size_t i = 0; i < k; ++i) {
                total += values[i] = exponential(scores[i] - largest);
            }
            for (std::size_t i = 0; i < k; ++i) values[i] /= total;
            return;
        }
    }
}
}  // namespace

void link_scores(Link link, const double* scores, std::size_t n_rows, std::size_t n_scores,
                 double* values, Team& team) {
    constexpr std::size_t rows_per_task = 4096;
    const std::size_t n_values = n_linked(link, n_scores);
    team.for_each((n_rows + rows_per_task - 1) / rows_per_task, [&](std::size_t task, int) {
        const std::size_t end = std::min((task + 1) * rows_per_task, n_rows);
        for (std::size_t row = task * rows_per_task; row < end; ++row) {
            link_row(link, scores + row * n_scores, n_scores, values + row * n_values);
        }
    });
}

GraphSum::GraphSum(std::uint32_t n_features, std::span<const DecisionGraph* const> graphs,
                   std::vector<double> intercept, Link link)
    : graphs_(n_features, graphs.empty() ? 1 : graphs[0]->n_outputs),
      intercept_(std::move(intercept)),
      link_(link) {
    const std::size_t k = intercept_.size();
    if (k == 0 || (link == Link::logit && k != 1)) {
        throw std::invalid_argument("a sum of graphs has another number of scores");
    }
    if (!std::all_of(intercept_.begin(), intercept_.end(),
                     [](double v) { return std::isfinite(v); })) {
        throw std::invalid_argument("the intercept of a sum of graphs is not finite");
    }
    for (const DecisionGraph* graph : graphs) {
        if (graph->n_features != n_features || (graph->n_outputs != 1 && graph->n_outputs != k) ||
            graph->n_outputs != graphs[0]->n_outputs) {
            throw std::invalid_argument("a graph has other features or outputs than its sum");
        }
        graphs_.add(*graph);
    }
    if (graphs_.n_outputs() == 1 && graphs_.n_graphs() % k != 0) {
        throw std::invalid_argument("a sum of graphs needs as many graphs for each score");
    }
    graphs_.seal();
}

std::size_t GraphSum::nbytes() const {
    return graphs_.nbytes() + intercept_.size() * sizeof(double);
}

template <class T>
void GraphSum::scores(const T* x, std::size_t n_rows, double* out, Team& team) const {
    graphs_.add_up(x, n_rows, intercept_, out, team);
}

template <class T>
void GraphSum::predict(const T* x, std::size_t n_rows, double* out, Team& team) const {
    if (link_ == Link::identity) return scores(x, n_rows, out, team);
    std::vector<double> sums(n_rows * n_scores());
    scores(x, n_rows, sums.data(), team);
    link(sums.data(), n_rows, out, team);
}

template <class T>
void GraphSum::predict_row(const T* x, double* out) const {
    const std::size_t k = n_scores();
    std::array<double, 64> few;
    std::vector<double> many(k > few.size() ? k : 0);
    double* sums = many.empty() ? few.data() : many.data();
    std::copy(intercept_.begin(), intercept_.end(), sums);
    const bool in_turns = graphs_.n_outputs() == 1;
    for (std::size_t g = 0; g < n_graphs(); ++g) {
        graphs_.add_value_of(g, x, sums + (in_turns ? g % k : 0));
    }
    link_row(link_, sums, k, out);
}

template void GraphSum::scores(const float*, std::size_t, double*, Team&) const;
template void GraphSum::scores(const double*, std::size_t, double*, Team&) const;
template void GraphSum::predict(const float*, std::size_t, double*, Team&) const;
template void GraphSum::predict(const double*, std::size_t, double*, Team&) const;
template void GraphSum::predict_row(const float*, double*) const;
template void GraphSum::predict_row(const double*, double*) const;

}  // namespace hedgerow
