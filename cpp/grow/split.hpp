// Plain records passed between the stages of growing.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "data/dataset.hpp"

namespace hedgerow {

// How a tree is grown. Numbers that can be unlimited use -1 for "no limit".
struct GrowParams {
    enum class Criterion { gini, entropy, squared_error, poisson };
    enum class Splitter { best, random };

    Criterion criterion = Criterion::gini;
    Splitter splitter = Splitter::best;
    std::uint32_t n_classes = 0;  // 0: regression
    std::int64_t max_depth = -1;
    std::int64_t max_leaf_nodes = -1;
    std::int64_t max_features = -1;
    std::int64_t min_samples_split = 2;
    std::int64_t min_samples_leaf = 1;
    double min_weight_leaf = 0;
    double min_impurity_decrease = 0;
    double ccp_alpha = 0;
    std::uint64_t seed = 0;
};

// One feature's codes as a grower reads them: the data set's own column, or a gathered copy whose
// codes were ranked anew (`original` leads back to the data set's codes).
struct CodeView {
    const std::uint8_t* narrow = nullptr;
    const std::uint16_t* wide = nullptr;
    const std::uint16_t* original = nullptr;
    std::uint32_t n_bins = 0;  // the missing code
    const Column* column = nullptr;

    std::uint32_t data_code(std::uint32_t code) const { return original ? original[code] : code; }
    // The last code from `low` on, but before `high`, whose data code is at most the given one.
    std::uint32_t code_up_to(std::uint32_t data_code, std::uint32_t low, std::uint32_t high) const {
        if (!original) return data_code;
        return static_cast<std::uint32_t>(
            std::upper_bound(original + low + 1, original + high, data_code) - original - 1);
    }
    std::uint32_t at(Row row) const { return narrow ? narrow[row] : wide[row]; }
};

// The best split found so far. A numeric split separates neighbouring present codes `a` and `b`;
// b == n_bins means "all numbers left, missing right". A category split lists the codes going left.
struct Split {
    std::int32_t feature = -1;
    double score = -std::numeric_limits<double>::infinity();
    bool categorical = false;
    bool missing_left = false;
    std::uint32_t a = 0, b = 0;
    std::vector<std::uint32_t> left_codes;
    double threshold = std::numeric_limits<double>::quiet_NaN();  // wanted by a random split

    bool found() const { return feature >= 0; }
};

// What a split must respect, and when two scores count as equal. Equal scores go to the feature
// with the lowest index, then to the lowest threshold: the tree never depends on the order of the
// search.
struct SplitRules {
    std::uint32_t min_samples_leaf;
    double min_weight_leaf;
    double tolerance;

    template <class Sides>
    bool allow(const Sides& sides) const {
        return sides.n_left() >= min_samples_leaf && sides.n_right() >= min_samples_leaf &&
               sides.weight_left() >= min_weight_leaf && sides.weight_right() >= min_weight_leaf;
    }
    bool better(double score, std::int32_t feature, const Split& best) const {
        if (score > best.score + tolerance) return true;
        return feature < best.feature && score >= best.score - tolerance;
    }
};

}  // namespace hedgerow
