#include "boost/boost_table.hpp"

#include <algorithm>
#include <array>

namespace hedgerow {

namespace {

constexpr double usual_share = 0.8;       // of the rows that a bundled feature's usual code has
constexpr std::size_t first_rows = 4096;  // looked at before all rows are
constexpr std::size_t most_bundles = 16;  // that a feature is tried with
constexpr std::uint32_t most_bytes = 256;

// The most frequent code of some rows, and how many of them have it.
std::pair<std::uint32_t, std::size_t> most_frequent(const Column& column, std::size_t n_rows) {
    std::array<std::size_t, 256> counts{};
    for (std::size_t row = 0; row < n_rows; ++row) ++counts[column.narrow_codes()[row]];
    const auto top = std::max_element(counts.begin(), counts.end());
    return {static_cast<std::uint32_t>(top - counts.begin()), *top};
}

}  // namespace

BoostTable::BoostTable(const Dataset& data, Team& team) : data_(data) {
    for (std::uint32_t f = 0; f < data.n_features(); ++f) {
        const Column& column = data.column(f);
        place_.push_back(n_bins_);
        n_bins_ += column.n_bins + 1;
        if (column.n_bins + column.has_missing < 2) continue;
        varying_.push_back(f);
        if (column.wide) {
            wide_.push_back(f);
        } else if (!join_bundle(f)) {
            alone_.push_back(f);
        }
    }
    std::erase_if(bundles_, [&](const Bundle& bundle) {
        if (bundle.members.size() == 1) alone_.push_back(bundle.members[0].feature);
        return bundle.members.size() == 1;
    });
    for (const std::uint32_t f : alone_) row_places_.push_back(place_[f]);
    for (Bundle& bundle : bundles_) {
        bundle.taken = {};
        bundle.place = n_bins_;
        n_bins_ += bundle.n_bytes;
        row_places_.push_back(bundle.place);
    }
    write_rows(team);
}

// Finds a bundle for a feature, or begins one; false where most of its codes are unusual.
bool BoostTable::join_bundle(std::uint32_t feature) {
    const Column& column = data_.column(feature);
    const std::size_t n_rows = data_.n_rows();
    const auto is_usual = [](std::size_t n, std::size_t of) {
        return static_cast<double>(n) >= usual_share * static_cast<double>(of);
    };
    const std::size_t n_first = std::min(n_rows, first_rows);
    if (column.n_bins + 1 > most_bytes / 2 ||
        !is_usual(most_frequent(column, n_first).second, n_first)) {
        return false;
    }
    const auto [usual, n_usual] = most_frequent(column, n_rows);
    if (!is_usual(n_usual, n_rows)) return false;
    const std::uint8_t* codes = column.narrow_codes();
    std::vector<std::uint64_t> taken((n_rows + 63) / 64);
    for (std::size_t row = 0; row < n_rows; ++row) {
        taken[row / 64] |= std::uint64_t{codes[row] != usual} << (row % 64);
    }
    const auto fits = [&](const Bundle& bundle) {
        if (bundle.n_bytes + column.n_bins > most_bytes) return false;
        for (std::size_t i = 0; i < taken.size(); ++i) {
            if (bundle.taken[i] & taken[i]) return false;
        }
        return true;
    };
    auto bundle = std::find_if(bundles_.begin(), bundles_.end(), fits);
    if (bundle == bundles_.end()) {
        if (bundles_.size() == most_bundles) return false;
        bundles_.emplace_back();
        bundle = bundles_.end() - 1;
        bundle->taken.resize(taken.size());
    }
    bundle->members.push_back({feature, usual, bundle->n_bytes});
    bundle->n_bytes += column.n_bins;
    for (std::size_t i = 0; i < taken.size(); ++i) bundle->taken[i] |= taken[i];
    return true;
}

void BoostTable::write_rows(Team& team) {
    const std::size_t width = row_places_.size(), n_rows = data_.n_rows();
    codes_ = std::make_unique_for_overwrite<std::uint8_t[]>(n_rows * width + sizeof(std::uint64_t));
    constexpr std::size_t rows_per_task = 4096, block = 64;  // a cache line of each column
    team.for_each((n_rows + rows_per_task - 1) / rows_per_task, [&](std::size_t task, int) {
        const std::size_t last = std::min((task + 1) * rows_per_task, n_rows);
        for (std::size_t first = task * rows_per_task; first < last; first += block) {
            const std::size_t end = std::min(first + block, last);
            std::uint8_t* to = codes_.get();
            for (const std::uint32_t f : alone_) {
                const std::uint8_t* from = data_.column(f).narrow_codes();
                for (std::size_t row = first; row < end; ++row) to[row * width] = from[row];
                ++to;
            }
            for (const Bundle& bundle : bundles_) {
                for (std::size_t row = first; row < end; ++row) to[row * width] = 0;
                for (const Member& member : bundle.members) {
                    const std::uint8_t* from = data_.column(member.feature).narrow_codes();
                    for (std::size_t row = first; row < end; ++row) {
                        if (from[row] == member.usual) continue;
                        to[row * width] = static_cast<std::uint8_t>(member.byte_of(from[row]));
                    }
                }
                ++to;
            }
        }
    });
}

void BoostTable::unbundle(std::int64_t* bins, std::size_t width) const {
    for (const Bundle& bundle : bundles_) {
        const std::int64_t* from = bins + bundle.place * width;
        std::array<std::int64_t, 2> total{};
        for (std::uint32_t byte = 0; byte < bundle.n_bytes; ++byte) {
            for (std::size_t i = 0; i < width; ++i) total[i] += from[byte * width + i];
        }
        for (const Member& member : bundle.members) {
            const std::uint32_t n_bins = data_.column(member.feature).n_bins;
            std::int64_t* to = bins + place_[member.feature] * width;
            for (std::size_t i = 0; i < width; ++i) {
                std::int64_t rest = total[i];
                for (std::uint32_t code = 0; code <= n_bins; ++code) {
                    if (code == member.usual) continue;
                    to[code * width + i] = from[member.byte_of(code) * width + i];
                    rest -= to[code * width + i];
                }
                to[member.usual * width + i] = rest;
            }
        }
    }
}

}  // namespace hedgerow
