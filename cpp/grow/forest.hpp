// Many trees on one binned data set.
//
// member   tree number i of a forest; it depends on (seed, i) and the data alone, so growing 50 and
//          then 50 more gives the same 100 as growing them at once, on any number of threads
// bag      the rows a member was grown on, kept as multiplicities
// unseen   rows that a member is asked about although it did not learn from them: those out of its
//          bag, or those held out from the whole forest, such as a fold of a cross-validation
//
// Threads take whole trees. A finished tree is packed at once (16 bytes a node) in the order of the
// members; its unseen rows are routed by their codes while the tree is still at hand.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "graph/packed.hpp"
#include "grow/grower.hpp"

namespace hedgerow {

struct ForestParams {
    GrowParams tree;  // its seed is replaced by each member's
    std::uint64_t seed = 0;
    bool bootstrap = true;            // draw with replacement
    std::uint32_t n_draws = 0;        // rows drawn for each bag
    bool balanced_subsample = false;  // weigh classes by their frequency in each bag
    bool by_row = false;              // how often a row is drawn follows from its number alone
    std::uint64_t first = 0;          // number of the first member of the forest that is grown
};

// How often each row is in member i's bag.
std::vector<std::uint32_t> bag_of(const ForestParams& params, std::size_t n_rows,
                                  std::uint64_t member);

// The same for some neighbouring rows, where `by_row` holds: Poisson numbers, on average as many
// rows as are to be drawn.
std::vector<std::uint32_t> bag_of_rows(const ForestParams& params, std::size_t n_rows,
                                       std::uint64_t member, std::size_t first, std::size_t n);

// What member i's tree draws from.
std::uint64_t seed_of_tree(const ForestParams& params, std::uint64_t member);

struct Unseen {
    bool out_of_bag = false;    // ask each member about the rows that it did not draw
    std::span<const Row> held;  // ask every member about these
    std::vector<double> sums;   // n_rows x n_outputs, over the members that were asked about a row
    std::vector<std::uint32_t> counts;  // how many these are
};

struct Forest : PackedGraphs {
    using PackedGraphs::PackedGraphs;
    Forest(PackedGraphs graphs, std::vector<double> shares)
        : PackedGraphs(std::move(graphs)), importances(std::move(shares)) {}

    // The members of forests, one after the other.
    static Forest joined(std::uint32_t n_features, std::uint32_t n_outputs,
                         std::span<const Forest* const> parts);

    // Adds a tree with its importances.
    void add_member(const DecisionGraph& graph);

    std::vector<double> importances;  // n_features shares for each member
};

// Grows n_trees further members of a forest, numbered from `first` and how many it has, on the
// given rows, none of them twice. `done` counts finished trees.
void grow_forest(const Dataset& data, const RowChoice& rows, const GrowTargets& targets,
                 const ForestParams& params, std::size_t n_trees, Forest& forest, Unseen* unseen,
                 std::atomic<std::size_t>& done, Team& team);

// By how much each member's loss on its out-of-bag rows rises when a feature is shuffled among
// them: n_members x n_features, in shares of rows (classes) or squared units. Rows of `x` are the
// training rows, contiguous. NaN for a member without out-of-bag rows.
template <class T>
std::vector<double> out_of_bag_importances(const Forest& forest, const ForestParams& params,
                                           const T* x, std::size_t n_rows,
                                           const GrowTargets& targets, Team& team);

}  // namespace hedgerow
