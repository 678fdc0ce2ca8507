#include "additive/tree_sum_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/power_method.hpp"
#include "base/random.hpp"

namespace hedgerow {

namespace {

constexpr std::size_t most_features = 16;  // of a group
// What leaves are compared with, as a multiple of the evidence's ridge: gains of small leaves are
// more often those of noise. Chosen on the sets of CHOOSE in benchmarks/sizes.py.
constexpr double search_damping = 100;
// What a split must gain for rows that are noisier than all, as a multiple of half of what they are
// noisier by: about what the best of many splits gains by chance. Chosen there as well.
constexpr double gain_of_noise = 10;
constexpr std::size_t group_bytes = std::size_t{256} << 10;

std::size_t width_of(std::uint32_t n_scores) { return (1 + 2 * std::size_t(n_scores) + 3) / 4 * 4; }

template <std::size_t width>
void add(double* to, const double* from) {
    for (std::size_t i = 0; i < width; ++i) to[i] += from[i];
}

}  // namespace

SumSearch::SumSearch(const SumTable& table, const SumMembers& members, const SumFit& fit,
                     const TreeSumParams& params, Team& team)
    : table_(table),
      members_(members),
      fit_(fit),
      params_(params),
      team_(team),
      n_scores_(fit.n_scores()),
      width_(width_of(fit.n_scores())),
      feature_price_(params.feature_price * fit.loss()),
      threshold_price_(params.threshold_price * fit.loss()),
      buffers_(team.size()),
      feature_used_(table.n_features(), 0),
      used_(table.n_features()) {
    Group group{0, 0};
    for (std::size_t f = 0; f < table.n_features(); ++f) {
        group.end = f + 1;
        const bool is_full = group.end - group.begin == most_features ||
                             cells_of(group) * width_ * sizeof(double) > group_bytes;
        if (is_full || f + 1 == table.n_features()) {
            groups_.push_back(group);
            group.begin = f + 1;
        }
    }
    read_derivatives();
    order_categories();
}

void SumSearch::read_derivatives() {
    const std::size_t n = table_.n_rows();
    derivatives_.resize(n * width_);
    for (std::size_t row = 0; row < n; ++row) {
        double* cell = &derivatives_[row * width_];
        cell[0] = 1;
        for (std::uint32_t k = 0; k < n_scores_; ++k) {
            cell[1 + k] = -fit_.gradient()[k * n + row];
            cell[1 + n_scores_ + k] = fit_.hessian()[k * n + row];
        }
    }
    std::vector<std::uint32_t> all(n);
    std::iota(all.begin(), all.end(), 0u);
    noise_ = noise_of(all);
}

double SumSearch::noise_of(std::span<const std::uint32_t> rows) const {
    if (params_.ridge >= 0 || params_.loss.name == Loss::Name::log_loss) return 0;
    const LossTargets targets = table_.targets();
    double squares = 0, weight = 0;
    for (const auto row : rows) {
        const double* cell = &derivatives_[row * width_];
        if (cell[2] > 0) squares += cell[1] * cell[1] / cell[2];
        weight += targets.weight(row);
    }
    return squares / weight;
}

void SumSearch::order_categories() {
    category_orders_.resize(table_.n_features());
    double hessians = 0;
    for (std::size_t i = 0; i < table_.n_rows() * n_scores_; ++i) hessians += fit_.hessian()[i];
    const double smoothing =
        params_.category_smoothing * hessians / static_cast<double>(table_.n_rows());
    std::vector<double> cells;
    for (const Group& group : groups_) {
        cells.resize(cells_of(group) * width_);
        count(group, nullptr, table_.n_rows(), cells.data());
        for (std::size_t f = group.begin; f < group.end; ++f) {
            const Column& column = table_.data().column(f);
            const std::size_t first = table_.first_cell(f) - table_.first_cell(group.begin);
            if (column.categorical) {
                category_orders_[f] =
                    ordered_categories(&cells[first * width_], column.n_bins, smoothing);
            }
        }
    }
}

SumSearch::Leaf SumSearch::leaf_of(std::int32_t at) const {
    if (at < 0) {
        const auto n = static_cast<std::uint32_t>(table_.n_rows());
        const bool more = params_.max_members < 0 ||
                          members_.n_members() < static_cast<std::size_t>(params_.max_members);
        return {key_of(members_.n_members(), 0), n, 0,
                more && params_.max_depth != 0 && n >= 2 * params_.min_samples_leaf, 0};
    }
    const SumNode& node = members_.node(at);
    const bool shallow = params_.max_depth < 0 || node.depth < params_.max_depth;
    return {node.key, node.n_rows(), node.column,
            shallow && node.n_rows() >= 2 * params_.min_samples_leaf && node.n_rows() >= 2,
            0.5 * gain_of_noise * std::max(noise_of(members_.rows(at)) - noise_, 0.0)};
}

void SumSearch::count(const Group& group, const std::uint32_t* rows, std::size_t n,
                      double* cells) const {
    std::fill_n(cells, cells_of(group) * width_, 0.0);
    const std::size_t n_features = group.end - group.begin, all = table_.n_features();
    std::uint32_t first[most_features];
    for (std::size_t f = 0; f < n_features; ++f) {
        first[f] = table_.first_cell(group.begin + f) - table_.first_cell(group.begin);
    }
    table_.with_codes([&](const auto* codes) {
        for (std::size_t i = 0; i < n; ++i) {
            const std::size_t row = rows ? rows[i] : i;
            const auto* code = codes + row * all + group.begin;
            const double* from = &derivatives_[row * width_];
            if (width_ == 4) {
                for (std::size_t f = 0; f < n_features; ++f) {
                    add<4>(cells + (first[f] + std::size_t(code[f])) * 4, from);
                }
            } else {
                for (std::size_t f = 0; f < n_features; ++f) {
                    double* to = cells + (first[f] + std::size_t(code[f])) * width_;
                    for (std::size_t j = 0; j < width_; j += 4) add<4>(to + j, from + j);
                }
            }
        }
    });
}

std::vector<SumSplit> SumSearch::all() {
    const std::size_t n_members = members_.n_members(), n_columns = members_.n_columns();
    // A new root: all rows, kept for the members.
    std::vector<std::vector<double>> whole(groups_.size());
    std::vector<std::vector<SumSplit>> found(groups_.size(), std::vector<SumSplit>(n_columns));
    team_.for_each(groups_.size(), [&](std::size_t g, int worker) {
        team_.checkpoint(worker);
        whole[g].resize(cells_of(groups_[g]) * width_);
        count(groups_[g], nullptr, table_.n_rows(), whole[g].data());
        search(groups_[g], leaf_of(-1), whole[g].data(), found[g][0]);
    });
    team_.for_each(groups_.size() * n_members, [&](std::size_t task, int worker) {
        team_.checkpoint(worker);
        const std::size_t g = task / n_members, member = task % n_members;
        const Group& group = groups_[g];
        Buffers& buffers = buffers_[worker];
        buffers.rest = whole[g];
        buffers.leaf.resize(whole[g].size());
        std::int32_t largest = -1;
        std::vector<std::int32_t> leaves;
        for (std::size_t c = 1; c < n_columns; ++c) {
            const std::int32_t at = members_.leaf_at(c);
            if (members_.node(at).member != member) continue;
            leaves.push_back(at);
            if (largest < 0 || members_.node(at).n_rows() > members_.node(largest).n_rows()) {
                largest = at;
            }
        }
        for (const std::int32_t at : leaves) {
            if (at == largest) continue;
            const auto rows = members_.rows(at);
            count(group, rows.data(), rows.size(), buffers.leaf.data());
            const Leaf leaf = leaf_of(at);
            search(group, leaf, buffers.leaf.data(), found[g][leaf.column]);
            for (std::size_t i = 0; i < buffers.rest.size(); ++i) {
                buffers.rest[i] -= buffers.leaf[i];
            }
        }
        const Leaf leaf = leaf_of(largest);
        search(group, leaf, buffers.rest.data(), found[g][leaf.column]);
    });
    for (std::size_t g = 1; g < groups_.size(); ++g) {
        for (std::size_t c = 0; c < n_columns; ++c) {
            take_better(found[0][c], found[g][c], leaf_of(members_.leaf_at(c)));
        }
    }
    return std::move(found[0]);
}

SumSplit SumSearch::one(std::int32_t at) {
    const Leaf leaf = leaf_of(at);
    if (!leaf.may_split) return {};
    std::vector<SumSplit> found(groups_.size());
    team_.for_each(groups_.size(), [&](std::size_t g, int worker) {
        team_.checkpoint(worker);
        auto& cells = buffers_[worker].leaf;
        cells.resize(cells_of(groups_[g]) * width_);
        if (at < 0) {
            count(groups_[g], nullptr, table_.n_rows(), cells.data());
        } else {
            const auto rows = members_.rows(at);
            count(groups_[g], rows.data(), rows.size(), cells.data());
        }
        search(groups_[g], leaf, cells.data(), found[g]);
    });
    for (std::size_t g = 1; g < groups_.size(); ++g) take_better(found[0], found[g], leaf);
    return std::move(found[0]);
}

// Of equally good splits of one feature the first wins, of equally good features the first in an
// order that is a hash of the leaf and the feature, as in trees (grow/split.hpp).
void SumSearch::take_better(SumSplit& best, SumSplit& found, const Leaf& leaf) const {
    if (!found.found()) return;
    const double tolerance = 1e-12 * (std::abs(found.gain) + std::abs(best.gain));
    const auto order = [&](std::int32_t feature) {
        return scramble(leaf.key ^ static_cast<std::uint64_t>(feature));
    };
    if (!best.found() || found.gain > best.gain + tolerance ||
        (found.gain >= best.gain - tolerance && found.feature != best.feature &&
         order(found.feature) < order(best.feature))) {
        best = std::move(found);
    }
}

void SumSearch::search(const Group& group, const Leaf& leaf, const double* cells,
                       SumSplit& best) const {
    if (!leaf.may_split) return;
    if (n_scores_ == 1) {
        scan<true>(group, leaf, cells, best);
    } else {
        scan<false>(group, leaf, cells, best);
    }
}

template <bool one_score>
void SumSearch::scan(const Group& group, const Leaf& leaf, const double* cells,
                     SumSplit& best) const {
    const std::size_t k = one_score ? 1 : n_scores_, width = one_score ? 4 : width_;
    const double ridge = fit_.ridge();
    const double damping = params_.ridge < 0 ? search_damping * fit_.evidence_ridge() : ridge;
    std::vector<double> pull(k), total(width), left(width);  // pull: of the penalty, by score
    double paid = 0;                                         // the penalty of the leaf as it is
    for (std::size_t s = 0; s < k; ++s) {
        const double value =
            leaf.column == 0 ? 0 : fit_.value(static_cast<std::uint32_t>(s), leaf.column);
        pull[s] = ridge * value;
        paid += ridge * value * value;
    }
    for (std::size_t c = table_.first_cell(group.begin); c < table_.first_cell(group.begin + 1);
         ++c) {
        const double* cell = cells + (c - table_.first_cell(group.begin)) * width;
        for (std::size_t j = 0; j < width; ++j) total[j] += cell[j];
    }
    double sum_of_hessians = 0;
    for (std::size_t s = 0; s < k; ++s) sum_of_hessians += std::max(total[1 + k + s], 0.0);
    const double least = 1e-12 * sum_of_hessians + 1e-300;  // keeps quotients finite
    const double fewest = std::max<double>(params_.min_samples_leaf, 1);
    const auto worth = [&](const double* sums) {
        double out = 0;
        for (std::size_t s = 0; s < k; ++s) {
            const double g = sums[1 + s] - pull[s];
            out += g * g / (std::max(sums[1 + k + s], 0.0) + damping + least);
        }
        return out;
    };
    std::vector<double> right(width);
    SumSplit found;
    // The gain of the left sums as they are, if they may be: -1 otherwise.
    const auto gain_of = [&](int monotone) {
        if (left[0] < fewest || total[0] - left[0] < fewest) return -1.0;
        for (std::size_t j = 0; j < width; ++j) right[j] = total[j] - left[j];
        if (monotone != 0) {
            const auto step = [&](const auto& sums) {
                return (sums[1] - pull[0]) / (std::max(sums[1 + k], 0.0) + ridge + least);
            };
            if (monotone * (step(right) - step(left)) < 0) return -1.0;
        }
        return 0.5 * (worth(left.data()) + worth(right.data()) - paid) - leaf.price;
    };
    for (std::size_t f = group.begin; f < group.end; ++f) {
        const Column& column = table_.data().column(f);
        const double* bins =
            cells + (table_.first_cell(f) - table_.first_cell(group.begin)) * width;
        const double* missing = bins + std::size_t(column.n_bins) * width;
        const bool has_missing = missing[0] > 0.5;
        const int monotone = params_.monotone.empty() ? 0 : params_.monotone[f];
        const double price = feature_used_[f] ? 0 : feature_price_;
        const auto start = [&](bool missing_left) {
            for (std::size_t j = 0; j < width; ++j) left[j] = missing_left ? missing[j] : 0;
        };
        const auto move = [&](const double* bin) {
            for (std::size_t j = 0; j < width; ++j) left[j] += bin[j];
        };
        SumSplit best_here;
        const auto offer = [&](double gain, bool missing_left, auto&& complete) {
            const double tolerance = 1e-12 * std::abs(best_here.gain);
            if (gain <= 0 || (best_here.found() && gain <= best_here.gain + tolerance)) return;
            best_here.gain = gain;
            best_here.feature = static_cast<std::int32_t>(f);
            best_here.categorical = column.categorical;
            double heavier = 0;
            for (std::size_t s = 0; s < k; ++s) heavier += 2 * left[1 + k + s] - total[1 + k + s];
            best_here.missing_left = has_missing ? missing_left : heavier > 0;
            complete();
        };
        if (column.categorical) {
            std::vector<std::uint32_t> order = category_orders_[f];
            std::erase_if(order, [&](auto code) { return bins[code * width] < 0.5; });
            for (int pass = 0; pass <= int(has_missing); ++pass) {
                start(pass == 1);
                for (std::size_t i = 0; i + (pass == 1 || !has_missing) < order.size(); ++i) {
                    move(bins + std::size_t(order[i]) * width);
                    offer(gain_of(0) - price - threshold_price_, pass == 1, [&] {
                        best_here.left_codes.assign(order.begin(), order.begin() + i + 1);
                        best_here.right_codes.assign(order.begin() + i + 1, order.end());
                    });
                }
            }
        } else {
            for (int pass = 0; pass <= int(has_missing); ++pass) {
                start(pass == 1);
                std::uint32_t a = column.n_bins;  // the last code on the left
                for (std::uint32_t code = 0; code < column.n_bins; ++code) {
                    const double* bin = bins + std::size_t(code) * width;
                    if (bin[0] < 0.5) continue;
                    if (a < column.n_bins && left[0] >= fewest) {
                        double gain = gain_of(monotone);
                        if (gain > 0) {
                            gain -= price;
                            if (threshold_price_ > 0 &&
                                !is_used(static_cast<std::int32_t>(f), a, code))
                                gain -= threshold_price_;
                            offer(gain, pass == 1, [&] { best_here.a = a, best_here.b = code; });
                        }
                    }
                    move(bin);
                    a = code;
                }
                if (has_missing && pass == 0 && a < column.n_bins) {
                    offer(gain_of(0) - price - threshold_price_, false,
                          [&] { best_here.a = a, best_here.b = column.n_bins; });
                }
            }
        }
        take_better(best, best_here, leaf);
    }
}

// The categories by the step that each would take alone, with more rows of mean zero; for several
// scores along the principal component of these steps.
std::vector<std::uint32_t> SumSearch::ordered_categories(const double* cells, std::uint32_t n_bins,
                                                         double smoothing) const {
    std::vector<std::uint32_t> present;
    for (std::uint32_t code = 0; code < n_bins; ++code) {
        if (cells[code * width_] > 0.5) present.push_back(code);
    }
    const std::size_t k = n_scores_;
    std::vector<double> steps(present.size() * k), order(n_bins);
    for (std::size_t i = 0; i < present.size(); ++i) {
        const double* cell = cells + std::size_t(present[i]) * width_;
        for (std::size_t s = 0; s < k; ++s) {
            steps[i * k + s] = cell[1 + s] / (std::max(cell[1 + k + s], 0.0) + smoothing + 1e-300);
        }
    }
    if (k == 1) {
        for (std::size_t i = 0; i < present.size(); ++i) order[present[i]] = steps[i];
    } else {
        std::vector<double> mean(k, 0.0), direction(k), next;
        double total = 0, farthest = -1;
        for (std::size_t i = 0; i < present.size(); ++i) {
            const double weight = cells[std::size_t(present[i]) * width_];
            total += weight;
            for (std::size_t s = 0; s < k; ++s) mean[s] += weight * steps[i * k + s];
        }
        for (std::size_t i = 0; i < present.size(); ++i) {
            double norm = 0;
            for (std::size_t s = 0; s < k; ++s) {
                steps[i * k + s] -= mean[s] / total;
                norm += steps[i * k + s] * steps[i * k + s];
            }
            norm *= cells[std::size_t(present[i]) * width_];
            if (norm > farthest) {
                farthest = norm;
                std::copy_n(&steps[i * k], k, direction.begin());
            }
        }
        const auto along = [&](const std::vector<double>& d, std::size_t i) {
            return std::inner_product(d.begin(), d.end(), &steps[i * k], 0.0);
        };
        power_method(50, direction, next, [&](const auto& from, auto& to) {
            std::fill(to.begin(), to.end(), 0.0);
            for (std::size_t i = 0; i < present.size(); ++i) {
                const double weighed = cells[std::size_t(present[i]) * width_] * along(from, i);
                for (std::size_t s = 0; s < k; ++s) to[s] += weighed * steps[i * k + s];
            }
        });
        for (std::size_t i = 0; i < present.size(); ++i) order[present[i]] = along(direction, i);
    }
    std::stable_sort(present.begin(), present.end(),
                     [&](auto x, auto y) { return order[x] < order[y]; });
    return present;
}

bool SumSearch::is_used(std::int32_t feature, std::uint32_t a, std::uint32_t b) const {
    return std::any_of(used_[feature].begin(), used_[feature].end(),
                       [&](const SumTest& t) { return t.n_left > a && t.n_left <= b; });
}

SumTest SumSearch::test_of(const SumSplit& split) const {
    const Column& column = table_.data().column(static_cast<std::size_t>(split.feature));
    SumTest test;
    test.feature = split.feature;
    test.categorical = split.categorical;
    test.missing_left = split.missing_left;
    if (split.categorical) {
        test.threshold = column.n_bins;
        // Categories that the leaf does not have go with missing values.
        std::vector<std::uint8_t> is_left(column.n_bins, split.missing_left);
        for (const auto code : split.left_codes) is_left[code] = 1;
        for (const auto code : split.right_codes) is_left[code] = 0;
        test.set.assign((column.n_bins + 63) / 64, 0);
        for (std::uint32_t code = 0; code < column.n_bins; ++code) {
            test.set[code / 64] |= std::uint64_t{is_left[code]} << (code % 64);
        }
        return test;
    }
    if (split.b == column.n_bins) {
        test.n_left = column.n_bins;
        test.threshold = std::numeric_limits<double>::infinity();
        return test;
    }
    if (threshold_price_ > 0) {
        for (const SumTest& used : used_[split.feature]) {
            if (used.n_left > split.a && used.n_left <= split.b) {
                test.n_left = used.n_left;
                test.threshold = used.threshold;
                return test;
            }
        }
    }
    const Cut cut = cut_between(column, split.a, split.b);
    test.n_left = cut.last_left + 1;
    test.threshold = cut.threshold;
    return test;
}

void SumSearch::use(const SumTest& test) {
    feature_used_[test.feature] = 1;
    if (!test.categorical) used_[test.feature].push_back(test);
}

void SumSearch::recount_used() {
    std::fill(feature_used_.begin(), feature_used_.end(), 0);
    for (auto& tests : used_) tests.clear();
    for (std::size_t member = 0; member < members_.n_members(); ++member) {
        for (const auto at : members_.inner_nodes(member)) use(members_.node(at).test);
    }
}

}  // namespace hedgerow
