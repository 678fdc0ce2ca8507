// One tree of a round: grown leaf by leaf, the split of largest gain first.
//
// 1. The rows of the root are counted in histograms.
// 2. Of all leaves the one whose split gains most is divided; its rows keep their order.
// 3. The smaller child is counted, the larger one's histograms are the parent's less these.
// 4. Values of leaves are Newton steps, or quantiles of what is left of the targets.
//
// Cost: rows x features for each level that is counted, less than half of the rows of a level.
// Nothing depends on the number of threads.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/parallel.hpp"
#include "boost/histogram.hpp"
#include "boost/params.hpp"
#include "boost/split.hpp"
#include "graph/decision_graph.hpp"

namespace hedgerow {

// A leaf of a grown tree and its rows, as a range of the list that it was grown on.
struct LeafRows {
    double value;
    std::uint32_t begin, end;
};

struct BoostedTree {
    DecisionGraph graph;  // in preorder
    std::vector<LeafRows> leaves;
};

// What is left of the targets, for losses whose leaves are quantiles.
struct Residuals {
    const LossTargets& targets;
    const double* scores;
    double level;

    double quantile_of(std::span<const Row> rows) const;
};

class TreeBooster {
  public:
    TreeBooster(const BoostTable& table, const BoostParams& params);

    // Divides `rows` among the leaves. `key` is for the features that nodes draw.
    BoostedTree grow(std::span<Row> rows, const RowValues& values,
                     const std::optional<Residuals>& residuals, std::uint64_t key, Team& team);

  private:
    struct Node;
    class Growth;

    const BoostTable& table_;
    const BoostParams& params_;
    std::vector<std::vector<std::uint8_t>> in_group_;  // by group, then feature
    // Memory that trees hand on.
    std::vector<std::unique_ptr<Histograms>> free_;
    std::size_t free_width_ = 0;
    std::vector<std::vector<std::int64_t>> spare_;
    std::vector<Row> waiting_;
};

}  // namespace hedgerow
