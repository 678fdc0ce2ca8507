// A quantile of some rows of a node, and what they lose to it, while rows leave one by one.
//
// list      the node's rows in the order of their targets, linked. The rows of such a tree stand in
//           that order from the start, and splits keep it
// quantile  the first row at which the weights reach their share; half-way to the next one where
//           they reach it exactly (the median of an even number of rows)
// loss      pinball loss times a scale: at the median and scale 2 the sum of absolute errors
//
// With equal weights the quantile moves by half a place for each row that leaves, so that a whole
// list is taken apart in linear time. Sums are of distances from the node's own quantile, which
// keeps their digits.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "grow/node_rows.hpp"

namespace hedgerow {

// The quantile of some rows, their loss, weight and number.
struct QuantileSide {
    double value = 0, loss = 0, weight = 0;
    std::uint32_t n = 0;
};

template <class Stats>
class QuantileList {
  public:
    // Another node: all its rows are in the list.
    void start(const Stats& stats, const NodeRows<Stats>& rows) {
        quantile_ = stats.quantile;
        scale_ = stats.scale;
        rows_ = rows;
        n_ = rows.n;
        y_.assign(n_ + 2, 0.0);
        next_.resize(n_ + 2);
        previous_.resize(n_ + 2);
        link();
        now_ = {.at = 1, .n = n_};
        for (std::uint32_t i = 1; i <= n_; ++i) now_.weight += weight(i);
        settle();
        const double own = target(now_.at);
        for (std::uint32_t i = 1; i <= n_; ++i) {
            y_[i] = target(i) - own;
            now_.sum += weight(i) * y_[i];
            if (i < now_.at) now_.sum_below += weight(i) * y_[i];
        }
        all_ = now_;
    }

    void refill() {
        now_ = all_;
        link();
    }

    // Rows by their place in the node.
    void remove(std::uint32_t row) {
        const std::uint32_t i = row + 1;
        const double w = weight(i), moment = w * y_[i];
        now_.weight -= w;
        now_.sum -= moment;
        --now_.n;
        next_[previous_[i]] = next_[i];
        previous_[next_[i]] = previous_[i];
        if (i < now_.at) {
            now_.below -= w;
            now_.sum_below -= moment;
        } else if (i == now_.at) {
            now_.at = next_[i];
            if (now_.at > n_ && now_.n > 0) step_back();
        }
    }

    // What is left.
    QuantileSide side() {
        if (now_.n == 0) return {};
        settle();
        const std::uint32_t at = now_.at, next = next_[at];
        const double y = y_[at];
        const double above = now_.weight - now_.below, sum_above = now_.sum - now_.sum_below;
        const double loss = quantile_ * (sum_above - y * above) +
                            (1 - quantile_) * (y * now_.below - now_.sum_below);
        const bool halfway = next <= n_ && now_.below + weight(at) <= wanted() + slack();
        return {halfway ? target(at) / 2 + target(next) / 2 : target(at),
                std::max(0.0, scale_ * loss), now_.weight, now_.n};
    }

    // The same for any rows of the node, of which `keep` tells the places.
    template <class Keep>
    QuantileSide side_of(const Keep& keep) {
        now_ = {.at = n_ + 1};
        std::uint32_t last = 0;
        for (std::uint32_t i = 1; i <= n_; ++i) {
            if (!keep(i - 1)) continue;
            if (now_.n++ == 0) now_.at = i;
            next_[last] = i;
            previous_[i] = last;
            last = i;
            now_.weight += weight(i);
            now_.sum += weight(i) * y_[i];
        }
        next_[last] = n_ + 1;
        return side();
    }

  private:
    struct State {
        std::uint32_t at = 0, n = 0;
        double weight = 0, sum = 0, below = 0, sum_below = 0;  // below: of the rows before `at`
    };

    double target(std::uint32_t i) const { return rows_.targets[i - 1]; }
    double weight(std::uint32_t i) const { return static_cast<double>(rows_.weight(i - 1)); }
    double wanted() const { return quantile_ * now_.weight; }
    double slack() const { return 1e-12 * now_.weight; }

    void link() {
        std::iota(next_.begin(), next_.end(), 1u);
        std::iota(previous_.begin() + 1, previous_.end(), 0u);
    }

    void step_back() {
        now_.at = previous_[now_.at];
        now_.below -= weight(now_.at);
        now_.sum_below -= weight(now_.at) * y_[now_.at];
    }

    void settle() {
        const double least = wanted() - slack();
        while (now_.below + weight(now_.at) < least && next_[now_.at] <= n_) {
            now_.below += weight(now_.at);
            now_.sum_below += weight(now_.at) * y_[now_.at];
            now_.at = next_[now_.at];
        }
        while (previous_[now_.at] > 0 && now_.below >= least) step_back();
    }

    double quantile_ = 0.5, scale_ = 1;
    NodeRows<Stats> rows_{};
    std::uint32_t n_ = 0;
    std::vector<double> y_;  // from the node's quantile; places 1..n, 0 and n + 1 are the ends
    std::vector<std::uint32_t> next_, previous_;
    State all_, now_;
};

}  // namespace hedgerow
