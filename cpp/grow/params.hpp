// How a tree is grown.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace hedgerow {

// Where a tree continues a larger one, which is grown in several places: what it would know there.
struct Stem {
    std::uint32_t depth = 0;
    std::uint64_t key = 0;    // of the node that it grows from
    double total_weight = 0;  // of the larger tree
};

// Numbers that can be unlimited use -1 for "no limit".
struct GrowParams {
    enum class Criterion { gini, entropy, squared_error, poisson, absolute_error, quantile };
    enum class Splitter { best, random };

    Criterion criterion = Criterion::gini;
    Splitter splitter = Splitter::best;
    std::uint32_t n_classes = 0;  // 0: regression; of all outputs together where there are several
    std::vector<std::uint32_t> class_counts;  // of several outputs: the classes of each
    std::int64_t max_depth = -1;
    std::int64_t max_leaf_nodes = -1;
    std::int64_t max_features = -1;
    std::int64_t min_samples_split = 2;
    std::int64_t min_samples_leaf = 1;
    double min_weight_leaf = 0;
    double min_impurity_decrease = 0;
    double ccp_alpha = 0;
    double quantile = 0.5;  // which one, for the criterion
    std::uint64_t seed = 0;
    std::vector<std::int8_t> monotonic;  // by feature: 1 rises, -1 falls; or empty
    std::optional<Stem> stem = {};       // it is not pruned then
    // What a node draws follows from its key alone, not from what was found on the way to it.
    bool keyed_draws = false;

    bool for_classes() const {
        return criterion == Criterion::gini || criterion == Criterion::entropy;
    }
    // Whether nodes look at some features or thresholds only, drawn at random.
    bool draws(std::size_t n_features) const {
        return splitter == Splitter::random ||
               (max_features >= 0 && static_cast<std::uint64_t>(max_features) < n_features);
    }
};

}  // namespace hedgerow
