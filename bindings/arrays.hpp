// All traffic between NumPy and the core: views in, arrays out, and the call into the core itself.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "base/parallel.hpp"
#include "graph/decision_graph.hpp"

namespace hedgerow {

namespace nb = nanobind;

template <class T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Matrix = nb::ndarray<const T, nb::ndim<2>, nb::device::cpu>;
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

template <class T>
std::span<const T> span_of(const std::optional<Vector<T>>& array) {
    if (!array) return {};
    return {array->data(), array->size()};
}

// A read-only view of memory that `owner` keeps alive.
template <class T>
nb::object view_of(const T* data, std::vector<std::size_t> shape, nb::handle owner) {
    return nb::cast(nb::ndarray<nb::numpy, const T>(data, shape.size(), shape.data(), owner));
}

// A new NumPy array that takes over the vector's memory.
template <class T>
nb::object array_of(std::vector<T>&& values, std::vector<std::size_t> shape = {}) {
    auto* owned = new std::vector<T>(std::move(values));
    nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    if (shape.empty()) shape = {owned->size()};
    return nb::cast(nb::ndarray<nb::numpy, T>(owned->data(), shape.size(), shape.data(), owner));
}

// Runs `work(team)` without the GIL; Ctrl-C and other signal handlers are heard while it runs, and
// `report`, if any, is called now and then with the GIL held.
template <class Work>
auto in_core(int n_threads, Work&& work, const std::function<void()>& report = {}) {
    nb::gil_scoped_release released;
    bool raised = false;
    try {
        Team team(n_threads, [&] {
            nb::gil_scoped_acquire held;
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
    } catch (const Interrupted&) {
        nb::gil_scoped_acquire held;
        if (raised) throw nb::python_error();
        throw;
    }
}

// Category sets and oblique terms as named arrays, and back.
nb::dict arrays_of(const TestPool& tests);
TestPool test_pool_from(const nb::dict& from);

}  // namespace hedgerow
