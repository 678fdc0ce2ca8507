// A copy of the codes of some rows that fits the cache, for growing a subtree.
//
// Codes are ranked anew among those present (fewer bins to clear and scan), and features that are
// constant in these rows are found on the way. Cost: about 3 ns a cell, once per subtree instead of
// a cache miss per cell and level.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "grow/split.hpp"

namespace hedgerow {

struct Gathered {
    std::vector<CodeView> views;  // by feature; empty for the constant ones

    // `features` lists all features, the first `n_constant` of which are constant in the rows;
    // newly found constants join them.
    Gathered(const std::vector<CodeView>& from, std::span<const Row> rows,
             std::vector<std::uint32_t>& features, std::uint32_t& n_constant);

  private:
    std::unique_ptr<std::uint8_t[]> narrow_;
    std::vector<std::vector<std::uint16_t>> wide_;
    std::vector<std::uint16_t> originals_;
};

}  // namespace hedgerow
