// The members of a sum while it grows: their nodes, and which training rows each leaf has.
//
// Rows of a node stand together in its member's list, in rising order; a row's column in each
// member leads from the row to the leaf values. Columns are dense: when a split is taken out, the
// last column moves into the gap.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "additive/tree_sum_table.hpp"

namespace hedgerow {

struct SumTest {
    std::int32_t feature = -1;
    bool categorical = false;
    bool missing_left = false;
    std::uint32_t n_left = 0;  // numbers: the first codes go left
    double threshold = 0;
    std::vector<std::uint64_t> set;  // categories that go left

    bool found() const { return feature >= 0; }
    bool code_left(std::uint32_t code, std::uint32_t missing) const {
        if (code == missing) return missing_left;
        return categorical ? (set[code / 64] >> (code % 64) & 1) != 0 : code < n_left;
    }
};

struct SumNode {
    std::int32_t parent = -1, left = -1, right = -1;
    std::uint32_t member = 0;
    std::uint32_t depth = 0;
    std::uint32_t begin = 0, end = 0;  // in the member's list of rows
    std::uint32_t column = 0;          // of a leaf
    std::uint64_t key = 0;             // settles ties
    SumTest test;

    bool is_leaf() const { return left < 0; }
    std::uint32_t n_rows() const { return end - begin; }
};

class SumMembers {
  public:
    using Column = std::uint16_t;
    static constexpr std::uint32_t most_columns = 65535;

    explicit SumMembers(const SumTable& table) : table_(table), leaf_at_{-1} {}

    std::size_t n_members() const { return members_.size(); }
    std::size_t n_columns() const { return leaf_at_.size(); }
    std::size_t n_splits() const { return n_columns() - 1 - n_members(); }
    const SumNode& node(std::int32_t at) const { return nodes_[at]; }
    std::int32_t leaf_at(std::size_t column) const { return leaf_at_[column]; }
    std::int32_t root(std::size_t member) const { return members_[member].root; }
    const Column* columns(std::size_t member) const { return members_[member].column.data(); }
    std::span<const std::uint32_t> rows(std::int32_t at) const {
        const SumNode& node = nodes_[at];
        return {members_[node.member].rows.data() + node.begin, node.n_rows()};
    }

    // A new member of one leaf with all rows, in a new column. Returns the leaf.
    std::int32_t plant();
    // The left child keeps the column of the leaf, the right one gets a new one.
    void split(std::int32_t leaf, const SumTest& test);
    // A node of two leaves becomes a leaf in the column of the left one. The column of the right
    // one is filled with the last one.
    void join(std::int32_t node);
    // Takes out a member of one leaf; the last member moves into its place, columns likewise.
    void fell(std::size_t member);
    // Gives an inner node another test and sorts its rows anew.
    void retest(std::int32_t node, const SumTest& test);

    // Inner nodes of a member, children before parents.
    std::vector<std::int32_t> inner_nodes(std::size_t member) const;

  private:
    struct Member {
        std::int32_t root = -1;
        std::vector<std::uint32_t> rows;
        std::vector<Column> column;
    };

    std::int32_t add_node();
    void drop_node(std::int32_t at) { free_.push_back(at); }
    void drop_column(std::uint32_t column);
    void write_column(std::int32_t leaf);
    // Divides the rows of a node by its test; returns where the right ones begin.
    std::uint32_t divide(const SumNode& node);
    void place_rows(std::int32_t at);

    const SumTable& table_;
    std::vector<SumNode> nodes_;
    std::vector<std::int32_t> free_;
    std::vector<Member> members_;
    std::vector<std::int32_t> leaf_at_;  // by column; -1 for the intercept
    std::vector<std::uint32_t> waiting_;
};

}  // namespace hedgerow
