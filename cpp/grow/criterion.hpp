// What a node knows of its targets, and how good a split of them is.
//
// stats   the numbers kept for a set of rows: class weights, or sum and weight of a real target.
//         `width` numbers of one type, so a histogram is a flat array of them.
// sides   the stats left and right of a moving border: start with all rows on the right, move bins
//         or single rows to the left, ask for the score.
// score   the part of the impurity that depends on the split, turned so that more is better:
//         weight * impurity = constant - score, hence gain = score(left) + score(right) -
//         score(node).
//
// Class counts are integers when all weights are (the usual case: unit weights and bootstraps), so
// equal splits have exactly equal scores; otherwise sums are float64.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

#include "base/portable.hpp"
#include "grow/impurity.hpp"

namespace hedgerow {

template <class Number_, bool weighted_>
struct ClassStats {
    using Number = Number_;
    using Target = std::int32_t;
    using Weight = Number_;
    using Sum = std::conditional_t<std::is_integral_v<Number>, std::int64_t, double>;
    static constexpr bool weighted = weighted_;
    static constexpr bool classes = true;

    std::uint32_t n_classes = 0;

    // Classes are padded to whole vectors of four; a row count follows them if rows have weights.
    std::uint32_t n_padded() const { return n_classes <= 2 ? n_classes : (n_classes + 3) / 4 * 4; }
    std::uint32_t width() const { return n_padded() + weighted; }
    std::uint32_t n_outputs() const { return n_classes; }

    void add(Number* bin, Target y, Weight w) const {
        if constexpr (weighted) {
            bin[y] += w;
            bin[n_padded()] += 1;
        } else {
            ++bin[y];
        }
    }
    double weight(const Number* bin) const {
        Sum sum = 0;
        for (std::uint32_t k = 0; k < n_classes; ++k) sum += bin[k];
        return static_cast<double>(sum);
    }
    std::uint32_t count(const Number* bin) const {
        if constexpr (weighted) return static_cast<std::uint32_t>(bin[n_padded()]);
        return static_cast<std::uint32_t>(weight(bin));
    }
    bool empty(const Number* bin) const {
        if constexpr (weighted) {
            return bin[n_padded()] == 0;
        } else {
            Number any = 0;
            for (std::uint32_t k = 0, n = n_padded(); k < n; ++k) any |= bin[k];
            return any == 0;
        }
    }
    bool pure(const Number* bin) const {
        return std::count_if(bin, bin + n_classes, [](Number b) { return b > 0; }) <= 1;
    }
    void write_value(const Number* bin, double* out) const {
        const double total = weight(bin);
        for (std::uint32_t k = 0; k < n_classes; ++k) out[k] = static_cast<double>(bin[k]) / total;
    }
};

template <bool weighted_>
struct SumStats {
    using Number = double;
    using Target = double;
    using Weight = double;
    static constexpr bool weighted = weighted_;
    static constexpr bool classes = false;

    double offset = 0;  // taken off the targets before growing, put back at the leaves

    std::uint32_t width() const { return 2 + weighted; }
    std::uint32_t n_outputs() const { return 1; }

    void add(Number* bin, Target y, Weight w) const {
        if constexpr (weighted) {
            bin[0] += w * y;
            bin[1] += w;
            bin[2] += 1;
        } else {
            bin[0] += y;
            bin[1] += 1;
        }
    }
    double weight(const Number* bin) const { return bin[1]; }
    std::uint32_t count(const Number* bin) const {
        return static_cast<std::uint32_t>(bin[1 + weighted]);
    }
    bool empty(const Number* bin) const { return bin[1 + weighted] == 0; }
    void write_value(const Number* bin, double* out) const { *out = bin[0] / bin[1] + offset; }
};

// Left and right class weights; Derived keeps its own running totals of them.
template <class Derived, class Stats_>
class ClassSides {
  public:
    using Stats = Stats_;
    static constexpr bool ranked = false;  // see grow/quantile_split.hpp
    using Number = typename Stats::Number;
    using Sum = typename Stats::Sum;

    explicit ClassSides(Stats stats)
        : stats_(stats),
          n_padded_(stats.n_padded()),
          left_(stats.n_padded()),
          right_(stats.n_padded()) {}

    // The classes 0..n-1 are all there are from now on.
    void set_classes(std::uint32_t n) {
        stats_.n_classes = n;
        n_padded_ = stats_.n_padded();
        left_.resize(n_padded_);
        right_.resize(n_padded_);
    }
    void start(const Number* total) {
        std::fill(left_.begin(), left_.end(), Number{0});
        std::copy(total, total + n_padded_, right_.begin());
        weight_left_ = 0;
        weight_right_ = static_cast<Sum>(stats_.weight(total));
        n_left_ = 0;
        n_right_ = stats_.count(total);
        self().begin();
    }
    void move(const Number* bin) {
        const Sum moved = self().move_classes(bin);
        weight_left_ += moved;
        weight_right_ -= moved;
        const auto n = count_moved(bin, moved);
        n_left_ += n;
        n_right_ -= n;
    }
    void move_row(typename Stats::Target y, typename Stats::Weight w) {
        if constexpr (!Stats::weighted) w = 1;
        self().move_class(y, w);
        weight_left_ += w;
        weight_right_ -= w;
        ++n_left_;
        --n_right_;
    }
    double weight_left() const { return static_cast<double>(weight_left_); }
    double weight_right() const { return static_cast<double>(weight_right_); }
    std::uint32_t n_left() const { return n_left_; }
    std::uint32_t n_right() const { return n_right_; }
    const Stats& stats() const { return stats_; }

  protected:
    Stats stats_;
    std::uint32_t n_padded_;
    std::vector<Number> left_, right_;
    Sum weight_left_ = 0, weight_right_ = 0;
    std::uint32_t n_left_ = 0, n_right_ = 0;

  private:
    Derived& self() { return static_cast<Derived&>(*this); }
    std::uint32_t count_moved(const Number* bin, Sum moved) const {
        if constexpr (Stats::weighted) return static_cast<std::uint32_t>(bin[n_padded_]);
        return static_cast<std::uint32_t>(moved);
    }
};

template <class Stats>
class GiniSides : public ClassSides<GiniSides<Stats>, Stats> {
    using Base = ClassSides<GiniSides<Stats>, Stats>;
    using Sum = typename Base::Sum;

  public:
    using Number = typename Base::Number;
    using Base::Base;
    static constexpr bool on_bits = std::is_integral_v<Number>;  // see grow/bit_tree.hpp

    static double node_score(const Stats& stats, const Number* total) {
        Sum squares = 0;
        for (std::uint32_t k = 0; k < stats.n_classes; ++k) squares += Sum(total[k]) * total[k];
        return static_cast<double>(squares) / stats.weight(total);
    }
    static double node_impurity(const Stats& stats, const Number* total) {
        return std::max(0.0, 1 - node_score(stats, total) / stats.weight(total));
    }
    static double score_of(Sum squares_left, Sum left, Sum squares_right, Sum right) {
        return static_cast<double>(squares_left) / static_cast<double>(left) +
               static_cast<double>(squares_right) / static_cast<double>(right);
    }
    // Whether the score may exceed the bar, without its two divisions.
    static bool may_beat(Sum squares_left, Sum left, Sum squares_right, Sum right, double bar) {
        const auto l = static_cast<double>(left), r = static_cast<double>(right);
        return static_cast<double>(squares_left) * r + static_cast<double>(squares_right) * l >=
               bar * l * r;
    }
    double score() const {
        return score_of(squares_left_, this->weight_left_, squares_right_, this->weight_right_);
    }
    bool may_beat(double bar) const {
        return may_beat(squares_left_, this->weight_left_, squares_right_, this->weight_right_,
                        bar);
    }

    // Counts of two classes are looked at as a whole first: the gain of a border is
    // 2 / n * (l * n - t * m)^2 / (m * (n - m)), with m of n rows and l of t rows of the second
    // class on the left. Few features pass (2x on routers).
    struct Glance {
        bool varies, may_beat;
    };
    bool two_classes() const
        requires(std::is_integral_v<Number> && !Stats::weighted)
    {
        return this->stats_.n_classes == 2;
    }
    Glance glance(const Number* bins, std::uint32_t n_bins, const Number* total, double bar) {
        borders_.resize(2 * std::size_t(n_bins));
        Number* const m = borders_.data();
        Number* const l = m + n_bins;
        Number first = 0, second = 0;
        for (std::uint32_t i = 0; i < n_bins; ++i) {
            first += bins[2 * i];
            second += bins[2 * i + 1];
            m[i] = first + second;
            l[i] = second;
        }
        const double t = total[1], n = t + total[0];
        bar = (bar - node_score(this->stats_, total)) * n / 2;
        std::int64_t varies = 0, may_beat = bar < 0;
        for (std::uint32_t i = 0; i < n_bins; ++i) {
            const double spread = m[i] * (n - m[i]);
            const double moved = l[i] * n - t * m[i];
            varies |= spread > 0;
            may_beat |= moved * moved > bar * spread;
        }
        return {varies != 0, may_beat != 0};
    }

    void begin() {
        squares_left_ = squares_right_ = 0;
        for (const Number r : this->right_) squares_right_ += Sum(r) * r;
        // Sums of squares up to the square of the total weight fit into 32 bits: twice as fast.
        narrow_ = this->n_padded_ % 4 == 0 && this->weight_right_ < (1 << 15);
    }
    Sum move_classes(const Number* bin) {
        if constexpr (std::is_integral_v<Number>) {
            return narrow_ ? move_counts<FourCounts>(bin) : move_counts<std::int64_t>(bin);
        } else {
            Sum moved = 0;
            for (std::uint32_t k = 0; k < this->stats_.n_classes; ++k) {
                moved += bin[k];
                move_class(static_cast<std::int32_t>(k), bin[k]);
            }
            return moved;
        }
    }
    void move_class(std::int32_t y, Number w) {
        Number& l = this->left_[y];
        Number& r = this->right_[y];
        squares_left_ += Sum(w) * (2 * Sum(l) + w);
        squares_right_ -= Sum(w) * (2 * Sum(r) - w);
        l += w;
        r -= w;
    }

  private:
    // The changes of the two sums of squares. `Counts` are one integer, or four of 32 bits at a
    // time (1.4x on ten classes; the compiler does not find this loop worth vectorising by itself).
    template <class Counts>
    Sum move_counts(const Number* bin) {
        Number* left = this->left_.data();
        Number* right = this->right_.data();
        Counts moved{}, gained{}, lost{};
        constexpr std::uint32_t n_lanes = std::is_integral_v<Counts> ? 1 : 4;
        for (std::uint32_t k = 0; k < this->n_padded_; k += n_lanes) {
            const auto b = load<Counts>(bin + k), l = load<Counts>(left + k),
                       r = load<Counts>(right + k);
            moved += b;
            gained += b * (l + l + b);
            lost += b * (r + r - b);
            store(left + k, l + b);
            store(right + k, r - b);
        }
        squares_left_ += total_of(gained);
        squares_right_ -= total_of(lost);
        return total_of(moved);
    }
    using FourCounts = Lanes<std::uint32_t, 4>;

    template <class Counts>
    static Counts load(const Number* from) {
        if constexpr (std::is_integral_v<Counts>) {
            return static_cast<Counts>(*from);
        } else {
            Counts lanes;
            std::memcpy(&lanes, from, sizeof lanes);
            return lanes;
        }
    }
    template <class Counts>
    static void store(Number* to, Counts lanes) {
        if constexpr (std::is_integral_v<Counts>) {
            *to = static_cast<Number>(lanes);
        } else {
            std::memcpy(to, &lanes, sizeof lanes);
        }
    }
    template <class Counts>
    static Sum total_of(Counts lanes) {
        if constexpr (std::is_integral_v<Counts>) {
            return static_cast<Sum>(lanes);
        } else {
            return static_cast<Sum>((lanes[0] + lanes[1]) + (lanes[2] + lanes[3]));
        }
    }

    Sum squares_left_ = 0, squares_right_ = 0;
    bool narrow_ = false;
    std::vector<Number> borders_;
};

inline double x_log_x(double x) { return x > 0 ? x * std::log(x) : 0.0; }

// Counts are looked up while they are small: a logarithm takes longer than all else in a search.
inline const auto x_log_x_of_counts = [] {
    std::array<double, 1 << 13> table;
    for (std::size_t n = 0; n < table.size(); ++n) table[n] = x_log_x(static_cast<double>(n));
    return table;
}();

template <std::integral Count>
double x_log_x(Count n) {
    const auto i = static_cast<std::size_t>(n);
    return i < x_log_x_of_counts.size() ? x_log_x_of_counts[i] : x_log_x(static_cast<double>(n));
}

template <class Stats>
class EntropySides : public ClassSides<EntropySides<Stats>, Stats> {
    using Base = ClassSides<EntropySides<Stats>, Stats>;
    using Sum = typename Base::Sum;

  public:
    using Number = typename Base::Number;
    using Base::Base;
    static constexpr bool on_bits = false;

    static double node_score(const Stats& stats, const Number* total) {
        double sum = 0;
        for (std::uint32_t k = 0; k < stats.n_classes; ++k) sum += x_log_x(total[k]);
        return sum - x_log_x(stats.weight(total));
    }
    // In bits, as scikit-learn's; the search itself works in nats.
    static double node_impurity(const Stats& stats, const Number* total) {
        const double weight = stats.weight(total);
        double entropy = 0;
        for (std::uint32_t k = 0; k < stats.n_classes; ++k) {
            entropy -= p_log2_p(total[k] / weight);
        }
        return std::max(0.0, entropy);
    }
    double score() const {
        return logs_left_ - x_log_x(this->weight_left_) + logs_right_ -
               x_log_x(this->weight_right_);
    }
    bool may_beat(double) const { return true; }

    void begin() {
        logs_left_ = logs_right_ = 0;
        for (const Number r : this->right_) logs_right_ += x_log_x(r);
    }
    Sum move_classes(const Number* bin) {
        Sum moved = 0;
        for (std::uint32_t k = 0; k < this->stats_.n_classes; ++k) {
            if (bin[k] == 0) continue;
            moved += bin[k];
            move_class(static_cast<std::int32_t>(k), bin[k]);
        }
        return moved;
    }
    void move_class(std::int32_t y, Number w) {
        Number& l = this->left_[y];
        Number& r = this->right_[y];
        logs_left_ -= x_log_x(l);
        logs_right_ -= x_log_x(r);
        l += w;
        r -= w;
        logs_left_ += x_log_x(l);
        logs_right_ += x_log_x(r);
    }

  private:
    double logs_left_ = 0, logs_right_ = 0;
};

// Sum and weight on both sides; Derived says what they are worth.
template <class Derived, class Stats_>
class SumSides {
  public:
    using Stats = Stats_;
    using Number = double;
    static constexpr bool on_bits = false;
    static constexpr bool ranked = false;

    explicit SumSides(Stats stats) : stats_(stats) {}

    void start(const Number* total) {
        sum_left_ = weight_left_ = 0;
        sum_ = sum_right_ = total[0];
        weight_right_ = total[1];
        n_left_ = 0;
        n_right_ = stats_.count(total);
    }
    void move(const Number* bin) { shift(bin[0], bin[1], stats_.count(bin)); }
    void move_row(double y, double w) {
        if constexpr (Stats::weighted) {
            shift(w * y, w, 1);
        } else {
            shift(y, 1, 1);
        }
    }
    double score() const {
        return Derived::worth(sum_left_, weight_left_, sum_) +
               Derived::worth(sum_right_, weight_right_, sum_);
    }
    bool may_beat(double) const { return true; }
    static double node_score(const Stats&, const Number* total) {
        return Derived::worth(total[0], total[1], total[0]);
    }
    double sum_left() const { return sum_left_; }
    double weight_left() const { return weight_left_; }
    double weight_right() const { return weight_right_; }
    std::uint32_t n_left() const { return n_left_; }
    std::uint32_t n_right() const { return n_right_; }
    const Stats& stats() const { return stats_; }

  protected:
    double sum_ = 0, sum_left_ = 0, sum_right_ = 0;

  private:
    void shift(double sum, double weight, std::uint32_t n) {
        sum_left_ += sum;
        sum_right_ -= sum;
        weight_left_ += weight;
        weight_right_ -= weight;
        n_left_ += n;
        n_right_ -= n;
    }

    Stats stats_;
    double weight_left_ = 0, weight_right_ = 0;
    std::uint32_t n_left_ = 0, n_right_ = 0;
};

template <class Stats>
struct SquaredErrorSides : SumSides<SquaredErrorSides<Stats>, Stats> {
    using SumSides<SquaredErrorSides<Stats>, Stats>::SumSides;
    static double worth(double sum, double weight, double) { return sum * sum / weight; }
    // What one row adds to weight * impurity, given the node's mean.
    static double deviance(double y, double mean) { return (y - mean) * (y - mean); }
};

template <class Stats>
struct PoissonSides : SumSides<PoissonSides<Stats>, Stats> {
    using SumSides<PoissonSides<Stats>, Stats>::SumSides;
    // A side whose targets are all zero, up to rounding, has no logarithm: such a split is never
    // taken.
    static double worth(double sum, double weight, double node_sum) {
        return sum > 1e-12 * node_sum ? sum * std::log(sum / weight)
                                      : -std::numeric_limits<double>::infinity();
    }
    static double deviance(double y, double mean) { return y > 0 ? y * std::log(y / mean) : 0.0; }
};

}  // namespace hedgerow
