// A sum of graphs: scores of a row, and what they say through a link.
//
// score    a number that graphs add to: the intercept, then the value of the row's leaf in each
//          graph, in order. Graphs of one output take turns: graph g adds to score g % n_scores, as
//          in boosting with a tree for each class; graphs of several outputs add to all scores.
// value    what a row gets: the score itself, its exponential, or probabilities of classes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "graph/packed.hpp"

namespace hedgerow {

enum class Link : std::uint8_t {
    identity,  // values are scores
    log,       // values are exponentials of scores
    logit,     // one score: the log-odds of the second of two classes
    softmax,   // a score for each class
};

Link link_of(const std::string& name);
// How many values n scores become.
inline std::size_t n_linked(Link link, std::size_t n) { return link == Link::logit ? 2 : n; }
// Values of rows out of their scores, `n_scores` a row; sums are taken in the order of the scores.
void link_scores(Link link, const double* scores, std::size_t n_rows, std::size_t n_scores,
                 double* values, Team& team);

class GraphSum {
  public:
    // The graphs may be none: then every row has the intercept.
    GraphSum(std::uint32_t n_features, std::span<const DecisionGraph* const> graphs,
             std::vector<double> intercept, Link link);

    std::uint32_t n_features() const { return graphs_.n_features(); }
    std::size_t n_graphs() const { return graphs_.n_graphs(); }
    std::size_t n_scores() const { return intercept_.size(); }
    std::size_t n_values() const { return n_linked(link_, intercept_.size()); }
    std::size_t nbytes() const;
    const PackedGraphs& graphs() const { return graphs_; }

    // n_rows x n_scores numbers. Rows are contiguous; infinite numbers are refused.
    template <class T>
    void scores(const T* x, std::size_t n_rows, double* out, Team& team) const;
    // n_rows x n_values numbers.
    template <class T>
    void predict(const T* x, std::size_t n_rows, double* out, Team& team) const;
    // The values of one row, without a team.
    template <class T>
    void predict_row(const T* x, double* out) const;
    // Values of rows out of their scores.
    void link(const double* scores, std::size_t n_rows, double* values, Team& team) const {
        link_scores(link_, scores, n_rows, n_scores(), values, team);
    }

  private:
    PackedGraphs graphs_;
    std::vector<double> intercept_;
    Link link_;
};

}  // namespace hedgerow
