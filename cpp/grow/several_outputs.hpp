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

// The sums on both sides. The criterion is looked up at every row: beside the outputs of a row that
// costs nothing. Of classes the sum of squares (or of x log x) is carried along, so that a border
// costs as much as the row that crosses it, however many classes there are (20x on 42 of them).
template <class Stats_>
class SeveralSides {
    using Criterion = GrowParams::Criterion;

  public:
    using Stats = Stats_;
    using Number = double;
    static constexpr bool on_bits = false;
    static constexpr bool ranked = false;

    explicit SeveralSides(const Stats& stats) { use(stats); }

    // Other stats of the same kind from now on.
    void use(const Stats& stats) {
        stats_ = stats;
        left_.resize(stats.width());
        right_.resize(stats.width());
    }
    void start(const Number* total) {
        total_ = total;
        std::copy_n(total, stats_.width(), right_.begin());
        std::fill(left_.begin(), left_.end(), 0.0);
        if constexpr (Stats::has_classes) {
            sum_left_ = 0;
            sum_right_ = terms(stats_, total);
        }
    }
    void move(const Number* bin) {
        for (std::uint32_t k = 0; k < stats_.n_values; ++k) {
            if (bin[k] != 0) shift(k, bin[k]);
        }
        shift_rows(stats_.weight(bin), stats_.count(bin));
    }
    void move_row(typename Stats::Target y, typename Stats::Weight w) {
        const auto* of = stats_.row(y);
        for (std::uint32_t o = 0; o < stats_.n_outputs_each; ++o) {
            if constexpr (Stats::has_classes) {
                shift(static_cast<std::uint32_t>(of[o]), w);
            } else {
                shift(o, w * of[o]);
            }
        }
        shift_rows(w, 1);
    }
    double score() const {
        if constexpr (Stats::has_classes) {
            return worth_of(stats_, sum_left_, weight_left()) +
                   worth_of(stats_, sum_right_, weight_right());
        } else {
            return worth(stats_, left_.data(), total_) + worth(stats_, right_.data(), total_);
        }
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
    void shift(std::uint32_t k, double moved) {
        Number &l = left_[k], &r = right_[k];
        if constexpr (Stats::has_classes) {
            if (stats_.criterion == Criterion::entropy) {
                sum_left_ += x_log_x(l + moved) - x_log_x(l);
                sum_right_ += x_log_x(r - moved) - x_log_x(r);
            } else {
                sum_left_ += moved * (2 * l + moved);
                sum_right_ -= moved * (2 * r - moved);
            }
        }
        l += moved;
        r -= moved;
    }
    void shift_rows(double weight, std::uint32_t n) {
        const std::uint32_t at = stats_.n_values;
        left_[at] += weight;
        right_[at] -= weight;
        left_[at + 1] += n;
        right_[at + 1] -= n;
    }

    static double squares(const Stats& stats, const Number* sums) {
        double sum = 0;
        for (std::uint32_t k = 0; k < stats.n_values; ++k) sum += sums[k] * sums[k];
        return sum;
    }
    // What is carried along, and what a side with it is worth in the mean over the outputs.
    static double terms(const Stats& stats, const Number* sums) {
        if (stats.criterion != Criterion::entropy) return squares(stats, sums);
        double sum = 0;
        for (std::uint32_t k = 0; k < stats.n_values; ++k) sum += x_log_x(sums[k]);
        return sum;
    }
    static double worth_of(const Stats& stats, double terms, double weight) {
        const double n_outputs = stats.n_outputs_each;
        if (stats.criterion == Criterion::entropy) {
            return terms / n_outputs - x_log_x(weight);
        }
        return terms / (weight * n_outputs);
    }

    static double deviance(const Stats& stats, double y, double mean) {
        if (stats.criterion == Criterion::poisson) return y > 0 ? y * std::log(y / mean) : 0.0;
        return (y - mean) * (y - mean);
    }

    // As the worth of a side of one output, in the mean over the outputs.
    static double worth(const Stats& stats, const Number* sums, const Number* node) {
        const double weight = stats.weight(sums);
        if (stats.criterion != Criterion::poisson) {
            return worth_of(stats, terms(stats, sums), weight);
        }
        double sum = 0;
        for (std::uint32_t k = 0; k < stats.n_values; ++k) {
            if (node[k] <= 0) continue;  // an output without events says nothing
            if (sums[k] <= 1e-12 * node[k]) return -std::numeric_limits<double>::infinity();
            sum += sums[k] * std::log(sums[k] / weight);
        }
        return sum / stats.n_outputs_each;
    }

    Stats stats_;
    const Number* total_ = nullptr;
    std::vector<Number> left_, right_;
    double sum_left_ = 0, sum_right_ = 0;
};

}  // namespace hedgerow
