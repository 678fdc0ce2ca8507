// Subtrees of trees that draw thresholds, grown on a copy of their codes in which rows lie one
// after the other.
//
// row      its codes of all features side by side, padded to whole vectors
// ranges   the smallest and largest codes of all features, found in one pass over a node's rows
// draws    a node's features and thresholds are drawn before any is judged; one more pass then
// finds
//          the left sides of all of them
// run      rows of one class, which follow each other: what goes left of them is counted in bytes,
//          and a child's runs are known when its rows are
//
// A row costs two loads, a minimum, a maximum, a comparison and an addition for 32 features, and a
// copy of its codes when the node is divided: there is no sort, no histogram and no row number.
// Against the general search and bits, extra trees take 0.43 of the time on california_housing and
// 0.88 on letter.
//
// For rows without weights and numbers of at most 255 bins without missing values. Such a subtree
// is that of the general search, split for split; sums of numbers may differ from it in their last
// bit.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>
#ifdef __AVX2__
#include <immintrin.h>
#endif

#include "base/portable.hpp"
#include "data/row_codes.hpp"
#include "grow/missing.hpp"
#include "grow/random_split.hpp"
#include "grow/split_search.hpp"
#include "grow/subtree.hpp"

namespace hedgerow {

template <class Sides>
inline constexpr bool grows_rows =
    !HasBounds<Sides> && !Sides::ranked && !has_several<typename Sides::Stats> &&
    !Sides::Stats::weighted && (Sides::on_bits || !Sides::Stats::classes);

// The sums of the numbers that go left, and how many these are, of eight features at once.
class LeftSums {
  public:
    static constexpr std::size_t n_features = 8;

#ifdef __AVX2__
    explicit LeftSums(const std::uint8_t* last) {
        for (std::size_t v = 0; v < 2; ++v) last_[v] = four(last + 4 * v);
    }
    void add(const std::uint8_t* codes, double number) {
        const __m256d y = _mm256_set1_pd(number);
        for (std::size_t v = 0; v < 2; ++v) {
            const __m256i right = _mm256_cmpgt_epi64(four(codes + 4 * v), last_[v]);
            sums_[v] = _mm256_add_pd(sums_[v], _mm256_andnot_pd(_mm256_castsi256_pd(right), y));
            n_right_[v] = _mm256_sub_epi64(n_right_[v], right);
        }
        ++n_;
    }
    void write(double* sums, std::uint32_t* counts) const {
        for (std::size_t v = 0; v < 2; ++v) {
            std::array<std::int64_t, 4> n_right;
            _mm256_storeu_pd(sums + 4 * v, sums_[v]);
            _mm256_storeu_si256(reinterpret_cast<__m256i*>(n_right.data()), n_right_[v]);
            for (std::size_t f = 0; f < 4; ++f) {
                counts[4 * v + f] = n_ - static_cast<std::uint32_t>(n_right[f]);
            }
        }
    }

  private:
    static __m256i four(const std::uint8_t* codes) {
        std::int32_t bytes;
        std::memcpy(&bytes, codes, 4);
        return _mm256_cvtepu8_epi64(_mm_cvtsi32_si128(bytes));
    }

    __m256d sums_[2] = {_mm256_setzero_pd(), _mm256_setzero_pd()};
    __m256i n_right_[2] = {_mm256_setzero_si256(), _mm256_setzero_si256()};
    __m256i last_[2];
    std::uint32_t n_ = 0;
#else
    explicit LeftSums(const std::uint8_t* last) { std::copy_n(last, n_features, last_.begin()); }
    void add(const std::uint8_t* codes, double number) {
        for (std::size_t f = 0; f < n_features; ++f) {
            const bool left = codes[f] <= last_[f];
            sums_[f] += left ? number : 0.0;
            counts_[f] += left;
        }
    }
    void write(double* sums, std::uint32_t* counts) const {
        std::copy(sums_.begin(), sums_.end(), sums);
        std::copy(counts_.begin(), counts_.end(), counts);
    }

  private:
    std::array<double, n_features> sums_{};
    std::array<std::uint32_t, n_features> counts_{};
    std::array<std::uint8_t, n_features> last_;
#endif
};

// Features of tables that are grown so: classes of wider ones are as fast on bits (adult,
// covertype).
constexpr std::size_t most_row_codes(bool classes) { return classes ? 32 : 128; }

template <class Sides>
class RowTree {
    using Stats = typename Sides::Stats;
    using Target = typename Stats::Target;
    using NodeStart = subtree::NodeStart;
    using Site = subtree::Site;
    using Sum = std::conditional_t<Stats::classes, std::int64_t, double>;
    static constexpr bool classes = Stats::classes;
    static constexpr std::size_t narrow = 16, wide = 32;  // vectors of codes
    static constexpr std::uint32_t most_counted = 255;    // by a byte

    struct Run {
        std::int32_t k;
        std::uint32_t n;
    };
    struct Node {
        NodeStart start;
        std::uint32_t begin, end;
        Sum total;           // of numbers
        std::size_t n_runs;  // the last of those that wait

        std::uint32_t size() const { return end - begin; }
    };
    struct Drawn {
        std::uint32_t feature;
        std::uint32_t n_swaps;  // that were made until then
        Cut cut;
    };
    struct SumBorder {
        double left, right, whole;
        std::uint32_t count_left, count_right;

        std::uint32_t n_left() const { return count_left; }
        std::uint32_t n_right() const { return count_right; }
        double weight_left() const { return count_left; }
        double weight_right() const { return count_right; }
        double score() const {
            return Sides::worth(left, count_left, whole) + Sides::worth(right, count_right, whole);
        }
        bool may_beat(double) const { return true; }
    };
    using Border = std::conditional_t<classes, subtree::GiniBorder<Sides>, SumBorder>;

  public:
    static std::size_t stride_for(std::size_t n_features) {
        return n_features <= narrow ? narrow : (n_features + wide - 1) / wide * wide;
    }

    // `by_row` may be null: the codes are then taken from the columns.
    void grow(const Stats& stats, const NodeRows<Stats>& rows, const RowCodes* by_row,
              const NodeStart& root, const Site& site) {
        stats_ = stats;
        take(rows, by_row, site.views);
        stack_.push_back({root, 0, rows.n, sum_between(0, rows.n), runs_.size()});
        while (!stack_.empty()) {
            Node node = stack_.back();
            stack_.pop_back();
            own_runs_.assign(runs_.end() - static_cast<std::ptrdiff_t>(node.n_runs), runs_.end());
            runs_.resize(runs_.size() - node.n_runs);
            const std::int32_t index = write(node, site.graph);
            if (is_pure(node) || !site.limits.may_split(node.start.depth, node.size(), node.size(),
                                                        site.graph.impurity[index])) {
                continue;
            }
            const Split split = find_split(node, index, site);
            if (split.found()) divide(node, index, split, site);
        }
    }

  private:
    void take(const NodeRows<Stats>& rows, const RowCodes* by_row,
              const std::vector<CodeView>& views) {
        n_features_ = views.size();
        if (!knows_columns_) cuts_.take(views);  // they are the same for the whole tree
        knows_columns_ = true;
        stride_ = stride_for(n_features_);
        right_begin_ = rows.n * stride_;
        codes_.resize(std::max(codes_.size(), 2 * right_begin_));
        if (by_row) {
            for (std::uint32_t i = 0; i < rows.n; ++i) {
                std::copy_n(by_row->of(rows.rows[i]), n_features_, codes_.data() + i * stride_);
            }
        } else {
            copy_columns(rows, views);
        }
        runs_.clear();
        if constexpr (classes) {
            for (std::uint32_t i = 0; i < rows.n; ++i) {
                if (runs_.empty() || runs_.back().k != rows.targets[i]) {
                    runs_.push_back({rows.targets[i], 0});
                }
                ++runs_.back().n;
            }
        } else {
            targets_.assign(rows.targets, rows.targets + rows.n);
            right_targets_.resize(rows.n);
        }
        low_.resize(stride_);
        high_.resize(stride_);
        last_.resize(stride_);
        left_.resize(stride_);
        n_left_.resize(stride_);
        counts_.resize(stride_);
    }

    void copy_columns(const NodeRows<Stats>& rows, const std::vector<CodeView>& views) {
        constexpr std::uint32_t tile = 256;  // rows that stay in the first-level cache
        for (std::uint32_t begin = 0; begin < rows.n; begin += tile) {
            const std::uint32_t end = std::min(begin + tile, rows.n);
            for (std::size_t f = 0; f < views.size(); ++f) {
                const std::uint8_t* const from = views[f].narrow;
                for (std::uint32_t i = begin; i < end; ++i) {
                    codes_[i * stride_ + f] = from[rows.rows[i]];
                }
            }
        }
    }

    Sum sum_between(std::uint32_t begin, std::uint32_t end) const {
        Sum sum = 0;
        if constexpr (!classes) {
            for (std::uint32_t i = begin; i < end; ++i) sum += targets_[i];
        }
        return sum;
    }

    std::int32_t write(const Node& node, DecisionGraph& graph) {
        const double n = node.size();
        double impurity = 0;
        if constexpr (classes) {
            squares_ = 0;
            for (const Run& run : own_runs_) squares_ += Sum{run.n} * run.n;
            score_ = static_cast<double>(squares_) / n;
            impurity = std::max(0.0, 1 - score_ / n);
        } else {
            score_ = Sides::worth(node.total, n, node.total);
            const double mean = node.total / n;
            for (std::uint32_t i = node.begin; i < node.end; ++i) {
                impurity += Sides::deviance(targets_[i], mean);
            }
            impurity = std::max(0.0, impurity / n);
        }
        const std::int32_t index = graph.add_leaf(node.start.place, node.size(), n, impurity);
        double* value = graph.value.data() + std::size_t(index) * graph.n_outputs;
        if constexpr (classes) {
            for (const Run& run : own_runs_) value[run.k] = static_cast<double>(run.n) / n;
        } else {
            *value = node.total / n + stats_.offset;
        }
        return index;
    }

    bool is_pure(const Node& node) const {
        if constexpr (classes) return own_runs_.size() == 1;
        const auto first = targets_.begin() + node.begin, last = targets_.begin() + node.end;
        return std::all_of(first, last, [&](Target y) { return y == *first; });
    }

    // Calls body(place) for each vector of a row, with its width.
    template <class Body>
    void for_vectors(const Body& body) const {
        if (stride_ == narrow) return body.template operator()<narrow>(std::size_t{0});
        for (std::size_t at = 0; at < stride_; at += wide) body.template operator()<wide>(at);
    }
    template <std::size_t width>
    static Lanes<std::uint8_t, width> load(const std::uint8_t* from) {
        Lanes<std::uint8_t, width> v;
        std::memcpy(&v, from, width);
        return v;
    }

    void find_ranges(const Node& node) {
        for_vectors([&]<std::size_t width>(std::size_t at) {
            const std::size_t stride = width == narrow ? narrow : stride_;
            const std::uint8_t* row = codes_.data() + node.begin * stride + at;
            auto low = load<width>(row), high = low;
            for (std::uint32_t i = node.begin + 1; i < node.end; ++i) {
                const auto codes = load<width>(row += stride);
                low = smaller(low, codes);
                high = larger(high, codes);
            }
            std::memcpy(low_.data() + at, &low, width);
            std::memcpy(high_.data() + at, &high, width);
        });
    }

    void draw(Node& node, const Site& site) {
        drawn_.clear();
        swaps_.clear();
        site.draw.draw(
            site.features, node.start.n_constant, node.start.key, [] { return false; },
            [&](std::uint32_t f, Random& random) {
                if (low_[f] == high_[f]) return false;
                const Cut cut = cuts_.draw(*site.views[f].column, f, low_[f], high_[f], random);
                last_[f] = static_cast<std::uint8_t>(cut.last_left);
                drawn_.push_back({f, static_cast<std::uint32_t>(swaps_.size() + 1), cut});
                return true;
            },
            [&](std::uint32_t& a, std::uint32_t& b) {
                std::swap(a, b);
                swaps_.push_back({&a, &b});
            });
    }

    Split find_split(Node& node, std::int32_t index, const Site& site) {
        const double loss = site.limits.loss_of(node.size(), site.graph.impurity[index]);
        const SplitRules rules = site.limits.rules_for(loss, score_, node.start.key);
        find_ranges(node);
        draw(node, site);
        borders_.assign(drawn_.size(), {});
        classes ? count_classes(node) : sum_numbers(node);
        Split best;
        for (std::size_t i = 0; i < drawn_.size(); ++i) {
            const Drawn& drawn = drawn_[i];
            if (detail::take_border(borders_[i], rules, static_cast<std::int32_t>(drawn.feature),
                                    drawn.cut.last_left, false, best)) {
                best.threshold = drawn.cut.threshold;
            }
            if (best.score >= score_ + loss - rules.tolerance) {
                // The search ends here, with what was drawn until now.
                for (std::size_t s = swaps_.size(); s-- > drawn.n_swaps;) {
                    std::swap(*swaps_[s].first, *swaps_[s].second);
                }
                break;
            }
        }
        if (best.found() && !site.limits.gains_enough(best.score, score_)) best = {};
        return best;
    }

    void count_classes(const Node& node) {
        if constexpr (classes) {
            const std::uint8_t* row = codes_.data() + node.begin * stride_;
            for (const Run& run : own_runs_) {
                std::fill(n_left_.begin(), n_left_.begin() + drawn_.size(), 0u);
                for (std::uint32_t rest = run.n; rest > 0;) {
                    const std::uint32_t n = std::min(rest, most_counted);
                    count_rows(row, n);
                    for (std::size_t i = 0; i < drawn_.size(); ++i) {
                        n_left_[i] += counts_[drawn_[i].feature];
                    }
                    row += n * stride_;
                    rest -= n;
                }
                for (std::size_t i = 0; i < drawn_.size(); ++i) {
                    const Sum l = n_left_[i], r = run.n - l;
                    borders_[i].sum_left += l;
                    borders_[i].squares_left += l * l;
                    borders_[i].squares_right += r * r;
                }
            }
            for (Border& border : borders_) {
                border.count_left = static_cast<std::uint32_t>(border.sum_left);
                border.count_right = node.size() - border.count_left;
                border.sum_right = border.count_right;
            }
        }
    }

    // How many of the rows go left, by feature.
    void count_rows(const std::uint8_t* rows, std::uint32_t n) {
        for_vectors([&]<std::size_t width>(std::size_t at) {
            const std::size_t stride = width == narrow ? narrow : stride_;
            const auto last = load<width>(last_.data() + at);
            const std::uint8_t* row = rows + at;
            Lanes<std::uint8_t, width> counts{};
            for (std::uint32_t i = 0; i < n; ++i, row += stride) {
                count_up_to(counts, load<width>(row), last);
            }
            std::memcpy(counts_.data() + at, &counts, width);
        });
    }

    void sum_numbers(const Node& node) {
        if constexpr (!classes) {
            for (std::size_t at = 0; at < n_features_; at += LeftSums::n_features) {
                LeftSums left(last_.data() + at);
                const std::uint8_t* row = codes_.data() + node.begin * stride_ + at;
                for (std::uint32_t i = node.begin; i < node.end; ++i, row += stride_) {
                    left.add(row, targets_[i]);
                }
                left.write(left_.data() + at, n_left_.data() + at);
            }
            for (std::size_t i = 0; i < drawn_.size(); ++i) {
                const std::uint32_t f = drawn_[i].feature;
                borders_[i] = {left_[f], node.total - left_[f], node.total, n_left_[f],
                               node.size() - n_left_[f]};
            }
        }
    }

    // Moves rows one after the other: left ones within their node, right ones to where they wait.
    template <std::size_t width>
    class Mover {
      public:
        Mover(std::uint8_t* codes, std::size_t begin, std::size_t right_begin, std::size_t stride,
              const Split& split)
            : codes_(codes),
              stride_(width == narrow ? narrow : stride),
              from_(begin),
              left_(begin),
              right_begin_(right_begin),
              right_(right_begin),
              feature_(static_cast<std::size_t>(split.feature)),
              last_(static_cast<std::uint8_t>(split.a)) {}

        // Whether the next row goes left; no branch to mispredict.
        bool move() {
            const bool left = codes_[from_ + feature_] <= last_;
            const auto mask = -std::size_t{left};
            const std::size_t to = (left_ & mask) | (right_ & ~mask);
            for (std::size_t at = 0; at < stride_; at += width) {
                const auto codes = load<width>(codes_ + from_ + at);
                std::memcpy(codes_ + to + at, &codes, width);
            }
            left_ += stride_ & mask;
            right_ += stride_ & ~mask;
            from_ += stride_;
            return left;
        }
        void finish() { std::memcpy(codes_ + left_, codes_ + right_begin_, right_ - right_begin_); }

      private:
        std::uint8_t* const codes_;
        const std::size_t stride_;
        std::size_t from_, left_;
        const std::size_t right_begin_;
        std::size_t right_;
        const std::size_t feature_;
        const std::uint8_t last_;
    };

    // Returns how many go left.
    template <std::size_t width>
    std::uint32_t move_rows(const Node& node, const Split& split) {
        Mover<width> rows(codes_.data(), node.begin * stride_, right_begin_, stride_, split);
        std::uint32_t n_left = 0;
        if constexpr (classes) {
            for (const Run& run : own_runs_) {
                std::uint32_t n = 0;
                for (std::uint32_t i = 0; i < run.n; ++i) n += rows.move();
                if (n > 0) left_runs_.push_back({run.k, n});
                if (n < run.n) runs_.push_back({run.k, run.n - n});
                n_left += n;
            }
        } else {
            Target* const here = targets_.data() + node.begin;
            Target* const right = right_targets_.data();
            for (std::uint32_t i = 0; i < node.size(); ++i) {
                // Both places are written, one of them for good.
                here[n_left] = right[i - n_left] = here[i];
                n_left += rows.move();
            }
            std::copy_n(right, node.size() - n_left, here + n_left);
        }
        rows.finish();
        return n_left;
    }

    void divide(const Node& node, std::int32_t index, const Split& split, const Site& site) {
        left_runs_.clear();
        const std::size_t n_waiting = runs_.size();
        const std::uint32_t n_left =
            stride_ == narrow ? move_rows<narrow>(node, split) : move_rows<wide>(node, split);
        const std::uint32_t middle = node.begin + n_left;
        const std::size_t n_right_runs = runs_.size() - n_waiting;
        site.graph.set_axis(index, split.feature, split.threshold,
                            unseen_goes_left(n_left, node.size()));
        stack_.push_back({node.start.child(index, false), middle, node.end,
                          sum_between(middle, node.end), n_right_runs});
        stack_.push_back({node.start.child(index, true), node.begin, middle,
                          sum_between(node.begin, middle), left_runs_.size()});
        runs_.insert(runs_.end(), left_runs_.begin(), left_runs_.end());
    }

    Stats stats_{};
    RandomCuts cuts_;
    bool knows_columns_ = false;

    // The subtree.
    std::size_t stride_ = 0, n_features_ = 0;
    std::vector<std::uint8_t> codes_;  // and then those of rows that go right and wait
    std::size_t right_begin_ = 0;
    std::vector<Target> targets_, right_targets_;  // numbers
    std::vector<Node> stack_;
    std::vector<Run> runs_;  // of the nodes on the stack

    // The node.
    std::vector<Run> own_runs_, left_runs_;
    Sum squares_ = 0;
    double score_ = 0;
    std::vector<std::uint8_t> low_, high_, last_, counts_;  // by feature
    std::vector<double> left_;
    std::vector<std::uint32_t> n_left_;
    std::vector<Drawn> drawn_;
    std::vector<std::pair<std::uint32_t*, std::uint32_t*>> swaps_;
    std::vector<Border> borders_;
};

}  // namespace hedgerow
