// Random numbers keyed by what they are for (seed, tree, node), never by the order of the work.
#pragma once

#include <cstdint>

#include "base/portable.hpp"

namespace hedgerow {

// SplitMix64's finaliser: every input bit reaches every output bit.
inline std::uint64_t scramble(std::uint64_t x) {
    x += 0x9e3779b97f4a7c15ULL;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
}

inline std::uint64_t key_of(std::uint64_t parent, std::uint64_t child) {
    return scramble(parent ^ scramble(child));
}

class Random {
  public:
    explicit Random(std::uint64_t key) : state_(key) {}

    std::uint64_t next() {
        const std::uint64_t out = scramble(state_);
        state_ += 0x9e3779b97f4a7c15ULL;
        return out;
    }
    // Uniform in 0..n-1; the bias of the multiplication is below n / 2^64.
    std::uint64_t below(std::uint64_t n) { return multiply_high(next(), n); }
    // Uniform in [0, 1) with 53 bits.
    double uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

  private:
    std::uint64_t state_;
};

}  // namespace hedgerow
