// What sets of rows (a leaf's, a branch's) know of their targets: how much loss they hold, what
// they predict, and what that costs a single row. Rows come and go.
//
// loss      weight * impurity of a set: Gini, entropy in bits, or squared error around its mean
// row loss  what a row pays for the prediction of a set: 1 for a wrong class, its squared error
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "grow/impurity.hpp"
#include "grow/params.hpp"
#include "grow/targets.hpp"

namespace hedgerow {

class RowStats {
  public:
    using Criterion = GrowParams::Criterion;

    // `rows` are all that will ever come; numbers are counted from their mean.
    RowStats(const GrowTargets& targets, const std::vector<Row>& rows, const GrowParams& params)
        : targets_(targets),
          criterion_(params.criterion),
          n_classes_(params.n_classes),
          width_(n_classes_ > 0 ? n_classes_ + 1 : 3) {
        if (!has_classes()) offset_ = rounded_mean(take<double>(targets.numbers, rows));
    }

    bool has_classes() const { return n_classes_ > 0; }
    std::uint32_t n_outputs() const { return std::max(n_classes_, 1u); }
    std::size_t size() const { return n_rows_.size(); }
    void resize(std::size_t n) {
        sums_.resize(n * width_);
        n_rows_.resize(n);
        label_.resize(n);
    }
    std::int32_t new_set() {
        resize(size() + 1);
        return static_cast<std::int32_t>(size()) - 1;
    }

    void add(std::int32_t set, Row row) {
        change(set, row, weight_of(row));
        ++n_rows_[set];
    }
    void remove(std::int32_t set, Row row) {
        change(set, row, -weight_of(row));
        if (--n_rows_[set] == 0) clear(set);  // and no rounding left over
    }
    void clear(std::int32_t set) {
        std::fill_n(at(set), width_, 0.0);
        n_rows_[set] = 0;
    }
    void add_set(std::int32_t set, std::int32_t other) {
        for (std::uint32_t k = 0; k < width_; ++k) at(set)[k] += at(other)[k];
        n_rows_[set] += n_rows_[other];
    }

    std::uint32_t n_rows(std::int32_t set) const { return n_rows_[set]; }
    double weight(std::int32_t set) const { return at(set)[width_ - 1]; }
    double weight_of(Row row) const { return targets_.weight(row); }

    double loss(std::int32_t set) const {
        const double* sums = at(set);
        const double weight = this->weight(set);
        if (weight <= 0) return 0;
        if (!has_classes()) return squared_loss(sums[0], sums[1], weight);
        const std::span<const double> classes(sums, n_classes_);
        return criterion_ == Criterion::entropy ? entropy_loss(classes, weight)
                                                : gini_loss(classes, weight);
    }

    // Fixes what the set predicts until it is fixed anew; an emptied set keeps its prediction.
    void settle(std::int32_t set) {
        if (n_rows_[set] == 0) return;
        const double* sums = at(set);
        label_[set] = has_classes()
                          ? static_cast<double>(std::max_element(sums, sums + n_classes_) - sums)
                          : sums[0] / weight(set);
    }
    double label(std::int32_t set) const { return label_[set]; }
    // What a value of a leaf, class shares or a mean, predicts.
    double label_of(std::span<const double> value) const {
        return has_classes() ? static_cast<double>(std::max_element(value.begin(), value.end()) -
                                                   value.begin())
                             : value[0] - offset_;
    }

    double row_loss(std::int32_t set, Row row) const { return label_loss(label_[set], row); }
    double label_loss(double label, Row row) const {
        if (has_classes()) return label != targets_.classes[row];
        const double distance = centred(row) - label;
        return distance * distance;
    }

    // Class shares or the mean; the sums of an empty set are zero, and so are these.
    void write_value(std::int32_t set, double* out) const {
        const double* sums = at(set);
        const double whole = weight(set) > 0 ? weight(set) : 1;  // one over it may be infinite
        if (has_classes()) {
            for (std::uint32_t k = 0; k < n_classes_; ++k) out[k] = sums[k] / whole;
        } else {
            *out = sums[0] / whole + offset_;
        }
    }

  private:
    double* at(std::int32_t set) { return sums_.data() + std::size_t(set) * width_; }
    const double* at(std::int32_t set) const { return sums_.data() + std::size_t(set) * width_; }
    double centred(Row row) const { return targets_.numbers[row] - offset_; }

    void change(std::int32_t set, Row row, double weight) {
        double* sums = at(set);
        if (has_classes()) {
            sums[targets_.classes[row]] += weight;
        } else {
            const double y = centred(row);
            sums[0] += weight * y;
            sums[1] += weight * y * y;
        }
        sums[width_ - 1] += weight;
    }

    GrowTargets targets_;
    Criterion criterion_;
    std::uint32_t n_classes_, width_;
    double offset_ = 0;         // so that sums of squares keep their digits
    std::vector<double> sums_;  // by set: class weights, or sum and sum of squares; then the weight
    std::vector<std::uint32_t> n_rows_;
    std::vector<double> label_;  // class or mean
};

}  // namespace hedgerow
