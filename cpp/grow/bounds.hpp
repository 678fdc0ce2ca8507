// Monotone constraints: what the values of a node and of all below it keep to.
//
// value      of a node: its mean, or the share of the second of two classes
// direction  of a feature: 1, values never fall as it rises; -1, they never rise; 0, they are free
// bounds     of a node. A split on a feature with a direction divides them half-way between the
//            values of its sides, so that nothing below one side ever passes the other. Other
//            splits are found as if there were no bounds; the values of their sides are then cut to
//            them
//
// This is the rule of scikit-learn.
// Unseen and missing values need no rule: whichever side they go, the bounds of that side hold.
#pragma once

#include <algorithm>
#include <limits>

namespace hedgerow {

struct Bounds {
    double low = -std::numeric_limits<double>::infinity();
    double high = std::numeric_limits<double>::infinity();

    bool allow(double left, double right, int direction) const {
        return direction == 0 || (left >= low && right >= low && left <= high && right <= high &&
                                  (left - right) * direction <= 0);
    }
    double clip(double value) const { return std::clamp(value, low, high); }
    // Of a child of a split whose sides' values lie around `middle`.
    Bounds of_child(bool is_left, int direction, double middle) const {
        if (direction == 0) return *this;
        return is_left == (direction > 0) ? Bounds{low, middle} : Bounds{middle, high};
    }
};

// Left and right of a border as in grow/criterion.hpp, whose values are asked for.
template <class Sides>
struct BoundedSides : Sides {
    using Sides::Sides;
    static constexpr bool on_bits = false;  // these keep no bounds

    double value_left() const {
        if constexpr (Sides::Stats::classes) {
            return static_cast<double>(this->left_[1]) / this->weight_left();
        } else {
            return this->sum_left_ / this->weight_left();
        }
    }
    double value_right() const {
        if constexpr (Sides::Stats::classes) {
            return static_cast<double>(this->right_[1]) / this->weight_right();
        } else {
            return this->sum_right_ / this->weight_right();
        }
    }
};

template <class Sides>
concept HasBounds = requires(const Sides& sides) { sides.value_left(); };

}  // namespace hedgerow
