// All traffic between NumPy and the core: views in, arrays out, and the call into the core itself.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "base/parallel.hpp"
#include "data/rows.hpp"
#include "data/sparse.hpp"
#include "gil.hpp"
#include "graph/decision_graph.hpp"
#include "grow/grower.hpp"

namespace hedgerow {

namespace nb = nanobind;

template <class T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using RowMatrix = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

template <class T>
std::vector<T> take(const nb::dict& from, const char* name) {
    if (!from.contains(name)) {
        throw nb::value_error((std::string("no '") + name + "' in the state").c_str());
    }
    Vector<T> array;
    if (!nb::try_cast(from[name], array)) {
        throw nb::value_error((std::string("'") + name + "' has another type or shape").c_str());
    }
    return {array.data(), array.data() + array.size()};
}

// A whole number of a state.
std::uint32_t number(const nb::dict& from, const char* name);

template <class T>
std::span<const T> span_of(const std::optional<Vector<T>>& array) {
    if (!array) return {};
    return {array->data(), array->size()};
}

// What a call learns from. Each is checked once, here; the values of rows that are not chosen are
// not looked at, so that a small tree on a large table costs what its rows cost.
//
// rows      which rows of the table: all when None; an empty list is refused
// targets   int32 for classes, float64 for numbers; in two dimensions for several outputs
// weights   finite and not negative; one for each row of the table when None
using RowArray = std::optional<Vector<Row>>;
using TargetArray = nb::ndarray<nb::ro, nb::c_contig, nb::device::cpu>;
using WeightArray = std::optional<Vector<double>>;

struct Rows {
    std::size_t n_rows;  // of the table
    RowChoice chosen;

    Rows(const RowArray& given, std::size_t n_rows);

    // Whether the condition holds for each of the rows.
    template <class Condition>
    bool all(const Condition& holds) const {
        if (chosen) return std::all_of(chosen->begin(), chosen->end(), holds);
        for (std::size_t row = 0; row < n_rows; ++row) {
            if (!holds(static_cast<Row>(row))) return false;
        }
        return true;
    }
};

struct Targets {
    std::span<const std::int32_t> classes;
    std::span<const double> numbers;
    std::uint32_t n_outputs;  // classes, or numbers a row

    // No classes: numbers are wanted.
    Targets(const TargetArray& given, const Rows& rows, std::uint32_t n_classes);
};

struct Weights {
    std::span<const double> of_rows;  // empty: all one

    Weights(const WeightArray& given, const Rows& rows);
};

// Rows of a list that need not choose any, such as those of a validation.
std::span<const Row> checked_rows(const RowArray& given, std::size_t n_rows);

// Targets of one output, with their weights.
GrowTargets grow_targets(const TargetArray& targets, const WeightArray& weights, const Rows& rows,
                         std::uint32_t n_classes);
// The same for the criterion of a tree.
GrowTargets grow_targets(const TargetArray& targets, const WeightArray& weights, const Rows& rows,
                         const GrowParams& params);
// The same for any number of outputs.
GrowTargets several_targets(const TargetArray& targets, const WeightArray& weights,
                            const Rows& rows, const GrowParams& params);

// The numbers behind a data set, which oblique tests read; null when None.
const double* checked_numbers(const std::optional<RowMatrix<double>>& given, const Dataset& data);

using GraphList = nb::typed<nb::sequence, DecisionGraph>;

// The graphs of a list, kept alive: the caller's list may change while the GIL is released.
struct Graphs {
    explicit Graphs(const GraphList& graphs) {
        for (nb::handle graph : graphs) {
            kept.push_back(nb::borrow(graph));
            given.push_back(&nb::cast<const DecisionGraph&>(graph));
        }
    }
    std::vector<nb::object> kept;
    std::vector<const DecisionGraph*> given;
};

// A table of float32 or float64 numbers, row by row.
using Table = nb::ndarray<nb::ro, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// Calls body(numbers) with the numbers of an array as float or double.
template <class Array, class Body>
auto with_numbers(const Array& x, const Body& body) {
    if (x.dtype() == nb::dtype<float>()) return body(static_cast<const float*>(x.data()));
    if (x.dtype() == nb::dtype<double>()) return body(static_cast<const double*>(x.data()));
    throw nb::type_error("numbers must be float32 or float64");
}

// The arrays of a SciPy matrix in CSR or CSC form, checked.
struct SparseTable {
    nb::ndarray<nb::ro, nb::ndim<1>, nb::c_contig, nb::device::cpu> values;
    Vector<std::int32_t> places;
    Vector<std::int64_t> starts;
    std::size_t length;  // of a line

    std::size_t n_lines() const { return starts.size() - 1; }
};

// Calls body(lines) with the numbers of a sparse table as float or double.
template <class Body>
auto with_lines(const SparseTable& x, const Body& body) {
    return with_numbers(x.values, [&]<class T>(const T* values) {
        return body(
            SparseLines<T>{values, x.places.data(), {x.starts.data(), x.starts.size()}, x.length});
    });
}

template <class T>
using Array = nb::ndarray<nb::numpy, T>;

// A read-only view of memory that `owner` keeps alive.
template <class T>
Array<const T> view_of(const T* data, std::vector<std::size_t> shape, nb::handle owner) {
    return {data, shape.size(), shape.data(), owner};
}

// A new NumPy array that takes over the vector's memory.
template <class T>
Array<T> array_of(std::vector<T>&& values, std::vector<std::size_t> shape = {}) {
    auto* owned = new std::vector<T>(std::move(values));
    nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    if (shape.empty()) shape = {owned->size()};
    return {owned->data(), shape.size(), shape.data(), owner};
}

// Runs `work(team)` without the GIL; Ctrl-C and other signal handlers are heard while it runs, and
// `report`, if any, is called now and then with the GIL held. What a handler or `report` raises is
// what the call raises, whatever else happens while the threads wind up.
template <class Work>
auto in_core(int n_threads, Work&& work, const std::function<void()>& report = {}) {
    GilReleased released;
    bool raised = false;
    try {
        Team team(n_threads, [&] {
            if (raised) return false;
            GilHeld held;
            raised = PyErr_CheckSignals() != 0;
            if (!raised && report) {
                try {
                    report();
                } catch (nb::python_error& error) {
                    error.restore();
                    raised = true;
                }
            }
            return !raised;
        });
        return work(team);
    } catch (...) {
        GilHeld held;
        if (raised) throw nb::python_error();
        throw;
    }
}

// Category sets and oblique terms as named arrays, and back.
nb::dict arrays_of(const TestPool& tests);
TestPool test_pool_from(const nb::dict& from);

}  // namespace hedgerow
