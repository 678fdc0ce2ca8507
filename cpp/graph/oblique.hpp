// A test of a weighted sum of many features: less than a threshold goes left.
//
// term      number: weight * (x[feature] - centre); category: weight if x[feature] is the category.
//           A test has its numbers first, then for each of its categorical features one term a
//           category, in the order of the codes
// missing   a missing number is left out; a missing category, or one outside the training table,
//           has equal shares of all categories: the mean of their weights
//
// A test is never changed, so all graphs and layouts that hold it share one copy: 16 bytes a number
// where the features are neighbours, which is nearly always.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "base/portable.hpp"

namespace hedgerow {

struct ObliqueTerm {
    std::int32_t feature;
    std::int32_t category;  // -1: the feature is a number
    double weight;
    double centre;  // 0 for a category
};

class ObliqueTest {
  public:
    // Throws std::invalid_argument where the terms are not in the order described above.
    explicit ObliqueTest(std::span<const ObliqueTerm> terms);

    std::vector<ObliqueTerm> terms() const;
    std::size_t nbytes() const;

    // The sum of the terms for a row, and whether it is below the threshold.
    template <class T>
    double sum(const T* x) const {
        double out;
        if (consecutive_) {
            sum_numbers<1>(&x, &out);
        } else {
            out = sum_of_known(x);
        }
        add_tables<1>(&x, &out);
        return out;
    }
    template <class T>
    bool goes_left(const T* x, double threshold) const {
        return sum(x) < threshold;
    }
    // The same for n rows, where at(i) is the i-th: weights are read once for four rows.
    template <class At>
    void go_left(std::size_t n, const At& at, double threshold, std::uint8_t* out) const {
        std::size_t i = 0;
        for (; consecutive_ && i + 4 <= n; i += 4) {
            const std::array rows{at(i), at(i + 1), at(i + 2), at(i + 3)};
            std::array<double, 4> sums;
            sum_numbers<4>(rows.data(), sums.data());
            add_tables<4>(rows.data(), sums.data());
            for (std::size_t r = 0; r < 4; ++r) out[i + r] = sums[r] < threshold;
        }
        for (; i < n; ++i) out[i] = goes_left(at(i), threshold);
    }

  private:
    // The weights of a categorical feature.
    struct Table {
        std::int32_t feature;
        std::uint32_t begin, size;
        double missing;
    };

    using Four = Lanes<double, 4>;

    template <class T>
    static Four load(const T* x) {
        Lanes<T, 4> four;
        std::memcpy(&four, x, sizeof four);
        return convert_lanes<Four>(four);
    }

    const double* weight() const { return numbers_.data() + n_numbers_; }

    // Neighbouring features of n_rows rows. Eight sums side by side for each, whatever the
    // processor: its vectors are filled, and the order is fixed.
    template <std::size_t n_rows, class T>
    void sum_numbers(const T* const* rows, double* out) const {
        const double* weight = this->weight();
        const double* centre = numbers_.data();
        Four sums[n_rows][2] = {};
        std::uint32_t i = 0;
        const auto add_four = [&](std::uint32_t half) {
            const Four w = load(weight + i), c = load(centre + i);
            for (std::size_t r = 0; r < n_rows; ++r) {
                sums[r][half] += w * (load(rows[r] + first_ + i) - c);
            }
            i += 4;
        };
        while (i + 8 <= n_numbers_) {
            add_four(0);
            add_four(1);
        }
        if (i + 4 <= n_numbers_) add_four(0);
        for (std::size_t r = 0; r < n_rows; ++r) {
            const Four both = sums[r][0] + sums[r][1];
            out[r] = (both[0] + both[2]) + (both[1] + both[3]);
            for (std::uint32_t j = i; j < n_numbers_; ++j) {
                out[r] += weight[j] * (static_cast<double>(rows[r][first_ + j]) - centre[j]);
            }
            if (out[r] != out[r]) out[r] = sum_of_known(rows[r]);
        }
    }

    std::int32_t feature(std::uint32_t number) const {
        return consecutive_ ? first_ + static_cast<std::int32_t>(number) : features_[number];
    }

    // Any features, without those that are missing.
    template <class T>
    double sum_of_known(const T* x) const {
        double sum = 0;
        for (std::uint32_t i = 0; i < n_numbers_; ++i) {
            const double distance = static_cast<double>(x[feature(i)]) - numbers_[i];
            if (distance == distance) sum += weight()[i] * distance;
        }
        return sum;
    }

    template <std::size_t n_rows, class T>
    void add_tables(const T* const* rows, double* sums) const {
        for (const Table& table : tables_) {
            const double* weights = weight() + table.begin;
            const T size = static_cast<T>(table.size);
            for (std::size_t r = 0; r < n_rows; ++r) {
                const T code = rows[r][table.feature];
                const bool known = code >= 0 && code < size;
                sums[r] += known ? weights[static_cast<std::int32_t>(code)] : table.missing;
            }
        }
    }

    std::uint32_t n_numbers_ = 0;
    std::int32_t first_ = 0;    // the first feature of the numbers
    bool consecutive_ = false;  // they are neighbours: no list of them
    std::vector<std::int32_t> features_;
    std::vector<double> numbers_;  // the centres of the numbers, then the weights of all terms
    std::vector<Table> tables_;
};

}  // namespace hedgerow
