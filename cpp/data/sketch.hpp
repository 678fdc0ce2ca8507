// The values of one feature that come in batches, in any order: their distinct values with counts
// while these are few, else their ranks within a stated error.
//
// chunk    chunk_rows neighbouring rows of the table; its values are sorted and counted
// run      neighbouring values, known by the largest of them and how many there are
// node     the runs of 2^level chunks; two complete siblings are merged into their parent
//
// Which chunks are merged follows from the numbers of the rows alone, and counts are integers: the
// runs that come out depend on the table, not on batches, workers or their order. A node of at most
// most_exact runs keeps every distinct value. In others neighbours are joined as long as a run
// stays under rank_error / 16 of the node's values: each of up to 16 levels adds that much to the
// error of a rank, which `slack` counts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "data/dataset.hpp"

namespace hedgerow {

struct Runs {
    std::vector<double> largest;  // ascending
    std::vector<std::uint64_t> counts;
    std::uint64_t slack = 0;  // by how many rows a rank may be off
};

class Sketch {
  public:
    static constexpr std::uint64_t chunk_rows = std::uint64_t{1} << 17;
    static constexpr std::size_t most_exact = Dataset::most_bins;

    struct Node {
        Runs runs;
        std::uint64_t n_rows = 0;  // that were seen, also missing values
    };
    // By level and place.
    using Nodes = std::map<std::pair<std::uint32_t, std::uint64_t>, Node>;

    explicit Sketch(double rank_error) : rank_error_(rank_error) {}

    // The values of rows first_row, first_row + 1, ...; no row comes twice.
    template <class T>
    void add(std::uint64_t first_row, Strided<T> values, std::size_t n);
    // Takes in the rows of another sketch of the same column.
    void merge(const Sketch& other);
    // The runs of all rows, when there are no gaps between them.
    Runs runs();

    double rank_error() const { return rank_error_; }
    std::size_t nbytes() const;
    // What makes the sketch; values that wait for their chunk are counted first.
    const Nodes& nodes();
    void put(std::uint32_t level, std::uint64_t place, Node node);

  private:
    void count_waiting();
    void shorten(Runs& runs) const;
    Runs merged(const Runs& a, const Runs& b) const;

    double rank_error_;
    Nodes nodes_;
    std::vector<double> waiting_;  // neighbouring rows of one chunk
    std::uint64_t waiting_from_ = 0;
};

// Where the bins of a column end, from its runs: every distinct value where these are at most
// max_bins (0: most_bins), else bins of nearly equal weight.
struct BinEnds {
    std::vector<double> largest;
    bool every_value;  // a bin is one value
};
BinEnds bin_ends(const Runs& runs, std::uint32_t max_bins);

// Writes the codes of values, `largest.size()` for NaN, and widens low and high, the smallest and
// largest value seen in each bin.
template <class T, class Code>
void code_numbers(Strided<T> values, std::size_t n, std::span<const double> largest,
                  std::span<double> low, std::span<double> high, Code* codes);

}  // namespace hedgerow
