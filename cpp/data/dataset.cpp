#include "data/dataset.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>

#include "data/binning.hpp"

namespace hedgerow {

std::uint32_t Column::bins_up_to(double threshold) const {
    const auto& upper = largest.empty() ? smallest : largest;
    return static_cast<std::uint32_t>(std::upper_bound(upper.begin(), upper.end(), threshold) -
                                      upper.begin());
}

Cut cut_near(const Column& column, std::uint32_t a, std::uint32_t b, double threshold) {
    // The last bin from `a` on, but before `b`, that starts at or below the threshold; by halves
    // and without branches, which random thresholds would mispredict every other time.
    std::uint32_t bin = a;
    for (std::uint32_t n = b - a; n > 1;) {
        const std::uint32_t half = n / 2;
        bin += column.smallest[bin + half] <= threshold ? half : 0;
        n -= half;
    }
    return cut_at(column, bin, a, b, threshold);
}

Cut cut_at(const Column& column, std::uint32_t bin, std::uint32_t a, std::uint32_t b,
           double threshold) {
    const double* const smallest = column.smallest.data();
    const double* const largest = column.largest.empty() ? smallest : column.largest.data();
    // The threshold may lie inside this bin; without branches, for the same reason.
    const bool inside = threshold < largest[bin];
    const bool before = threshold - smallest[bin] <= largest[bin] - threshold;
    bin -= inside & (bin > a) & ((bin + 1 >= b) | before);
    const double low = largest[bin], high = smallest[bin + 1];
    const auto kept = -std::uint64_t{!inside};
    threshold = std::bit_cast<double>((std::bit_cast<std::uint64_t>(threshold) & kept) |
                                      (std::bit_cast<std::uint64_t>(low / 2 + high / 2) & ~kept));
    // Rounding may carry the middle of two neighbouring numbers up to the larger one.
    return {bin, threshold >= high ? low : threshold};
}

Cut cut_between(const Column& column, std::uint32_t a, std::uint32_t b) {
    return cut_near(column, a, b, column.largest_of(a) / 2 + column.smallest_of(b) / 2);
}

std::size_t Dataset::nbytes() const {
    std::size_t total = 0;
    for (const auto& column : columns_) {
        total += n_rows_ * (column->wide ? 2 : 1) +
                 (column->smallest.size() + column->largest.size()) * sizeof(double);
    }
    return total;
}

template <class T>
void Dataset::append_numbers(std::span<const Strided<T>> columns, std::uint32_t max_bins,
                             Team& team) {
    // Columns of a row-major table are read a few at a time, so that a cache line is used whole.
    constexpr std::size_t buffer_bytes = std::size_t{4} << 20;
    const std::size_t most = 64 / sizeof(T);
    const bool contiguous =
        std::all_of(columns.begin(), columns.end(), [](auto& c) { return c.stride == 1; });
    const std::size_t per_group =
        contiguous ? 1
                   : std::clamp<std::size_t>(buffer_bytes / (sizeof(T) * (n_rows_ + 1)), 1, most);
    const std::size_t n_groups = (columns.size() + per_group - 1) / per_group;

    std::vector<std::shared_ptr<const Column>> fresh(columns.size());
    std::vector<std::vector<T>> buffers(team.size());
    team.for_each(n_groups, [&](std::size_t group, int worker) {
        const std::size_t begin = group * per_group;
        const std::size_t end = std::min(begin + per_group, columns.size());
        auto& buffer = buffers[worker];
        if (!contiguous) {
            buffer.resize(per_group * n_rows_);
            constexpr std::size_t block = 256;
            for (std::size_t row = 0; row < n_rows_; row += block) {
                const std::size_t stop = std::min(row + block, n_rows_);
                for (std::size_t c = begin; c < end; ++c) {
                    T* out = buffer.data() + (c - begin) * n_rows_;
                    for (std::size_t i = row; i < stop; ++i) out[i] = columns[c][i];
                }
            }
        }
        for (std::size_t c = begin; c < end; ++c) {
            const T* values = contiguous ? columns[c].data : buffer.data() + (c - begin) * n_rows_;
            fresh[c] = std::make_shared<const Column>(bin_numbers(values, n_rows_, max_bins));
            team.checkpoint(worker);
        }
    });
    for (auto& column : fresh) columns_.push_back(std::move(column));
}

template void Dataset::append_numbers(std::span<const Strided<float>>, std::uint32_t, Team&);
template void Dataset::append_numbers(std::span<const Strided<double>>, std::uint32_t, Team&);

template <class T>
void Dataset::append_sparse(const SparseLines<T>& columns, std::uint32_t max_bins, Team& team) {
    std::vector<std::shared_ptr<const Column>> fresh(columns.n_lines());
    constexpr std::size_t columns_per_task = 16;  // most have few numbers
    team.for_each((fresh.size() + columns_per_task - 1) / columns_per_task,
                  [&](std::size_t task, int worker) {
                      const std::size_t begin = task * columns_per_task;
                      const std::size_t end = std::min(begin + columns_per_task, fresh.size());
                      for (std::size_t c = begin; c < end; ++c) {
                          fresh[c] = std::make_shared<const Column>(
                              bin_sparse_numbers(columns.line(c), n_rows_, max_bins));
                      }
                      team.checkpoint(worker);
                  });
    for (auto& column : fresh) columns_.push_back(std::move(column));
}

template void Dataset::append_sparse(const SparseLines<float>&, std::uint32_t, Team&);
template void Dataset::append_sparse(const SparseLines<double>&, std::uint32_t, Team&);

void Dataset::append_categories(const std::int32_t* codes, std::uint32_t n_categories) {
    columns_.push_back(
        std::make_shared<const Column>(bin_categories(codes, n_rows_, n_categories)));
}

void Dataset::append_coded(Column column) {
    std::uint32_t most = 0;
    const auto look = [&](const auto* codes) {
        for (std::size_t i = 0; i < n_rows_; ++i) most = std::max<std::uint32_t>(most, codes[i]);
    };
    column.wide ? look(column.wide_codes()) : look(column.narrow_codes());
    if (n_rows_ > 0 && most > column.n_bins) {
        throw std::invalid_argument("a column has the code " + std::to_string(most) + ", and " +
                                    std::to_string(column.n_bins) + " bins");
    }
    column.has_missing = n_rows_ > 0 && most == column.n_bins;
    columns_.push_back(std::make_shared<const Column>(std::move(column)));
}

Dataset Dataset::share() const {
    Dataset other(n_rows_);
    other.columns_ = columns_;
    return other;
}

namespace {

template <class Code>
bool gather(const Column& from, std::span<const Row> rows, Code* to) {
    const Code* codes = reinterpret_cast<const Code*>(from.bytes.get());
    const auto missing = static_cast<Code>(from.n_bins);
    bool has_missing = false;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        to[i] = codes[rows[i]];
        has_missing |= to[i] == missing;
    }
    return has_missing;
}

}  // namespace

Dataset Dataset::take(std::span<const Row> rows, Team& team) const {
    Dataset out(rows.size());
    out.columns_.resize(n_features());
    team.for_each(n_features(), [&](std::size_t f, int) {
        const Column& from = column(f);
        Column to;
        to.n_bins = from.n_bins;
        to.categorical = from.categorical;
        to.wide = from.wide;
        to.smallest = from.smallest;
        to.largest = from.largest;
        to.bytes = std::make_unique_for_overwrite<std::uint8_t[]>(rows.size() * (to.wide ? 2 : 1));
        if (to.wide) {
            to.has_missing = gather(from, rows, reinterpret_cast<std::uint16_t*>(to.bytes.get()));
        } else {
            to.has_missing = gather(from, rows, to.bytes.get());
        }
        out.columns_[f] = std::make_shared<const Column>(std::move(to));
    });
    return out;
}

}  // namespace hedgerow
