// Several outputs at once: every leaf answers for all of them, and the impurity of a node is the
// mean of its impurities.
//
// target  the place of a row in a matrix of targets, one row of `n_outputs` numbers after another
// stats   the weights of the classes of all outputs, one output after another, or the sums of the
//         outputs; then the weight and the number of rows
//
// All rows of a node have all outputs, so the weight is the same for each of them: Gini and squared
// error are sums of squares over all numbers of the stats, whatever output they belong to.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "grow/criterion.hpp"
#include "grow/node_rows.hpp"
#include "grow/params.hpp"

namespace hedgerow {

template <class Value_>
struct SeveralStats {
    using Value = Value_;  // a class, counted through all outputs, or a number
    using Number = double;
    using Target = std::uint32_t;
    using Weight = double;
    using Criterion = GrowParams::Criterion;
    static constexpr bool weighted = true;
    static constexpr bool classes = false;  // of one output, which have short cuts of their own
    static constexpr bool several = true;
    static constexpr bool has_classes = std::is_integral_v<Value>;

    Criterion criterion{};
    std::uint32_t n_outputs_each = 0;  // outputs of a row
    std::uint32_t n_values = 0;        // classes of all outputs, or outputs
    const Value* values = nullptr;     // by target
    const double* offsets = nullptr;   // taken off the numbers before growing, by output

    std::uint32_t width() const { return n_values + 2; }
    std::uint32_t n_outputs() const { return n_values; }
    const Value* row(Target y) const { return values + std::size_t(y) * n_outputs_each; }

    void add(Number* bin, Target y, Weight w) const {
        const Value* of = row(y);
        for (std::uint32_t o = 0; o < n_outputs_each; ++o) {
            if constexpr (has_classes) {
                bin[of[o]] += w;
            } else {
                bin[o] += w * of[o];
            }
        }
        bin[n_values] += w;
        bin[n_values + 1] += 1;
    }
    double weight(const Number* bin) const { return bin[n_values]; }
    std::uint32_t count(const Number* bin) const {
        return static_cast<std::uint32_t>(bin[n_values + 1]);
    }
    bool empty(const Number* bin) const { return bin[n_values + 1] == 0; }
    bool same(Target a, Target b) const {
        return std::equal(row(a), row(a) + n_outputs_each, row(b));
    }
    void write_value(const Number* bin, double* out) const {
        for (std::uint32_t k = 0; k < n_values; ++k) {
            out[k] = bin[k] / weight(bin) + (has_classes ? 0.0 : offsets[k]);
        }
    }
};

// The sums on both sides. The criterion is looked up at every border: beside the outputs of a row
// that costs nothing.
template <class Stats_>
class SeveralSides {
    using Criterion = GrowParams::Criterion;

  public:
    using Stats = Stats_;
    using Number = double;
    static constexpr bool on_bits = false;
    static constexpr bool ranked = false;

    explicit SeveralSides(Stats stats)
        : stats_(stats), total_(stats.width()), left_(stats.width()), right_(stats.width()) {}

    void start(const Number* total) {
        std::copy_n(total, stats_.width(), total_.begin());
        std::copy_n(total, stats_.width(), right_.begin());
        std::fill(left_.begin(), left_.end(), 0.0);
    }
    void move(const Number* bin) {
        for (std::uint32_t k = 0, n = stats_.width(); k < n; ++k) {
            left_[k] += bin[k];
            right_[k] -= bin[k];
        }
    }
    void move_row(typename Stats::Target y, typename Stats::Weight w) {
        stats_.add(left_.data(), y, w);
        stats_.add(right_.data(), y, -w);
        right_[stats_.n_values + 1] -= 2;  // a row less, whatever its weight
    }
    double score() const {
        return worth(stats_, left_.data(), total_.data()) +
               worth(stats_, right_.data(), total_.data());
    }
    bool may_beat(double) const { return true; }
    double weight_left() const { return stats_.weight(left_.data()); }
    double weight_right() const { return stats_.weight(right_.data()); }
    std::uint32_t n_left() const { return stats_.count(left_.data()); }
    std::uint32_t n_right() const { return stats_.count(right_.data()); }
    const Stats& stats() const { return stats_; }

    static double node_score(const Stats& stats, const Number* total) {
        return worth(stats, total, total);
    }

    static double node_impurity(const Stats& stats, const NodeRows<Stats>& node) {
        const double n_outputs = stats.n_outputs_each, weight = stats.weight(node.total);
        double sum = 0;
        if constexpr (Stats::has_classes) {
            if (stats.criterion == Criterion::entropy) {
                for (std::uint32_t k = 0; k < stats.n_values; ++k) {
                    sum -= p_log2_p(node.total[k] / weight);
                }
            } else {
                sum = n_outputs - squares(stats, node.total) / (weight * weight);
            }
        } else {
            for (std::uint32_t i = 0; i < node.n; ++i) {
                const auto* of = stats.row(node.targets[i]);
                for (std::uint32_t o = 0; o < stats.n_outputs_each; ++o) {
                    sum += node.weight(i) * deviance(stats, of[o], node.total[o] / weight);
                }
            }
            sum /= weight;
        }
        return std::max(0.0, sum / n_outputs);
    }

  private:
    static double squares(const Stats& stats, const Number* sums) {
        double sum = 0;
        for (std::uint32_t k = 0; k < stats.n_values; ++k) sum += sums[k] * sums[k];
        return sum;
    }

    static double deviance(const Stats& stats, double y, double mean) {
        if (stats.criterion == Criterion::poisson) return y > 0 ? y * std::log(y / mean) : 0.0;
        return (y - mean) * (y - mean);
    }

    // As the worth of a side of one output, in the mean over the outputs.
    static double worth(const Stats& stats, const Number* sums, const Number* node) {
        const double n_outputs = stats.n_outputs_each, weight = stats.weight(sums);
        if (stats.criterion == Criterion::entropy) {
            double sum = -n_outputs * x_log_x(weight);
            for (std::uint32_t k = 0; k < stats.n_values; ++k) sum += x_log_x(sums[k]);
            return sum / n_outputs;
        }
        if (stats.criterion == Criterion::poisson) {
            double sum = 0;
            for (std::uint32_t k = 0; k < stats.n_values; ++k) {
                if (sums[k] <= 1e-12 * node[k]) return -std::numeric_limits<double>::infinity();
                sum += sums[k] * std::log(sums[k] / weight);
            }
            return sum / n_outputs;
        }
        return squares(stats, sums) / (weight * n_outputs);
    }

    Stats stats_;
    std::vector<Number> total_, left_, right_;
};

}  // namespace hedgerow
