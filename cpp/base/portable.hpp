// What compilers spell differently, each with a twin in plain C++ for one that has no word for it.
// Numbers are the same either way: lanes are independent of each other, and the order of sums is
// the caller's. HEDGEROW_PLAIN_CPP takes the twins everywhere, for tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#if defined(__GNUC__) && !defined(HEDGEROW_PLAIN_CPP)
#define HEDGEROW_HAS_LANES
#define HEDGEROW_INLINE inline __attribute__((always_inline))
#else
#define HEDGEROW_INLINE inline
#endif

namespace hedgerow {

// Numbers side by side, as a processor's vector holds them.
#ifdef HEDGEROW_HAS_LANES
namespace detail {
template <class T, std::size_t n>
struct LanesOf {
    typedef T type __attribute__((vector_size(n * sizeof(T))));
};
}  // namespace detail

template <class T, std::size_t n>
using Lanes = typename detail::LanesOf<T, n>::type;

template <class To, class From>
To convert_lanes(From from) {
    return __builtin_convertvector(from, To);
}
template <class Bytes>
Bytes smaller(Bytes a, Bytes b) {
    return a < b ? a : b;
}
template <class Bytes>
Bytes larger(Bytes a, Bytes b) {
    return a > b ? a : b;
}
// Counts the lanes that are at most `last`.
template <class Bytes>
void count_up_to(Bytes& counts, Bytes v, Bytes last) {
    counts -= reinterpret_cast<Bytes>(v <= last);
}
#else
template <class T, std::size_t n>
struct Lanes {
    T at[n];

    T operator[](std::size_t i) const { return at[i]; }
    T& operator[](std::size_t i) { return at[i]; }
    Lanes& operator+=(const Lanes& b) {
        for (std::size_t i = 0; i < n; ++i) at[i] += b.at[i];
        return *this;
    }
    Lanes& operator-=(const Lanes& b) {
        for (std::size_t i = 0; i < n; ++i) at[i] -= b.at[i];
        return *this;
    }
    Lanes& operator*=(const Lanes& b) {
        for (std::size_t i = 0; i < n; ++i) at[i] *= b.at[i];
        return *this;
    }
    friend Lanes operator+(Lanes a, const Lanes& b) { return a += b; }
    friend Lanes operator-(Lanes a, const Lanes& b) { return a -= b; }
    friend Lanes operator*(Lanes a, const Lanes& b) { return a *= b; }
};

template <class To, class T, std::size_t n>
To convert_lanes(const Lanes<T, n>& from) {
    To to;
    for (std::size_t i = 0; i < n; ++i)
        to[i] = static_cast<std::remove_reference_t<decltype(to[i])>>(from[i]);
    return to;
}
template <class T, std::size_t n>
Lanes<T, n> smaller(Lanes<T, n> a, const Lanes<T, n>& b) {
    for (std::size_t i = 0; i < n; ++i) a[i] = b[i] < a[i] ? b[i] : a[i];
    return a;
}
template <class T, std::size_t n>
Lanes<T, n> larger(Lanes<T, n> a, const Lanes<T, n>& b) {
    for (std::size_t i = 0; i < n; ++i) a[i] = b[i] > a[i] ? b[i] : a[i];
    return a;
}
template <class T, std::size_t n>
void count_up_to(Lanes<T, n>& counts, const Lanes<T, n>& v, const Lanes<T, n>& last) {
    for (std::size_t i = 0; i < n; ++i) counts[i] = static_cast<T>(counts[i] + (v[i] <= last[i]));
}
#endif

// The upper half of a product of 128 bits.
inline std::uint64_t multiply_high(std::uint64_t a, std::uint64_t b) {
#if defined(__SIZEOF_INT128__) && !defined(HEDGEROW_PLAIN_CPP)
    return static_cast<std::uint64_t>((static_cast<unsigned __int128>(a) * b) >> 64);
#else
    const std::uint64_t low = 0xffffffff;
    const std::uint64_t a0 = a & low, a1 = a >> 32, b0 = b & low, b1 = b >> 32;
    const std::uint64_t middle = a1 * b0 + (a0 * b0 >> 32);
    const std::uint64_t other = a0 * b1 + (middle & low);
    return a1 * b1 + (middle >> 32) + (other >> 32);
#endif
}

// Asks for memory that will be read soon.
inline void prefetch([[maybe_unused]] const void* where) {
#if defined(__GNUC__)
    __builtin_prefetch(where);
#endif
}

}  // namespace hedgerow
