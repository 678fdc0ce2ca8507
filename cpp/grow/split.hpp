// Plain records passed between the stages of growing.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/random.hpp"
#include "data/dataset.hpp"
#include "grow/bounds.hpp"

namespace hedgerow {

// One feature's codes as a grower reads them: the data set's own column, or a gathered copy whose
// codes were ranked anew (`original` leads back to the data set's codes).
struct CodeView {
    const std::uint8_t* narrow = nullptr;
    const std::uint16_t* wide = nullptr;
    const std::uint16_t* original = nullptr;
    std::uint32_t n_bins = 0;  // the missing code
    const Column* column = nullptr;

    CodeView() = default;
    explicit CodeView(const Column& all)
        : narrow(all.wide ? nullptr : all.narrow_codes()),
          wide(all.wide ? all.wide_codes() : nullptr),
          n_bins(all.n_bins),
          column(&all) {}

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
    double middle = 0;  // of the values of its sides, where they have bounds

    bool found() const { return feature >= 0; }
};

// What a split must respect, and when two scores count as equal. Of equally good splits of one
// feature the lowest threshold wins; of equally good features the first in an order that is a hash
// of the node and the feature. The tree never depends on the order of the search, and no feature is
// favoured: with the lowest index as the rule, trees on letter (16 values a feature, many ties)
// lost 0.7 points.
struct SplitRules {
    std::uint32_t min_samples_leaf;
    double min_weight_leaf;
    double tolerance;
    std::uint64_t key;  // of the node
    Bounds bounds = {};
    const std::int8_t* directions = nullptr;  // by feature, where there are any

    template <class Sides>
    bool allow(const Sides& sides, std::int32_t feature) const {
        if constexpr (HasBounds<Sides>) {
            if (directions != nullptr &&
                !bounds.allow(sides.value_left(), sides.value_right(), directions[feature])) {
                return false;
            }
        }
        return sides.n_left() >= min_samples_leaf && sides.n_right() >= min_samples_leaf &&
               sides.weight_left() >= min_weight_leaf && sides.weight_right() >= min_weight_leaf;
    }
    std::uint64_t order_of(std::int32_t feature) const {
        return scramble(key ^ static_cast<std::uint64_t>(feature));
    }
    bool better(double score, std::int32_t feature, const Split& best) const {
        if (score > best.score + tolerance) return true;
        return score >= best.score - tolerance && feature != best.feature &&
               order_of(feature) < order_of(best.feature);
    }
};

}  // namespace hedgerow
