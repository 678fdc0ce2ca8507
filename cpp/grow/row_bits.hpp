// Rows as bits: 64 rows to a word, whole weights cut into their binary digits.
//
// set      rows of a subtree or node, a bit each
// digit    the weights' binary digits have a set each, so that the weight of a set is a few
//          population counts: a bag of rows needs three or four
// codes    of one feature, 64 to a word, next to each other
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>
#ifdef __AVX2__
#include <immintrin.h>
#endif

#include "grow/node_rows.hpp"

namespace hedgerow::bits {

using Set = std::uint64_t;

inline constexpr std::uint32_t word_rows = 64;

inline std::uint32_t words_for(std::uint32_t n) { return (n + word_rows - 1) / word_rows; }

// The first n rows of a word, 1 <= n <= 64.
inline Set first_rows(std::uint32_t n) { return ~Set{0} >> (word_rows - n); }

// Which of 64 codes are at most `last`.
inline Set up_to(const std::uint8_t* codes, std::uint8_t last) {
#ifdef __AVX2__
    const auto half = [&](const std::uint8_t* from) {
        const __m256i v = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
        const __m256i low = _mm256_min_epu8(v, _mm256_set1_epi8(static_cast<char>(last)));
        return static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(low, v)));
    };
    return half(codes) | Set{half(codes + 32)} << 32;
#else
    Set set = 0;
    for (std::uint32_t i = 0; i < word_rows; ++i) set |= Set{codes[i] <= last} << i;
    return set;
#endif
}

// Which of 64 numbers have a binary digit.
inline Set with_digit(const std::uint8_t* numbers, std::uint32_t digit) {
#ifdef __AVX2__
    const auto half = [&](const std::uint8_t* from) {
        const __m256i v = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
        const __m256i up = _mm256_sll_epi16(v, _mm_cvtsi32_si128(static_cast<int>(7 - digit)));
        return static_cast<std::uint32_t>(_mm256_movemask_epi8(up));
    };
    return half(numbers) | Set{half(numbers + 32)} << 32;
#else
    Set set = 0;
    for (std::uint32_t i = 0; i < word_rows; ++i) set |= Set{numbers[i] >> digit & 1u} << i;
    return set;
#endif
}

// A set as 64 bytes, 255 for a row that is in it.
inline void spread(Set set, std::uint8_t* out) {
#ifdef __AVX2__
    const auto half = [&](std::uint32_t from, std::uint8_t* to) {
        const __m256i bytes = _mm256_shuffle_epi8(
            _mm256_set1_epi32(static_cast<int>(from)),
            _mm256_setr_epi64x(0, 0x0101010101010101, 0x0202020202020202, 0x0303030303030303));
        const __m256i places = _mm256_set1_epi64x(static_cast<long long>(0x8040201008040201ULL));
        const __m256i ones = _mm256_cmpeq_epi8(_mm256_and_si256(bytes, places), places);
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), ones);
    };
    half(static_cast<std::uint32_t>(set), out);
    half(static_cast<std::uint32_t>(set >> 32), out + 32);
#else
    for (std::uint32_t i = 0; i < word_rows; ++i) out[i] = set >> i & 1 ? 255 : 0;
#endif
}

// The whole weights of rows, as a set for each word and digit.
template <class Stats>
class Weights {
    static constexpr std::uint32_t most_digits = 8;

  public:
    // Takes the weights of a node's rows; false if one is too large.
    bool take(const NodeRows<Stats>& node) {
        if constexpr (Stats::weighted) {
            typename Stats::Weight heaviest = 1;
            for (std::uint32_t i = 0; i < node.n; ++i) {
                heaviest = std::max(heaviest, node.weights[i]);
            }
            n_digits_ =
                static_cast<std::uint32_t>(std::bit_width(static_cast<std::uint32_t>(heaviest)));
            if (n_digits_ > most_digits) return false;
            const std::uint32_t n_words = words_for(node.n);
            if (bytes_.size() < n_words * word_rows) bytes_.resize(n_words * word_rows);
            for (std::uint32_t i = 0; i < node.n; ++i) {
                bytes_[i] = static_cast<std::uint8_t>(node.weights[i]);
            }
            digits_.resize(std::size_t(n_words) * n_digits_);
            Set* set = digits_.data();
            for (std::uint32_t word = 0; word < n_words; ++word) {
                for (std::uint32_t digit = 0; digit < n_digits_; ++digit) {
                    *set++ = with_digit(bytes_.data() + std::size_t(word) * word_rows, digit);
                }
            }
        }
        return true;
    }

    // The weight of one row, and of some rows of a word.
    std::uint32_t of_row(std::uint32_t row) const {
        if constexpr (!Stats::weighted) return 1;
        return bytes_[row];
    }
    std::uint32_t of(std::uint32_t word, Set rows) const {
        if constexpr (!Stats::weighted) return static_cast<std::uint32_t>(std::popcount(rows));
        const Set* digits = digits_.data() + std::size_t(word) * n_digits_;
        std::uint32_t sum = 0;
        for (std::uint32_t digit = 0; digit < n_digits_; ++digit) {
            sum += static_cast<std::uint32_t>(std::popcount(rows & digits[digit])) << digit;
        }
        return sum;
    }

  private:
    std::uint32_t n_digits_ = 1;
    std::vector<std::uint8_t> bytes_;
    std::vector<Set> digits_;  // by word, then by digit
};

}  // namespace hedgerow::bits
