// From the caller's rows and weights to those that one tree is grown on.
#pragma once

#include <span>
#include <vector>

#include "base/parallel.hpp"
#include "data/row_codes.hpp"
#include "graph/decision_graph.hpp"
#include "grow/params.hpp"
#include "grow/targets.hpp"

namespace hedgerow {

// The rows that count, with their weights.
struct Sample {
    std::vector<Row> rows;
    std::vector<double> weights;       // empty: all one
    bool integral = true;              // class counts fit into 32-bit integers
    const RowCodes* by_row = nullptr;  // the data set's codes, where there is a copy by row
    DecisionGraph memory;              // of an earlier tree, to be used again

    Sample(std::vector<Row> rows, std::vector<double> weights);

    // Puts the rows in the order of their classes. Splits keep it, so rows of a class can be
    // counted together in every node (see grow/left_stats.hpp).
    void sort_by_class(std::span<const std::int32_t> classes, std::uint32_t n_classes);
    // Puts the rows in the order of their targets; those of the same one stay as they are.
    void sort_by_number(std::span<const double> numbers);
};

// The tree of a sample, pruned.
DecisionGraph grow_sample(const Dataset&, Sample, const GrowTargets&, const GrowParams&, Team&);

}  // namespace hedgerow
