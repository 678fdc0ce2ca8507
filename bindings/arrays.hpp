// All traffic between NumPy and the core: views in, arrays out, and the call into the core itself.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/parallel.hpp"

namespace hedgerow {

namespace nb = nanobind;

template <class T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Matrix = nb::ndarray<const T, nb::ndim<2>, nb::device::cpu>;
template <class T>
using RowMatrix = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

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

// Runs `work(team)` without the GIL; Ctrl-C and other signal handlers are heard while it runs.
template <class Work>
auto in_core(int n_threads, Work&& work) {
    nb::gil_scoped_release released;
    bool raised = false;
    try {
        Team team(n_threads, [&raised] {
            nb::gil_scoped_acquire held;
            raised = PyErr_CheckSignals() != 0;
            return !raised;
        });
        return work(team);
    } catch (const Interrupted&) {
        nb::gil_scoped_acquire held;
        if (raised) throw nb::python_error();
        throw;
    }
}

}  // namespace hedgerow
