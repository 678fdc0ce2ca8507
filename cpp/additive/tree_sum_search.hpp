// The best split of each leaf of a sum, and of the root of a new member.
//
// cell      sums over the rows of a leaf with one code of one feature: their number, and for each
//           score minus the first and the second derivatives of the loss
//
// Derivatives change everywhere after each fit of all leaves, so histograms cannot be kept. Those
// of all rows are counted once a step; in each member they are the sum of its leaves', so its
// largest leaf is not counted but left over. Features are taken in groups whose cells fit the
// cache.
//
// Categories are put in order once, by what all rows say before anything is learnt, and each leaf
// is cut along that order: an order of its own in each leaf fits noise where there are many
// categories.
//
// Where the ridge is that of the evidence, gains are damped: gain = G^2 / (H + damping) summed over
// both sides, with a multiple of the ridge. And numbers that are noisier in a leaf than in all rows
// must gain more there: by chance they do. With a ridge that was asked for, the gain is what the
// split takes off the penalised loss.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "additive/tree_sum.hpp"
#include "additive/tree_sum_members.hpp"
#include "additive/tree_sum_refit.hpp"
#include "additive/tree_sum_table.hpp"
#include "base/parallel.hpp"

namespace hedgerow {

// A split and what it gains. Numbers: neighbouring present codes `a` and `b` are separated; b is
// the code of missing values where these alone go right. Categories: the present codes of each
// side.
struct SumSplit {
    double gain = -1;
    std::int32_t feature = -1;
    bool categorical = false;
    bool missing_left = false;  // also where values that are not there later go
    std::uint32_t a = 0, b = 0;
    std::vector<std::uint32_t> left_codes, right_codes;

    bool found() const { return feature >= 0; }
};

class SumSearch {
  public:
    SumSearch(const SumTable& table, const SumMembers& members, const SumFit& fit,
              const TreeSumParams& params, Team& team);

    // To be called after each fit.
    void read_derivatives();

    // The best split of each leaf, by its column; that of a new root, in column 0.
    std::vector<SumSplit> all();
    // The best split of one leaf, or of a new root (-1).
    SumSplit one(std::int32_t leaf);

    // The test of a split; thresholds that were used before are taken again where they do as well.
    SumTest test_of(const SumSplit& split) const;
    void use(const SumTest& test);
    void recount_used();  // after splits were taken out or changed

  private:
    struct Group {
        std::size_t begin, end;  // features
    };
    struct Leaf {
        std::uint64_t key = 0;
        std::uint32_t n_rows = 0;
        std::uint32_t column = 0;  // 0: a new root, whose value is zero
        bool may_split = false;
        double price = 0;  // of a split, for the noise of the rows
    };
    struct Buffers {
        std::vector<double> rest, leaf;
    };

    void order_categories();
    Leaf leaf_of(std::int32_t at) const;
    double noise_of(std::span<const std::uint32_t> rows) const;
    std::size_t cells_of(const Group& group) const {
        return table_.first_cell(group.end) - table_.first_cell(group.begin);
    }
    void count(const Group& group, const std::uint32_t* rows, std::size_t n, double* cells) const;
    void search(const Group& group, const Leaf& leaf, const double* cells, SumSplit& best) const;
    template <bool one_score>
    void scan(const Group& group, const Leaf& leaf, const double* cells, SumSplit& best) const;
    std::vector<std::uint32_t> ordered_categories(const double* cells, std::uint32_t n_bins,
                                                  double smoothing) const;
    bool is_used(std::int32_t feature, std::uint32_t a, std::uint32_t b) const;
    void take_better(SumSplit& best, SumSplit& found, const Leaf& leaf) const;

    const SumTable& table_;
    const SumMembers& members_;
    const SumFit& fit_;
    const TreeSumParams& params_;
    Team& team_;
    const std::uint32_t n_scores_;
    const std::size_t width_;                       // of a cell, in numbers
    const double feature_price_, threshold_price_;  // in units of the loss
    std::vector<Group> groups_;
    std::vector<double> derivatives_;  // a cell for each row
    double noise_ = 0;                 // of a row: its squared derivative over the second one
    std::vector<Buffers> buffers_;     // by worker
    std::vector<std::vector<std::uint32_t>> category_orders_;  // by feature
    std::vector<std::uint8_t> feature_used_;
    std::vector<std::vector<SumTest>> used_;  // by feature, numbers only
};

}  // namespace hedgerow
