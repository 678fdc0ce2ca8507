#include "data/distinct.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <type_traits>
#include <utility>

namespace hedgerow {
namespace {

// Floating-point numbers as unsigned integers of the same order.
template <class T>
using Key = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

template <class T>
Key<T> to_key(T value) {
    const auto bits = std::bit_cast<Key<T>>(value);
    constexpr Key<T> sign = Key<T>{1} << (sizeof(T) * 8 - 1);
    return bits & sign ? ~bits : bits | sign;
}

template <class T>
T from_key(Key<T> key) {
    constexpr Key<T> sign = Key<T>{1} << (sizeof(T) * 8 - 1);
    return std::bit_cast<T>(key & sign ? key & ~sign : ~key);
}

template <class K>
void radix_sort(std::vector<K>& keys) {
    if (keys.size() < 512) {
        std::sort(keys.begin(), keys.end());
        return;
    }
    constexpr int digit_bits = 11, n_digits = (sizeof(K) * 8 + digit_bits - 1) / digit_bits;
    constexpr std::size_t radix = 1 << digit_bits;
    std::vector<std::array<std::uint32_t, radix>> counts(n_digits);
    for (const K key : keys) {
        for (int d = 0; d < n_digits; ++d) ++counts[d][(key >> (d * digit_bits)) & (radix - 1)];
    }
    std::vector<K> other(keys.size());
    for (int d = 0; d < n_digits; ++d) {
        auto& count = counts[d];
        const int shift = d * digit_bits;
        if (count[(keys[0] >> shift) & (radix - 1)] == keys.size()) continue;
        std::uint32_t start = 0;
        for (auto& c : count) start += std::exchange(c, start);
        for (const K key : keys) other[count[(key >> shift) & (radix - 1)]++] = key;
        keys.swap(other);
    }
}

}  // namespace

template <class T>
std::optional<IntegerRange> find_integer_range(const T* values, std::size_t n) {
    constexpr T limit = 1 << 24;  // every integer up to here is exact in both types
    T low = limit, high = -limit;
    for (std::size_t i = 0; i < n; ++i) {
        const T v = values[i];
        if (v != v) continue;
        if (!(std::abs(v) <= limit) || v != static_cast<T>(static_cast<std::int32_t>(v))) {
            return std::nullopt;
        }
        low = std::min(low, v);
        high = std::max(high, v);
    }
    if (low > high) return std::nullopt;
    const auto length = static_cast<std::size_t>(high - low) + 1;
    // A table much longer than the column costs more than sorting the column.
    if (length > 2 * n + 256 || length > (1u << 20)) return std::nullopt;
    return IntegerRange{static_cast<std::int64_t>(low), length};
}

template <class T>
Distinct<T> count_integers(const T* values, std::size_t n, IntegerRange range) {
    std::vector<std::uint32_t> table(range.length);
    const T base = static_cast<T>(range.base);
    Distinct<T> out;
    for (std::size_t i = 0; i < n; ++i) {
        const T v = values[i];
        if (v != v) continue;
        ++table[static_cast<std::size_t>(v - base)];
        ++out.n_present;
    }
    for (std::size_t i = 0; i < range.length; ++i) {
        if (table[i] == 0) continue;
        out.values.push_back(base + static_cast<T>(i));
        out.counts.push_back(table[i]);
    }
    return out;
}

template <class T>
Distinct<T> sort_distinct(const T* values, std::size_t n) {
    std::vector<Key<T>> keys;
    keys.reserve(n);
    for (std::size_t i = 0; i < n; ++i) {
        const T v = values[i] + T{0};  // -0 becomes 0
        if (v == v) keys.push_back(to_key(v));
    }
    radix_sort(keys);
    Distinct<T> out;
    out.n_present = keys.size();
    for (std::size_t i = 0; i < keys.size();) {
        std::size_t j = i + 1;
        while (j < keys.size() && keys[j] == keys[i]) ++j;
        out.values.push_back(from_key<T>(keys[i]));
        out.counts.push_back(static_cast<std::uint32_t>(j - i));
        i = j;
    }
    return out;
}

#define HEDGEROW_DISTINCT(T)                                                        \
    template std::optional<IntegerRange> find_integer_range(const T*, std::size_t); \
    template Distinct<T> count_integers(const T*, std::size_t, IntegerRange);       \
    template Distinct<T> sort_distinct(const T*, std::size_t);
HEDGEROW_DISTINCT(float)
HEDGEROW_DISTINCT(double)
#undef HEDGEROW_DISTINCT

}  // namespace hedgerow
