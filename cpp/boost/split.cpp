#include "boost/split.hpp"

#include <algorithm>
#include <limits>

namespace hedgerow {

// A split of one feature: the last code (numbers) or the last place in their order (categories)
// that goes left.
struct SplitSearch::Candidate {
    double gain = 0;
    std::uint32_t last = 0;
    bool found = false, missing_left = false;
    Slopes left;
};

namespace {

Slopes rest_of(const Slopes& node, const Slopes& left) {
    return {node.gradient - left.gradient, node.hessian - left.hessian, node.n - left.n};
}

double score(const Slopes& side, double l2) {
    return side.gradient * side.gradient / (side.hessian + l2);
}

}  // namespace

template <int width>
SplitSearch::Candidate SplitSearch::look_at_numbers(const std::int64_t* bins, const Slopes& node,
                                                    const Bounds& bounds,
                                                    std::uint32_t feature) const {
    const std::uint32_t n_bins = table_.data().column(feature).n_bins;
    const auto least = static_cast<std::uint32_t>(params_.min_samples_leaf);
    const double l2 = params_.l2, least_hessian = params_.min_hessian_leaf;
    const bool bounded = !params_.monotonic.empty();
    const int direction = bounded ? params_.monotonic[feature] : 0;
    const double of_node = score(node, l2);
    const std::int64_t* missing = bins + std::size_t(n_bins) * width;
    const bool has_missing = values_.n_of<width>(missing) > 0;

    Candidate best;
    for (int pass = 0; pass <= int(has_missing); ++pass) {
        std::int64_t sum[width] = {};
        if (pass == 1) std::copy_n(missing, width, sum);
        // All numbers may go left if missing values are then on the right.
        const std::uint32_t end = n_bins - (pass == 1 || !has_missing);
        for (std::uint32_t code = 0; code < end; ++code) {
            const std::int64_t* bin = bins + std::size_t(code) * width;
            for (int i = 0; i < width; ++i) sum[i] += bin[i];
            const std::uint32_t n_left = values_.n_of<width>(sum);
            if (n_left < least) continue;
            if (node.n - n_left < least) break;
            const Slopes left = values_.slopes_of<width>(sum);
            const double g = node.gradient - left.gradient;
            const double h = node.hessian - left.hessian;
            if (left.hessian < least_hessian || h < least_hessian) continue;
            double gain;
            if (!bounded) {
                const double hl = left.hessian + l2, hr = h + l2;
                gain = (left.gradient * left.gradient * hr + g * g * hl) / (hl * hr) - of_node;
            } else {
                const Slopes right = rest_of(node, left);
                const double a = value_of(left, bounds), b = value_of(right, bounds);
                if (direction * (b - a) < 0) continue;
                const auto lost = [&](const Slopes& side, double value) {
                    return value * (2 * side.gradient + (side.hessian + l2) * value);
                };
                gain = lost(node, value_of(node, bounds)) - lost(left, a) - lost(right, b);
            }
            if (gain > best.gain) {
                best = {gain, code, true, pass == 1, left};
            }
        }
    }
    return best;
}

// Codes of the categories with rows, the missing one among them, by their wish.
template <int width>
std::vector<std::uint32_t> SplitSearch::ordered_categories(const std::int64_t* bins,
                                                           const Column& column) const {
    std::vector<std::pair<double, std::uint32_t>> order;
    for (std::uint32_t code = 0; code <= column.n_bins; ++code) {
        const Slopes s = values_.slopes_of<width>(bins + std::size_t(code) * width);
        if (s.n == 0) continue;
        const double prior = params_.category_smoothing;
        order.emplace_back(s.gradient / (s.hessian + prior), code);
    }
    std::sort(order.begin(), order.end());
    std::vector<std::uint32_t> codes;
    codes.reserve(order.size());
    for (const auto& [wish, code] : order) codes.push_back(code);
    return codes;
}

template <int width>
SplitSearch::Candidate SplitSearch::look_at_categories(const std::int64_t* bins, const Slopes& node,
                                                       std::uint32_t feature) const {
    const auto codes = ordered_categories<width>(bins, table_.data().column(feature));
    const auto least = static_cast<std::uint32_t>(params_.min_samples_leaf);
    const double l2 = params_.l2 + params_.category_l2;
    const double of_node = score(node, params_.l2);
    Candidate best;
    std::int64_t sum[width] = {};
    for (std::uint32_t i = 0; i + 1 < codes.size(); ++i) {
        const std::int64_t* bin = bins + std::size_t(codes[i]) * width;
        for (int j = 0; j < width; ++j) sum[j] += bin[j];
        const Slopes left = values_.slopes_of<width>(sum), right = rest_of(node, left);
        if (left.n < least || left.hessian < params_.min_hessian_leaf) continue;
        if (right.n < least || right.hessian < params_.min_hessian_leaf) break;
        const double gain = score(left, l2) + score(right, l2) - of_node;
        if (gain > best.gain) best = {gain, i, true, false, left};
    }
    return best;
}

template <int width>
SplitSearch::Candidate SplitSearch::look(const std::int64_t* bins, const Slopes& node,
                                         const Bounds& bounds, std::uint32_t feature) const {
    const Column& column = table_.data().column(feature);
    bins += std::size_t(table_.place(feature)) * width;
    return column.categorical ? look_at_categories<width>(bins, node, feature)
                              : look_at_numbers<width>(bins, node, bounds, feature);
}

template <int width>
BoostSplit SplitSearch::finish(const Candidate& found, const std::int64_t* bins, const Slopes& node,
                               std::uint32_t feature) const {
    const Column& column = table_.data().column(feature);
    const std::uint32_t n_bins = column.n_bins;
    bins += std::size_t(table_.place(feature)) * width;
    const auto n_of = [&](std::uint32_t code) {
        return values_.n_of<width>(bins + std::size_t(code) * width);
    };
    BoostSplit split;
    split.gain = found.gain;
    split.feature = static_cast<std::int32_t>(feature);
    split.left = found.left;
    split.right = rest_of(node, found.left);
    split.missing_left =
        n_of(n_bins) > 0 ? found.missing_left : split.left.hessian > split.right.hessian;
    if (!column.categorical) {
        std::uint32_t a = found.last, b = found.last + 1;
        while (n_of(a) == 0 && a > 0) --a;
        while (b < n_bins && n_of(b) == 0) ++b;
        if (b == n_bins) {  // all numbers left, missing right
            split.n_left_codes = n_bins;
            split.threshold = std::numeric_limits<double>::infinity();
        } else {
            const Cut cut = cut_between(column, a, b);
            split.n_left_codes = cut.last_left + 1;
            split.threshold = cut.threshold;
        }
        return split;
    }
    const auto codes = ordered_categories<width>(bins, column);
    split.categorical = true;
    if (n_of(n_bins) > 0) {
        const auto place = std::find(codes.begin(), codes.end(), n_bins) - codes.begin();
        split.missing_left = static_cast<std::uint32_t>(place) <= found.last;
    }
    // Categories that the node has no rows of go where missing values go.
    split.set.assign((n_bins + 63) / 64, 0);
    const auto put = [&](std::uint32_t code, bool left) {
        const std::uint64_t bit = std::uint64_t{1} << (code % 64);
        split.set[code / 64] = left ? split.set[code / 64] | bit : split.set[code / 64] & ~bit;
    };
    for (std::uint32_t code = 0; code < n_bins; ++code) put(code, split.missing_left);
    for (std::uint32_t i = 0; i < codes.size(); ++i) {
        if (codes[i] != n_bins) put(codes[i], i <= found.last);
    }
    return split;
}

template <int width>
BoostSplit SplitSearch::best_of(const Histograms& histograms, const Slopes& node,
                                const Bounds& bounds, std::span<const std::uint32_t> features,
                                Team& team) const {
    const std::int64_t* bins = histograms.bins();
    std::vector<Candidate> found(features.size());
    constexpr std::size_t features_per_task = 16;
    const std::size_t n_tasks = (features.size() + features_per_task - 1) / features_per_task;
    team.for_each(n_tasks, [&](std::size_t task, int) {
        const std::size_t first = task * features_per_task;
        for (std::size_t i = first; i < std::min(first + features_per_task, features.size()); ++i) {
            found[i] = look<width>(bins, node, bounds, features[i]);
        }
    });
    std::size_t best = 0;
    for (std::size_t i = 1; i < found.size(); ++i) {
        if (found[i].gain > found[best].gain) best = i;
    }
    if (found.empty() || !found[best].found) return {};
    return finish<width>(found[best], bins, node, features[best]);
}

BoostSplit SplitSearch::best(const Histograms& histograms, const Slopes& node, const Bounds& bounds,
                             std::span<const std::uint32_t> features, Team& team) const {
    return values_.counted ? best_of<2>(histograms, node, bounds, features, team)
                           : best_of<1>(histograms, node, bounds, features, team);
}

}  // namespace hedgerow
