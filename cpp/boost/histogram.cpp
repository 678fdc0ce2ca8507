#include "boost/histogram.hpp"

#include <atomic>
#include <cstring>
#include <mutex>

#include "base/portable.hpp"

namespace hedgerow {

namespace {

constexpr std::size_t rows_per_task = 16384;

using Pair = Lanes<std::int64_t, 2>;

// The largest power of two that keeps |number| * scale below 2^bits.
double scale_for(double number, int bits) {
    if (!(number > 0)) return 1;
    int exponent = 0;
    std::frexp(number, &exponent);
    return std::ldexp(1.0, std::clamp(bits - exponent, -1000, 1000));
}

template <int width>
void add_rows(const BoostTable& table, const RowValues& values, std::span<const Row> rows,
              std::int64_t* __restrict bins) {
    const std::uint32_t* __restrict places = table.places_in_row().data();
    const std::size_t n_features = table.places_in_row().size();
    const std::int64_t* __restrict of_row = values.of_row.data();
    const int count_bits = values.count_bits;
    constexpr std::size_t ahead = 12;  // rows to fetch before they are needed
    const auto lanes_of = [count_bits](std::int64_t value) {
        return Pair{value >> 32, ((value & 0xffffffff) << count_bits) + 1};
    };
    const auto add = [&](std::uint32_t place, const auto& value) {
        if constexpr (width == 1) {
            bins[place] += value;
        } else {
            Pair sum;
            std::memcpy(&sum, bins + 2 * std::size_t(place), sizeof(sum));
            sum += value;
            std::memcpy(bins + 2 * std::size_t(place), &sum, sizeof(sum));
        }
    };
    const auto add_row = [&](Row row) {
        const std::uint8_t* __restrict codes = table.row(row);
        const auto value = [&] {
            if constexpr (width == 1) {
                return of_row[row];
            } else {
                return lanes_of(of_row[row]);
            }
        }();
        std::size_t f = 0;
        for (; f + 8 <= n_features; f += 8) {
            std::uint64_t word;
            std::memcpy(&word, codes + f, sizeof(word));
            for (std::size_t i = 0; i < 8; ++i) {
                add(places[f + i] + static_cast<std::uint32_t>(word >> (8 * i) & 255), value);
            }
        }
        for (; f < n_features; ++f) add(places[f] + codes[f], value);
    };
    std::size_t i = 0;
    for (; i + ahead < rows.size(); ++i) {
        prefetch(table.row(rows[i + ahead]));
        prefetch(of_row + rows[i + ahead]);
        add_row(rows[i]);
    }
    for (; i < rows.size(); ++i) add_row(rows[i]);
    for (const std::uint32_t feature : table.wide()) {
        const std::uint16_t* codes = table.data().column(feature).wide_codes();
        const std::uint32_t place = table.place(feature);
        for (const Row row : rows) {
            if constexpr (width == 1) {
                add(place + codes[row], of_row[row]);
            } else {
                add(place + codes[row], lanes_of(of_row[row]));
            }
        }
    }
}

}  // namespace

void RowValues::round(const float* gradient, const float* hessian, std::span<const Row> rows,
                      bool constant, Team& team) {
    const std::size_t n_tasks = (rows.size() + rows_per_task - 1) / rows_per_task;
    const auto for_rows = [&](const auto& body) {
        team.for_each(n_tasks, [&](std::size_t task, int) {
            const std::size_t first = task * rows_per_task;
            body(task, rows.subspan(first, std::min(rows_per_task, rows.size() - first)));
        });
    };
    std::vector<std::pair<float, float>> largest(n_tasks);
    for_rows([&](std::size_t task, std::span<const Row> part) {
        float g = 0, h = 0;
        for (const Row row : part) {
            g = std::max(g, std::abs(gradient[row]));
            h = std::max(h, hessian[row]);
        }
        largest[task] = {g, h};
    });
    float g = 0, h = 0;
    for (const auto& [of_g, of_h] : largest) g = std::max(g, of_g), h = std::max(h, of_h);

    counted = !constant;
    count_bits = std::bit_width(rows.size());
    // n numbers below 2^bits sum up to less than 2^(bits + count_bits); one bit is for the sign.
    const int shared_bits = 63 - 2 * count_bits;
    const double g_scale = scale_for(g, counted ? 31 : shared_bits);
    const double h_scale = scale_for(h, std::min(32, shared_bits));
    gradient_unit = 1 / g_scale;
    hessian_unit = 1 / h_scale;
    for_rows([&](std::size_t, std::span<const Row> part) {
        for (const Row row : part) {
            const auto whole = static_cast<std::int64_t>(std::llrint(gradient[row] * g_scale));
            if (counted) {
                const auto second = static_cast<std::int64_t>(std::llrint(hessian[row] * h_scale));
                of_row[row] = std::int64_t(std::uint64_t(whole) << 32) + second;
            } else {
                of_row[row] = std::int64_t(std::uint64_t(whole) << count_bits) + 1;
            }
        }
    });
}

void Histograms::count(const BoostTable& table, const RowValues& values, std::span<const Row> rows,
                       std::vector<std::vector<std::int64_t>>& spare, Team& team) {
    const auto add = [&](std::span<const Row> part, std::int64_t* bins) {
        if (width_ == 1) {
            add_rows<1>(table, values, part, bins);
        } else {
            add_rows<2>(table, values, part, bins);
        }
    };
    std::fill(bins_.begin(), bins_.end(), std::int64_t{0});
    // A part of its own pays where it has more cells than bins to add up afterwards.
    const std::size_t cells = rows.size() * (table.places_in_row().size() + table.wide().size());
    const std::size_t n_parts = std::clamp<std::size_t>(cells / (4 * bins_.size() + 20000), 1,
                                                        static_cast<std::size_t>(team.size()));
    if (n_parts == 1) {
        add(rows, bins_.data());
        return table.unbundle(bins_.data(), width_);
    }
    spare.resize(n_parts - 1);
    team.for_each(n_parts, [&](std::size_t part, int) {
        const std::size_t first = rows.size() * part / n_parts;
        const std::size_t end = rows.size() * (part + 1) / n_parts;
        std::int64_t* bins = bins_.data();
        if (part > 0) {
            spare[part - 1].assign(bins_.size(), 0);
            bins = spare[part - 1].data();
        }
        add(rows.subspan(first, end - first), bins);
    });
    for (const auto& part : spare) {
        for (std::size_t i = 0; i < bins_.size(); ++i) bins_[i] += part[i];
    }
    table.unbundle(bins_.data(), width_);
}

}  // namespace hedgerow
