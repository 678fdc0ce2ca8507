// Graphs laid out for prediction: 16 bytes a node, one or many graphs in one array.
//
// pair     the two children of a test stand side by side, so a node stores one index. A node with
//          several parents is copied into the pair of each (16 bytes a copy); its own pair is
//          shared.
// leaf     points at itself, so rows are routed several at a time without branching on which of
//          them has arrived; its number slot holds the value (one output) or a row of `values`.
// values   the distinct value vectors of all leaves: pure leaves of one class share one row.
//
// Cost: one cache line a visited node; rows in flight together hide most of the misses. A graph
// with oblique tests is routed node by node, a block of rows at a time, so that a test's weights
// are read once for several rows.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/parallel.hpp"
#include "graph/decision_graph.hpp"

namespace hedgerow {

struct PackedNode {
    double number;       // threshold, value of a leaf, or row of `values` (as bits)
    std::uint32_t test;  // feature or index of the detail, with flags above
    std::uint32_t left;  // the right child is next to it

    static constexpr std::uint32_t not_leaf = 1u << 31;
    static constexpr std::uint32_t missing_left = 1u << 30;
    static constexpr std::uint32_t category = 1u << 29;
    static constexpr std::uint32_t oblique = 1u << 28;
    static constexpr std::uint32_t index_mask = oblique - 1;

    bool is_leaf() const { return !(test & not_leaf); }
    std::uint32_t index() const { return test & index_mask; }
};
static_assert(sizeof(PackedNode) == 16);

class PackedGraphs {
  public:
    PackedGraphs(std::uint32_t n_features, std::uint32_t n_outputs)
        : n_features_(n_features), n_outputs_(n_outputs) {}

    void add(const DecisionGraph& graph);
    // Frees what only further graphs would need: the index of known values.
    void seal() {
        value_index_ = {};
        pure_row_ = {};
    }
    // The first n graphs.
    PackedGraphs first(std::size_t n) const;
    // One graph in columns again, numbered in preorder; row counts and impurities are not kept.
    DecisionGraph unpack(std::size_t graph) const;

    std::size_t n_graphs() const { return roots_.size() - 1; }
    std::size_t n_nodes() const { return nodes_.size(); }
    std::size_t nbytes() const;
    std::uint32_t n_features() const { return n_features_; }
    std::uint32_t n_outputs() const { return n_outputs_; }
    // The distinct value vectors of all leaves, one after the other; none for one output.
    std::span<const double> values() const { return values_; }

    // The mean of the graphs' values: n_rows x n_outputs numbers into `out`. Rows are contiguous.
    // Infinite numbers in x are refused: a block of rows is checked just before it is routed, while
    // it is in the cache.
    template <class T>
    void predict(const T* x, std::size_t n_rows, double* out, Team& team) const;

    // The sums of the graphs' values beside `start`, n_rows x start.size() numbers: each graph adds
    // its outputs, or, with one output, graph g adds to sum g % start.size().
    template <class T>
    void add_up(const T* x, std::size_t n_rows, std::span<const double> start, double* out,
                Team& team) const;

    // The output with the largest mean value of each row: the class that `predict` points at.
    template <class T>
    void predict_class(const T* x, std::size_t n_rows, std::int32_t* out, Team& team) const;

    // One row, without a team.
    template <class T>
    void predict_row(const T* x, double* out) const;

    // The leaf of each row in each graph, n_rows x n_graphs, numbered as `unpack` numbers them.
    template <class T>
    void apply(const T* x, std::size_t n_rows, std::int32_t* out, Team& team) const;

    // One row's value in one graph.
    template <class T>
    void add_value_of(std::size_t graph, const T* x, double* out) const;
    // Features that a graph tests, ascending.
    std::vector<std::uint32_t> features_of(std::size_t graph) const;

    // Everything the graphs consist of, for files; `from_state` validates what it reads.
    struct State {
        std::vector<std::uint8_t> nodes;
        std::vector<std::uint32_t> roots;
        std::vector<double> values;
        std::vector<std::uint32_t> category_feature;
        TestPool tests;
    };
    State state() const;
    static PackedGraphs from_state(std::uint32_t n_features, std::uint32_t n_outputs, State state);

  private:
    void validate() const;
    void note_kinds();
    // A reader of rows of numbers (graph/route.hpp); nodes are places in `nodes_`.
    struct Reader;
    template <class T>
    std::uint32_t route(std::uint32_t at, const T* x) const;
    template <bool has_categories, class T>
    void route_together(std::uint32_t root, const T* x, std::uint32_t* leaves) const;
    template <bool has_categories, class T>
    void route_in_turn(std::uint32_t root, const T* x, std::size_t n_rows,
                       std::uint32_t* leaves) const;
    // The leaves of a block of rows in one graph.
    template <class T>
    void route_block(std::size_t graph, const T* x, std::size_t n_rows,
                     std::uint32_t* leaves) const;
    // Calls body(first row, end) for blocks of rows.
    template <class Body>
    void for_blocks(std::size_t n_rows, std::size_t number_bytes, Team& team,
                    const Body& body) const;
    template <class T>
    void refuse_infinite(const T* x, std::size_t n_rows) const;
    template <class T>
    void predict_block(const T* x, std::size_t n_rows, double* out) const;
    std::uint64_t value_row(std::span<const double> value);
    std::uint64_t row_for(std::span<const double> value);
    void add_value(const PackedNode& leaf, double* out) const;

    std::uint32_t n_features_, n_outputs_;
    std::vector<std::uint32_t> flags_;  // of all tests of a graph together: which kinds it has
    std::vector<PackedNode> nodes_;
    std::vector<std::uint32_t> roots_{0};  // graph g has the nodes roots_[g]..roots_[g + 1]
    std::vector<double> values_;
    std::unordered_multimap<std::uint64_t, std::uint32_t> value_index_;
    std::vector<std::int64_t> pure_row_;  // by class, -1 where there is none yet
    // Category tests keep their feature beside the set.
    std::vector<std::uint32_t> category_feature_;
    TestPool tests_;
};

}  // namespace hedgerow
