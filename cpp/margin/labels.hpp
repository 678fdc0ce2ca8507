// The labels of a node: their centre, their spread, and their division into two groups.
//
// label     a vector: one place per class holding a one, or the numbers of a regression
// centre    the weighted mean of the labels: class shares, or mean numbers
// groups    a label is in group T when (label - centre) . c >= 0, in group F otherwise, where c is
//           the first principal component of the labels
//
// The component is found as in the paper (its Figure 3): ten steps of the power method. The start
// is fixed, (1, sqrt 2, sqrt 3, ...), unless a seed asks for the paper's random one. It rises with
// the class number, so two classes give T = the second one and one number gives T = "at least the
// mean", with a seed as well: there the start does not matter.
//
// Cost: O(rows) for classes (the steps work on class shares), O(steps rows outputs) for numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "data/dataset.hpp"
#include "grow/params.hpp"

namespace hedgerow {

// `classes` or `numbers` (n_outputs a row), and `weights` (may be empty), indexed by row.
struct Labels {
    std::span<const std::int32_t> classes;
    std::span<const double> numbers;
    std::span<const double> weights;
    std::uint32_t n_outputs = 1;             // classes, or numbers a row
    int n_steps = 10;                        // of the power method
    std::optional<std::uint64_t> seed = {};  // of its start, drawn anew for each set of rows

    double weight(Row row) const { return weights.empty() ? 1.0 : weights[row]; }

    // Writes the centre of the rows' labels; returns their total weight.
    double centre(std::span<const Row> rows, double* centre) const;

    // By the criterion for classes; for numbers the mean squared distance to the centre.
    double impurity(std::span<const Row> rows, double weight, std::span<const double> centre,
                    GrowParams::Criterion criterion) const;

    // Room for the classes of a node, kept from node to node.
    struct Workspace {
        std::vector<std::uint8_t> in_t;  // by class
        std::vector<std::uint32_t> present;
        std::vector<double> shares, component, next;
    };

    // Writes 1 for rows of group T, 0 for group F; returns the number of rows in T.
    std::size_t divide(std::span<const Row> rows, std::span<const double> centre,
                       std::uint8_t* in_t, Workspace& work) const;

  private:
    void divide_classes(std::span<const Row> rows, std::span<const double> shares,
                        Workspace& work) const;
    void start(std::span<const Row> rows, Workspace& work) const;
};

}  // namespace hedgerow
