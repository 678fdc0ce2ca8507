#include "arrays.hpp"

#include <cmath>
#include <numeric>

namespace hedgerow {

namespace {

[[noreturn]] void refuse(const std::string& message) { throw nb::value_error(message.c_str()); }

void check_length(const char* name, std::size_t given, std::size_t wanted) {
    if (given != wanted) {
        refuse(std::string("'") + name + "' must have one entry per row of the data: " +
               std::to_string(wanted) + ", got " + std::to_string(given));
    }
}

}  // namespace

std::uint32_t number(const nb::dict& from, const char* name) {
    std::uint32_t out;
    if (!from.contains(name) || !nb::try_cast(from[name], out)) {
        refuse(std::string("the graph's '") + name + "' is no number");
    }
    return out;
}

std::span<const Row> checked_rows(const RowArray& given, std::size_t n_rows) {
    const auto rows = span_of(given);
    for (const Row row : rows) {
        if (row >= n_rows) {
            refuse("row " + std::to_string(row) + " is out of range: the data has " +
                   std::to_string(n_rows) + " rows");
        }
    }
    return rows;
}

Rows::Rows(const RowArray& given, std::size_t n_rows) : n_rows(n_rows) {
    if (given ? given->size() == 0 : n_rows == 0) {
        refuse("no rows to grow on: give at least one, or None for all rows of the data");
    }
    if (given) chosen = checked_rows(given, n_rows);
}

Targets::Targets(const TargetArray& given, const Rows& rows, std::uint32_t n_classes) {
    const bool for_classes = given.dtype() == nb::dtype<std::int32_t>();
    if (!for_classes && given.dtype() != nb::dtype<double>()) {
        throw nb::type_error("'targets' must be int32 (classes) or float64 (numbers)");
    }
    if (given.ndim() < 1 || given.ndim() > (for_classes ? 1 : 2)) {
        refuse("'targets' must have one dimension, or two for rows of numbers");
    }
    check_length("targets", given.shape(0), rows.n_rows);
    if (for_classes != (n_classes > 0)) {
        refuse(for_classes ? "the targets are classes, and numbers are wanted: n_classes is 0"
                           : "the targets are numbers, and classes are wanted");
    }
    if (for_classes) {
        classes = {static_cast<const std::int32_t*>(given.data()), given.size()};
        n_outputs = n_classes;
        // Negative numbers are large ones without their sign.
        if (!rows.all([&](Row r) { return static_cast<std::uint32_t>(classes[r]) < n_classes; })) {
            refuse("a class is out of range: there are " + std::to_string(n_classes));
        }
    } else {
        numbers = {static_cast<const double*>(given.data()), given.size()};
        n_outputs = given.ndim() == 1 ? 1 : static_cast<std::uint32_t>(given.shape(1));
        if (n_outputs == 0) refuse("'targets' must have at least one number per row");
    }
}

Weights::Weights(const WeightArray& given, const Rows& rows) : of_rows(span_of(given)) {
    if (!given) return;
    check_length("weights", of_rows.size(), rows.n_rows);
    if (!rows.all([&](Row r) { return of_rows[r] >= 0 && std::isfinite(of_rows[r]); })) {
        refuse("a weight is negative or not finite");
    }
}

GrowTargets grow_targets(const TargetArray& given, const WeightArray& weights, const Rows& rows,
                         std::uint32_t n_classes) {
    const Targets targets(given, rows, n_classes);
    if (n_classes == 0 && targets.n_outputs != 1) refuse("'targets' must be one number per row");
    return {targets.classes, targets.numbers, Weights(weights, rows).of_rows};
}

GrowTargets grow_targets(const TargetArray& given, const WeightArray& weights, const Rows& rows,
                         const GrowParams& params) {
    if (params.for_classes() != (params.n_classes > 0)) {
        refuse("'n_classes' must be 0 for the criteria of numbers, and only for them");
    }
    return grow_targets(given, weights, rows, params.n_classes);
}

GrowTargets several_targets(const TargetArray& given, const WeightArray& weights, const Rows& rows,
                            const GrowParams& params) {
    if (given.ndim() != 2 || given.shape(1) < 2) return grow_targets(given, weights, rows, params);
    const auto n_outputs = static_cast<std::uint32_t>(given.shape(1));
    if (!params.for_classes()) {
        const Targets targets(given, rows, 0);
        return {{}, targets.numbers, Weights(weights, rows).of_rows, n_outputs};
    }
    const auto& counts = params.class_counts;
    if (given.dtype() != nb::dtype<std::int32_t>()) refuse("classes must be int32");
    check_length("targets", given.shape(0), rows.n_rows);
    if (counts.size() != n_outputs ||
        std::accumulate(counts.begin(), counts.end(), 0u) != params.n_classes) {
        refuse("'class_counts' must have the number of classes of each output");
    }
    const auto* classes = static_cast<const std::int32_t*>(given.data());
    const auto in_range = [&](Row row) {
        for (std::size_t o = 0; o < n_outputs; ++o) {
            const auto k = static_cast<std::uint32_t>(classes[std::size_t(row) * n_outputs + o]);
            if (k >= counts[o]) return false;
        }
        return true;
    };
    if (!rows.all(in_range)) refuse("a class is out of range");
    return {{classes, given.size()}, {}, Weights(weights, rows).of_rows, n_outputs};
}

const double* checked_numbers(const std::optional<RowMatrix<double>>& given, const Dataset& data) {
    if (!given) return nullptr;
    if (given->shape(0) != data.n_rows() || given->shape(1) != data.n_features()) {
        refuse("'numbers' must have the shape of the data set");
    }
    return given->data();
}

}  // namespace hedgerow
