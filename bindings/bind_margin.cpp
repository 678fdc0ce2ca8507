#include <nanobind/stl/optional.h>

#include "arrays.hpp"
#include "margin/mean_margin.hpp"

using namespace hedgerow;

namespace {

// The arrays of one call, checked against each other; keeps nothing.
template <class T>
struct Inputs {
    MarginTable<T> table;
    Labels labels;

    Inputs(const RowMatrix<T>& x, const Vector<std::uint32_t>& n_categories,
           const std::optional<Vector<Row>>& rows, const std::optional<Vector<double>>& weights)
        : table{x.data(),
                x.shape(0),
                static_cast<std::uint32_t>(x.shape(1)),
                {n_categories.data(), n_categories.size()}} {
        if (n_categories.size() != x.shape(1)) {
            throw nb::value_error("'n_categories' must have one entry per feature");
        }
        for (const Row row : span_of(rows)) {
            if (row >= x.shape(0)) throw nb::value_error("a row is out of range");
        }
        labels.weights = span_of(weights);
        require_rows(labels.weights.size(), !weights);
    }

    void set(const Vector<std::int32_t>& classes, std::uint32_t n_classes) {
        labels.classes = {classes.data(), classes.size()};
        labels.n_outputs = n_classes;
        require_rows(classes.size());
        for (const std::int32_t y : labels.classes) {
            if (y < 0 || static_cast<std::uint32_t>(y) >= n_classes) {
                throw nb::value_error("a class is out of range");
            }
        }
    }
    void set(const RowMatrix<double>& numbers) {
        labels.numbers = {numbers.data(), numbers.size()};
        labels.n_outputs = static_cast<std::uint32_t>(numbers.shape(1));
        require_rows(numbers.shape(0));
    }

  private:
    void require_rows(std::size_t n, bool absent = false) const {
        if (!absent && n != table.n_rows) {
            throw nb::value_error("targets and weights must have one entry per row");
        }
    }
};

template <class T>
DecisionGraph grow(const Inputs<T>& in, const std::optional<Vector<Row>>& rows,
                   const std::optional<Vector<double>>& scale, const MarginParams& params,
                   int n_jobs) {
    if (scale && scale->size() != in.table.n_features) {
        throw nb::value_error("'scale' must have one entry per feature");
    }
    return in_core(n_jobs, [&](Team& team) {
        return grow_mean_margin(in.table, span_of(rows), in.labels, span_of(scale), params, team);
    });
}

template <class T>
void bind_for(nb::module_& m) {
    using namespace nb::literals;
    using Rows = std::optional<Vector<Row>>;
    using Numbers = std::optional<Vector<double>>;
    m.def(
        "grow_mean_margin",
        [](RowMatrix<T> x, Vector<std::uint32_t> n_categories, Rows rows, Vector<std::int32_t> y,
           Numbers weights, std::uint32_t n_classes, Numbers scale, const MarginParams& params,
           int n_jobs) {
            Inputs<T> in(x, n_categories, rows, weights);
            in.set(y, n_classes);
            return grow(in, rows, scale, params, n_jobs);
        },
        "x"_a, "n_categories"_a, "rows"_a.none(), "classes"_a, "weights"_a.none(), "n_classes"_a,
        "scale"_a.none(), "params"_a, "n_jobs"_a = 1,
        "Grow a mean-margin tree for classes on the given rows (all when None).");
    m.def(
        "grow_mean_margin",
        [](RowMatrix<T> x, Vector<std::uint32_t> n_categories, Rows rows, RowMatrix<double> y,
           Numbers weights, Numbers scale, const MarginParams& params, int n_jobs) {
            Inputs<T> in(x, n_categories, rows, weights);
            in.set(y);
            return grow(in, rows, scale, params, n_jobs);
        },
        "x"_a, "n_categories"_a, "rows"_a.none(), "numbers"_a, "weights"_a.none(), "scale"_a.none(),
        "params"_a, "n_jobs"_a = 1,
        "Grow a mean-margin tree for rows of numbers on the given rows (all when None).");
    m.def(
        "standard_scale",
        [](RowMatrix<T> x, Vector<std::uint32_t> n_categories, Rows rows, Numbers weights,
           int n_jobs) {
            const Inputs<T> in(x, n_categories, rows, weights);
            return array_of(in_core(n_jobs, [&](Team& team) {
                return standard_scale(in.table, span_of(rows), in.labels, team);
            }));
        },
        "x"_a, "n_categories"_a, "rows"_a.none(), "weights"_a.none(), "n_jobs"_a = 1,
        "Standard deviation of each feature; 1 for constant and categorical ones.");
}

}  // namespace

void bind_margin(nb::module_& m) {
    using namespace nb::literals;
    nb::class_<MarginParams>(m, "MarginParams", "Limits of a mean-margin tree; -1 means no limit.")
        .def(
            "__init__",
            [](MarginParams* self, std::int64_t max_depth, std::int64_t min_samples_split,
               std::int64_t min_samples_leaf, double min_weight_leaf, double ccp_alpha) {
                new (self) MarginParams{max_depth, min_samples_split, min_samples_leaf,
                                        min_weight_leaf, ccp_alpha};
            },
            nb::kw_only(), "max_depth"_a = -1, "min_samples_split"_a = 2, "min_samples_leaf"_a = 1,
            "min_weight_leaf"_a = 0.0, "ccp_alpha"_a = 0.0);
    bind_for<float>(m);
    bind_for<double>(m);
}
