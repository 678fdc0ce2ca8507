// Alternating optimisation of the tests of a sum, against what the other members leave over.
//
// Node by node, children before parents: while all other tests and all leaf values stand, a test
// becomes the one that lowers the loss most (to second order), as in trees (tao/fine_tune.hpp).
#pragma once

#include <utility>
#include <vector>

#include "additive/tree_sum_members.hpp"
#include "additive/tree_sum_refit.hpp"
#include "additive/tree_sum_table.hpp"
#include "base/parallel.hpp"
#include "tao/node_search.hpp"

namespace hedgerow {

class SumTuner {
  public:
    SumTuner(const SumTable& table, SumMembers& members, const SumFit& fit,
             std::uint32_t min_samples_leaf, Team& team);

    using Changed = std::vector<std::pair<std::int32_t, SumTest>>;  // nodes and their tests before
    // Changes the tests of a member where that lowers the loss; every leaf keeps enough rows.
    Changed tune(std::size_t member);
    // Takes changes back, the last first.
    void undo(const Changed& changed);

  private:
    SumTest better_test(std::int32_t at);
    bool leaves_have_rows(std::int32_t at) const;

    const SumTable& table_;
    SumMembers& members_;
    const SumFit& fit_;
    const std::uint32_t min_samples_leaf_;
    Team& team_;
    std::vector<SumMembers::Column> start_;  // columns that the derivatives are of
    std::vector<tao::FeatureSearch> searches_;
    tao::Care care_;
};

}  // namespace hedgerow
