#include "additive/tree_sum_tune.hpp"

#include <algorithm>
#include <cmath>

#include "grow/missing.hpp"

namespace hedgerow {

SumTuner::SumTuner(const SumTable& table, SumMembers& members, const SumFit& fit,
                   std::uint32_t min_samples_leaf, Team& team)
    : table_(table),
      members_(members),
      fit_(fit),
      min_samples_leaf_(std::max(min_samples_leaf, 1u)),
      team_(team),
      searches_(team.size()) {}

bool SumTuner::leaves_have_rows(std::int32_t at) const {
    const SumNode& node = members_.node(at);
    if (node.is_leaf()) return node.n_rows() >= min_samples_leaf_;
    return leaves_have_rows(node.left) && leaves_have_rows(node.right);
}

SumTuner::Changed SumTuner::tune(std::size_t member) {
    start_.assign(members_.columns(member), members_.columns(member) + table_.n_rows());
    Changed changed;
    for (const std::int32_t at : members_.inner_nodes(member)) {
        const SumTest better = better_test(at);
        if (!better.found()) continue;
        const SumTest before = members_.node(at).test;
        members_.retest(at, better);
        if (leaves_have_rows(at)) {
            changed.emplace_back(at, before);
        } else {
            members_.retest(at, before);
        }
    }
    return changed;
}

void SumTuner::undo(const Changed& changed) {
    for (std::size_t i = changed.size(); i-- > 0;) {
        members_.retest(changed[i].first, changed[i].second);
    }
}

SumTest SumTuner::better_test(std::int32_t at) {
    const SumNode& node = members_.node(at);
    const auto rows = members_.rows(at);
    const std::size_t n = table_.n_rows();
    care_.clear();
    table_.with_codes([&](const auto* codes) {
        const auto column_from = [&](std::int32_t from, std::uint32_t row) {
            const auto* code = codes + std::size_t(row) * table_.n_features();
            while (!members_.node(from).is_leaf()) {
                const SumNode& here = members_.node(from);
                const auto f = static_cast<std::size_t>(here.test.feature);
                const bool left = here.test.code_left(code[f], table_.data().column(f).n_bins);
                from = left ? here.left : here.right;
            }
            return members_.node(from).column;
        };
        const std::uint32_t middle = members_.node(node.right).begin - node.begin;
        const auto* present = members_.columns(node.member);
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const std::uint32_t row = rows[i];
            const bool is_left = i < middle;
            const std::uint32_t here = present[row];
            const std::uint32_t beside = column_from(is_left ? node.right : node.left, row);
            const std::uint32_t left = is_left ? here : beside, right = is_left ? beside : here;
            double saved = 0;  // by going left
            for (std::uint32_t k = 0; k < fit_.n_scores(); ++k) {
                const double g = fit_.gradient()[k * n + row], h = fit_.hessian()[k * n + row];
                const double from = fit_.value(k, start_[row]);
                const double l = fit_.value(k, left) - from, r = fit_.value(k, right) - from;
                saved += (g + 0.5 * h * (r + l)) * (r - l);
            }
            care_.rows.push_back(table_.row(row));
            care_.gains.push_back(saved);
            care_.total += saved;
            care_.size += std::abs(saved);
            if (is_left) care_.kept += saved;
        }
    });
    const SplitRules rules{min_samples_leaf_, 0, 1e-10 * care_.size, node.key};
    const Dataset& data = table_.data();
    std::vector<Split> splits(data.n_features());
    team_.for_each(splits.size(), [&](std::size_t f, int worker) {
        team_.checkpoint(worker);
        splits[f] = searches_[worker].best_split(care_, data.column(f),
                                                 static_cast<std::int32_t>(f), rules);
    });
    Split best;
    for (Split& split : splits) {
        if (split.found() && rules.better(split.score, split.feature, best)) {
            best = std::move(split);
        }
    }
    SumTest test;
    if (!best.found() || best.score <= care_.kept + 1e-6 * care_.size) return test;
    const Column& column = data.column(static_cast<std::size_t>(best.feature));
    // Numbers to the left of missing values only: children do not change places here.
    if (!best.categorical && best.b == column.n_bins && best.missing_left) return test;
    std::vector<std::uint8_t> left(column.n_bins + 1, 0);
    test.feature = best.feature;
    test.categorical = best.categorical;
    if (best.categorical) {
        for (const auto code : best.left_codes) left[code] = 1;
        test.threshold = column.n_bins;
    } else if (best.b == column.n_bins) {
        std::fill(left.begin(), left.end() - 1, 1);
        test.n_left = column.n_bins;
        test.threshold = INFINITY;
    } else {
        const Cut cut = cut_between(column, best.a, best.b);
        std::fill_n(left.begin(), cut.last_left + 1, 1);
        test.n_left = cut.last_left + 1;
        test.threshold = cut.threshold;
    }
    bool has_missing = false;
    double weight = 0, left_weight = 0;
    for (std::size_t i = 0; i < care_.rows.size(); ++i) {
        const std::uint32_t code = column.code(care_.rows[i]);
        has_missing |= code == column.n_bins;
        const double h = fit_.hessian()[rows[i]];
        weight += h;
        left_weight += left[code] ? h : 0;
    }
    test.missing_left = has_missing ? best.missing_left : unseen_goes_left(left_weight, weight);
    if (best.categorical) {
        test.set = category_set(CodeView(column), care_.rows, left, test.missing_left);
    }
    return test;
}

}  // namespace hedgerow
