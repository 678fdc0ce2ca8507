#include "grow/gathered.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace hedgerow {
namespace {

// Which features are not the same in all rows.
std::vector<std::uint8_t> varying(const RowCodes& codes, std::span<const Row> rows) {
    std::vector<std::uint8_t> differs(codes.n_features());
    const std::uint8_t* first = codes.of(rows[0]);
    for (const Row row : rows) {
        const std::uint8_t* other = codes.of(row);
        for (std::size_t f = 0; f < differs.size(); ++f) differs[f] |= first[f] ^ other[f];
    }
    return differs;
}

// The features' columns one after the other, in blocks that fit the first-level cache.
void transpose(const RowCodes& codes, std::span<const Row> rows,
               std::span<const std::uint32_t> features, std::uint8_t* to) {
    constexpr std::size_t side = 64;
    std::array<const std::uint8_t*, side> from{};
    for (std::size_t i = 0; i < rows.size(); i += side) {
        const std::size_t n = std::min(side, rows.size() - i);
        for (std::size_t k = 0; k < n; ++k) from[k] = codes.of(rows[i + k]);
        for (std::size_t c = 0; c < features.size(); ++c) {
            const std::uint32_t f = features[c];
            std::uint8_t* column = to + c * rows.size() + i;
            for (std::size_t k = 0; k < n; ++k) column[k] = from[k][f];
        }
    }
}

}  // namespace

Gathered::Gathered(const std::vector<CodeView>& from, const RowCodes* by_row,
                   std::span<const Row> rows, std::vector<std::uint32_t>& features,
                   std::uint32_t& n_constant) {
    views.resize(from.size());
    const std::size_t n = rows.size();
    if (by_row) {
        const auto varies = varying(*by_row, rows);
        for (std::size_t at = n_constant; at < features.size(); ++at) {
            if (!varies[features[at]]) std::swap(features[at], features[n_constant++]);
        }
    }
    narrow_ = std::make_unique_for_overwrite<std::uint8_t[]>(n * (features.size() - n_constant));
    std::uint8_t* next = narrow_.get();
    if (by_row) transpose(*by_row, rows, std::span(features).subspan(n_constant), next);
    std::vector<std::size_t> start(from.size());  // originals_ moves while it grows
    for (std::size_t at = n_constant; at < features.size(); ++at) {
        const std::uint32_t f = features[at];
        const CodeView& view = from[f];
        CodeView& copy = views[f];
        copy.column = view.column;
        copy.n_bins = view.n_bins;
        if (!view.narrow) {
            std::vector<std::uint16_t> codes(n);
            for (std::size_t i = 0; i < n; ++i) codes[i] = view.wide[rows[i]];
            wide_.push_back(std::move(codes));
            copy.wide = wide_.back().data();
            copy.original = view.original;
            continue;
        }
        if (!by_row) {
            for (std::size_t i = 0; i < n; ++i) next[i] = view.narrow[rows[i]];
        }
        std::array<std::uint8_t, 256> present{};
        for (std::size_t i = 0; i < n; ++i) present[next[i]] = 1;
        std::array<std::uint8_t, 256> rank{};
        start[f] = originals_.size();
        std::uint32_t n_present = 0;
        originals_.resize(start[f] + view.n_bins);
        std::uint16_t* const originals = originals_.data() + start[f];
        // Without a branch to mispredict.
        for (std::uint32_t code = 0; code < view.n_bins; ++code) {
            rank[code] = static_cast<std::uint8_t>(n_present);
            originals[n_present] = static_cast<std::uint16_t>(view.data_code(code));
            n_present += present[code];
        }
        originals_.resize(start[f] + n_present);
        // The missing code stays one past the last bin.
        const bool has_missing = present[view.n_bins];
        rank[view.n_bins] = static_cast<std::uint8_t>(n_present);
        if (n_present + has_missing < 2) {
            std::swap(features[at], features[n_constant++]);
            copy = {};
            originals_.resize(start[f]);
            continue;
        }
        for (std::size_t i = 0; i < n; ++i) next[i] = rank[next[i]];
        copy.n_bins = n_present;
        copy.narrow = next;
        next += n;
    }
    for (std::size_t at = n_constant; at < features.size(); ++at) {
        CodeView& copy = views[features[at]];
        if (copy.narrow) copy.original = originals_.data() + start[features[at]];
    }
}

void RowBlock::copy(const RowCodes& codes, const std::vector<CodeView>& from, std::span<Row> rows) {
    const std::size_t n_features = codes.n_features(), stride = stride_for(n_features);
    lines_.resize(std::max(lines_.size(), (rows.size() * stride + 63) / 64));
    auto* block = reinterpret_cast<std::uint8_t*>(lines_.data());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        std::copy_n(codes.of(rows[i]), n_features, block + i * stride);
        rows[i] = static_cast<Row>(i * stride);
    }
    views = from;
    for (std::size_t f = 0; f < n_features; ++f) views[f].narrow = block + f;
}

}  // namespace hedgerow
