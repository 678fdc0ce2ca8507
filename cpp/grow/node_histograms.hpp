// Whole histograms of large nodes: counted once, then shared by subtraction.
//
// A histogram holds the bins of every feature one after another. They are made as long as they take
// no more than a share of the data's own size, and used again when no node holds them any more.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/parallel.hpp"
#include "grow/histogram.hpp"

namespace hedgerow {

template <class Stats>
class NodeHistograms {
    using Number = typename Stats::Number;
    // Of the data's own size, or this many bytes.
    static constexpr double most_share = 0.4;
    static constexpr double most_bytes = 8 << 20;

  public:
    using Histogram = std::shared_ptr<Number[]>;

    NodeHistograms(const Stats& stats, const std::vector<CodeView>& views, std::size_t n_rows,
                   Team& team)
        : stats_(stats), views_(views), n_rows_(n_rows), team_(team) {}

    // A free histogram, or none where that would take too much memory.
    Histogram take() {
        lay_out();
        for (const auto& histogram : all_) {
            if (histogram.use_count() == 1) return histogram;
        }
        if (all_.size() == most_) return nullptr;
        all_.push_back(std::make_shared_for_overwrite<Number[]>(start_.back()));
        return all_.back();
    }
    // Whether there would be another.
    bool has_more() const {
        return all_.size() < most_ ||
               std::any_of(
                   all_.begin(), all_.end(), [](const auto& one) { return one.use_count() == 1; });
    }

    Number* bins(const Histogram& histogram, std::uint32_t feature) const {
        return histogram.get() + start_[feature];
    }

    // Counts the rows for the given features, which share the threads.
    void count(const NodeRows<Stats>& rows, std::span<const std::uint32_t> features,
               const Histogram& histogram) {
        for_chunks<columns_per_pass>(features, [&](std::span<const std::uint32_t> some) {
            std::array<const CodeView*, columns_per_pass> views{};
            std::array<Number*, columns_per_pass> to{};
            for (std::size_t i = 0; i < some.size(); ++i) {
                views[i] = &views_[some[i]];
                to[i] = bins(histogram, some[i]);
                std::fill(to[i], bins(histogram, some[i] + 1), Number{0});
            }
            count_some(stats_, views.data(), static_cast<int>(some.size()), rows, to.data());
        });
    }

    // Takes one histogram off another.
    void subtract(const Histogram& what, std::span<const std::uint32_t> features,
                  const Histogram& from) {
        for_chunks<16>(features, [&](std::span<const std::uint32_t> some) {
            for (const std::uint32_t f : some) {
                for (std::size_t b = start_[f]; b < start_[f + 1]; ++b) from[b] -= what[b];
            }
        });
    }

  private:
    template <std::size_t chunk, class Body>
    void for_chunks(std::span<const std::uint32_t> features, const Body& body) {
        team_.for_each((features.size() + chunk - 1) / chunk, [&](std::size_t c, int) {
            body(features.subspan(c * chunk, std::min(chunk, features.size() - c * chunk)));
        });
    }

    void lay_out() {
        if (!start_.empty()) return;
        start_.push_back(0);
        double n_bytes = 0;
        for (const auto& view : views_) {
            start_.push_back(start_.back() + std::size_t(view.n_bins + 1) * stats_.width());
            n_bytes += static_cast<double>(n_rows_) * (view.wide ? 2.0 : 1.0);
        }
        const double size = static_cast<double>(start_.back() * sizeof(Number));
        most_ = static_cast<std::size_t>(std::max(most_bytes, most_share * n_bytes) / size);
    }

    const Stats stats_;
    const std::vector<CodeView>& views_;
    const std::size_t n_rows_;
    Team& team_;
    std::vector<std::size_t> start_;  // by feature
    std::size_t most_ = 1;            // histograms
    std::vector<Histogram> all_;
};

}  // namespace hedgerow
