#include <nanobind/stl/variant.h>

#include "arrays.hpp"
#include "data/dataset.hpp"

using namespace hedgerow;

namespace {

// Appends columns of numbers of one type.
template <class T>
void append(Dataset& data, std::span<const Strided<T>> columns, std::uint32_t max_bins,
            int n_jobs) {
    in_core(n_jobs, [&](Team& team) { data.append_numbers(columns, max_bins, team); });
}

void append_matrix(Dataset& data, const nb::ndarray<nb::ro, nb::ndim<2>, nb::device::cpu>& x,
                   std::uint32_t max_bins, int n_jobs) {
    if (x.shape(0) != data.n_rows()) throw nb::value_error("the matrix has another number of rows");
    with_numbers(x, [&]<class T>(const T* numbers) {
        std::vector<Strided<T>> columns;
        for (std::size_t j = 0; j < x.shape(1); ++j) {
            columns.push_back(
                {numbers + static_cast<std::ptrdiff_t>(j) * x.stride(1), x.stride(0)});
        }
        append<T>(data, columns, max_bins, n_jobs);
    });
}

using ColumnArray = nb::ndarray<nb::ro, nb::ndim<1>, nb::device::cpu>;

void append_numbers(Dataset& data, const std::vector<ColumnArray>& arrays, std::uint32_t max_bins,
                    int n_jobs) {
    if (arrays.empty()) return;
    with_numbers(arrays[0], [&]<class T>(const T*) {
        std::vector<Strided<T>> columns;
        for (const auto& array : arrays) {
            if (array.shape(0) != data.n_rows()) {
                throw nb::value_error("a column has another number of rows");
            }
            if (array.dtype() != nb::dtype<T>()) throw nb::type_error("columns differ in type");
            columns.push_back({static_cast<const T*>(array.data()), array.stride(0)});
        }
        append<T>(data, columns, max_bins, n_jobs);
    });
}

const Column& column_of(const Dataset& data, std::size_t feature) {
    if (feature >= data.n_features()) throw nb::index_error("no such feature");
    return data.column(feature);
}

using Codes = std::variant<Array<const std::uint8_t>, Array<const std::uint16_t>>;

Codes codes(nb::handle self, std::size_t feature) {
    const auto& data = nb::cast<const Dataset&>(self);
    const Column& column = column_of(data, feature);
    if (column.wide) return view_of(column.wide_codes(), {data.n_rows()}, self);
    return view_of(column.narrow_codes(), {data.n_rows()}, self);
}

}  // namespace

void bind_data(nb::module_& m) {
    using namespace nb::literals;
    nb::class_<Dataset>(m, "Dataset", "A table as column-major small-integer codes.")
        .def(nb::init<std::size_t>(), "n_rows"_a)
        .def("append_matrix", &append_matrix, "x"_a, "max_bins"_a, "n_jobs"_a)
        .def("append_numbers", &append_numbers, "columns"_a, "max_bins"_a, "n_jobs"_a)
        .def(
            "append_categories",
            [](Dataset& data, const Vector<std::int32_t>& codes, std::uint32_t n_categories) {
                if (codes.size() != data.n_rows()) {
                    throw nb::value_error("a column has another number of rows");
                }
                data.append_categories(codes.data(), n_categories);
            },
            "codes"_a, "n_categories"_a)
        .def(
            "take",
            [](const Dataset& data, const Vector<Row>& rows, int n_jobs) {
                const auto chosen = checked_rows(rows, data.n_rows());
                return in_core(n_jobs, [&](Team& team) { return data.take(chosen, team); });
            },
            "rows"_a, "n_jobs"_a = 1,
            "A data set of the given rows, with the same bins, categories and codes.")
        .def("share", &Dataset::share, "Another data set of the same columns, not copied.")
        .def(
            "codes", [](nb::handle self, std::size_t f) { return codes(self, f); }, "feature"_a)
        .def(
            "n_bins", [](const Dataset& d, std::size_t f) { return column_of(d, f).n_bins; },
            "feature"_a)
        .def(
            "is_categorical",
            [](const Dataset& d, std::size_t f) { return column_of(d, f).categorical; },
            "feature"_a)
        .def(
            "has_missing",
            [](const Dataset& d, std::size_t f) { return column_of(d, f).has_missing; },
            "feature"_a)
        .def_prop_ro("n_rows", &Dataset::n_rows)
        .def_prop_ro("n_features", &Dataset::n_features)
        .def_prop_ro("nbytes", &Dataset::nbytes);
}
