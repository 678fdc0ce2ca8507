#include <nanobind/stl/variant.h>

#include "arrays.hpp"
#include "data/dataset.hpp"
#include "data/interleave.hpp"

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

void read_sparse(SparseTable* self, decltype(SparseTable::values) values,
                 Vector<std::int32_t> places, Vector<std::int64_t> starts, std::size_t length) {
    const std::int64_t* start = starts.data();
    if (starts.size() == 0 || start[0] != 0 || !std::is_sorted(start, start + starts.size()) ||
        static_cast<std::size_t>(start[starts.size() - 1]) > values.size() ||
        places.size() != values.size()) {
        throw nb::value_error("the sparse matrix has broken arrays");
    }
    for (std::size_t i = 0; i + 1 < starts.size(); ++i) {
        std::int64_t last = -1;
        for (std::int64_t k = start[i]; k < start[i + 1]; ++k) {
            const std::int32_t place = places.data()[k];
            if (place <= last || static_cast<std::size_t>(place) >= length) {
                throw nb::value_error("the sparse matrix has indices that are not in order");
            }
            last = place;
        }
    }
    new (self) SparseTable{std::move(values), std::move(places), std::move(starts), length};
}

void append_sparse(Dataset& data, const SparseTable& columns, std::uint32_t max_bins, int n_jobs) {
    if (columns.length != data.n_rows()) {
        throw nb::value_error("the matrix has another number of rows");
    }
    with_lines(columns, [&](const auto& lines) {
        in_core(n_jobs, [&](Team& team) { data.append_sparse(lines, max_bins, team); });
    });
}

Cell cell_of(const nb::dlpack::dtype& type) {
    const auto is = [&]<class T>(T) { return type == nb::dtype<T>(); };
    if (is(std::int8_t{})) return Cell::int8;
    if (is(std::int16_t{})) return Cell::int16;
    if (is(std::int32_t{})) return Cell::int32;
    if (is(std::int64_t{})) return Cell::int64;
    if (is(std::uint8_t{}) || is(bool{})) return Cell::uint8;
    if (is(std::uint16_t{})) return Cell::uint16;
    if (is(std::uint32_t{})) return Cell::uint32;
    if (is(std::uint64_t{})) return Cell::uint64;
    if (is(float{})) return Cell::float32;
    if (is(double{})) return Cell::float64;
    throw nb::type_error("a column is of a type that has no place in a table of numbers");
}

using Interleaved = std::tuple<std::variant<Array<float>, Array<double>>, std::size_t>;

template <class T>
Interleaved interleaved(const std::vector<FrameColumn>& columns, std::size_t n_rows) {
    // Not a vector, which would be filled with zeros first.
    auto* out = new T[std::max<std::size_t>(n_rows * columns.size(), 1)];
    nb::capsule owner(out, [](void* p) noexcept { delete[] static_cast<T*>(p); });
    const auto infinite = in_core(1, [&](Team&) { return interleave<T>(columns, n_rows, out); });
    const std::size_t shape[] = {n_rows, columns.size()};
    return {Array<T>(out, 2, shape, owner), infinite};
}

Interleaved interleave_columns(const std::vector<ColumnArray>& arrays,
                               const std::vector<std::optional<Vector<std::int32_t>>>& places,
                               bool wide) {
    if (arrays.empty() || arrays.size() != places.size()) {
        throw nb::value_error("every column needs places, or None");
    }
    std::vector<FrameColumn> columns;
    for (std::size_t f = 0; f < arrays.size(); ++f) {
        if (arrays[f].shape(0) != arrays[0].shape(0)) {
            throw nb::value_error("a column has another number of rows");
        }
        if (places[f] && places[f]->size() == 0) throw nb::value_error("there are no places");
        columns.push_back({arrays[f].data(), arrays[f].stride(0), cell_of(arrays[f].dtype()),
                           span_of(places[f])});
    }
    const std::size_t n_rows = arrays[0].shape(0);
    return wide ? interleaved<double>(columns, n_rows) : interleaved<float>(columns, n_rows);
}

// A column whose codes stay where they are: the array is kept as long as the column.
void append_coded(Dataset& data,
                  nb::ndarray<nb::ro, nb::ndim<1>, nb::c_contig, nb::device::cpu> codes,
                  std::uint32_t n_bins, bool categorical, std::vector<double> smallest,
                  std::vector<double> largest) {
    Column column;
    column.wide = codes.dtype() == nb::dtype<std::uint16_t>();
    if (!column.wide && codes.dtype() != nb::dtype<std::uint8_t>()) {
        throw nb::type_error("codes must be uint8 or uint16");
    }
    if (codes.size() != data.n_rows()) {
        throw nb::value_error("a column has another number of rows");
    }
    const bool ordered = std::is_sorted(smallest.begin(), smallest.end()) &&
                         std::is_sorted(largest.begin(), largest.end());
    const std::size_t n_smallest = categorical ? 0 : n_bins;
    if (n_bins > (column.wide ? Dataset::most_bins : Dataset::most_narrow_bins) || !ordered ||
        smallest.size() != n_smallest || (!largest.empty() && largest.size() != n_smallest)) {
        throw nb::value_error("the bins of a column do not fit its codes");
    }
    column.n_bins = n_bins;
    column.categorical = categorical;
    column.smallest = std::move(smallest);
    column.largest = std::move(largest);
    auto* bytes = const_cast<std::uint8_t*>(static_cast<const std::uint8_t*>(codes.data()));
    column.bytes = {bytes, [codes](std::uint8_t*) mutable {
                        GilHeld held;
                        codes = {};
                    }};
    in_core(1, [&](Team&) { data.append_coded(std::move(column)); });
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
    m.def("interleave", &interleave_columns, "columns"_a, "places"_a, "wide"_a,
          "Columns as rows of float64 (wide) or float32 numbers; codes of categories, which have "
          "places, as these or NaN. With the first column that holds infinity, or their number.");
    nb::class_<SparseTable>(m, "SparseTable",
                            "Rows (CSR) or columns (CSC) of which only some numbers are stored.")
        .def("__init__", &read_sparse, "values"_a, "places"_a, "starts"_a, "length"_a)
        .def("__len__", &SparseTable::n_lines);
    nb::class_<Dataset>(m, "Dataset", "A table as column-major small-integer codes.")
        .def(nb::init<std::size_t>(), "n_rows"_a)
        .def("append_matrix", &append_matrix, "x"_a, "max_bins"_a, "n_jobs"_a)
        .def("append_sparse", &append_sparse, "columns"_a, "max_bins"_a, "n_jobs"_a)
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
        .def("append_coded", &append_coded, "codes"_a, "n_bins"_a, "categorical"_a, "smallest"_a,
             "largest"_a, "A column of codes, which are kept where they are.")
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
        .def(
            "smallest",
            [](const Dataset& d, std::size_t f) {
                return array_of(std::vector(column_of(d, f).smallest));
            },
            "feature"_a, "The smallest value of each bin; of categories there is none.")
        .def(
            "largest",
            [](const Dataset& d, std::size_t f) {
                return array_of(std::vector(column_of(d, f).largest));
            },
            "feature"_a, "The largest value of each bin, empty where bins are single values.")
        .def_prop_ro("n_rows", &Dataset::n_rows)
        .def_prop_ro("n_features", &Dataset::n_features)
        .def_prop_ro("nbytes", &Dataset::nbytes);
}
