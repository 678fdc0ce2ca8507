#include "additive/tree_sum_members.hpp"

#include <algorithm>
#include <numeric>

#include "base/random.hpp"

namespace hedgerow {

std::int32_t SumMembers::add_node() {
    if (!free_.empty()) {
        const std::int32_t at = free_.back();
        free_.pop_back();
        nodes_[at] = {};
        return at;
    }
    nodes_.emplace_back();
    return static_cast<std::int32_t>(nodes_.size()) - 1;
}

void SumMembers::write_column(std::int32_t leaf) {
    const SumNode& node = nodes_[leaf];
    auto& column = members_[node.member].column;
    for (const std::uint32_t row : rows(leaf)) column[row] = static_cast<Column>(node.column);
}

std::int32_t SumMembers::plant() {
    const std::int32_t at = add_node();
    SumNode& node = nodes_[at];
    node.member = static_cast<std::uint32_t>(members_.size());
    node.end = static_cast<std::uint32_t>(table_.n_rows());
    node.column = static_cast<std::uint32_t>(leaf_at_.size());
    node.key = key_of(node.member, 0);
    leaf_at_.push_back(at);
    Member& member = members_.emplace_back();
    member.root = at;
    member.rows.resize(table_.n_rows());
    std::iota(member.rows.begin(), member.rows.end(), 0u);
    member.column.assign(table_.n_rows(), static_cast<Column>(node.column));
    return at;
}

std::uint32_t SumMembers::divide(const SumNode& node) {
    auto& rows = members_[node.member].rows;
    const auto feature = static_cast<std::size_t>(node.test.feature);
    const std::uint32_t missing = table_.data().column(feature).n_bins;
    std::vector<std::uint8_t> is_left(missing + 1);
    for (std::uint32_t code = 0; code <= missing; ++code) {
        is_left[code] = node.test.code_left(code, missing);
    }
    waiting_.resize(node.n_rows());
    std::uint32_t n_left = node.begin, n_right = 0;
    table_.with_codes([&](const auto* codes) {
        for (std::uint32_t i = node.begin; i < node.end; ++i) {
            const std::uint32_t row = rows[i];
            const bool left = is_left[codes[row * table_.n_features() + feature]];
            rows[n_left] = waiting_[n_right] = row;
            n_left += left;
            n_right += !left;
        }
    });
    std::copy_n(waiting_.begin(), n_right, rows.begin() + n_left);
    return n_left;
}

void SumMembers::split(std::int32_t leaf, const SumTest& test) {
    const std::int32_t left = add_node(), right = add_node();
    SumNode& node = nodes_[leaf];
    node.test = test;
    const std::uint32_t middle = divide(node);
    for (const bool is_left : {true, false}) {
        SumNode& child = nodes_[is_left ? left : right];
        child.parent = leaf;
        child.member = node.member;
        child.depth = node.depth + 1;
        child.begin = is_left ? node.begin : middle;
        child.end = is_left ? middle : node.end;
        child.key = key_of(node.key, is_left ? 1 : 2);
        child.column = is_left ? node.column : static_cast<std::uint32_t>(leaf_at_.size());
    }
    node.left = left, node.right = right;
    leaf_at_[node.column] = left;
    leaf_at_.push_back(right);
    write_column(right);
}

void SumMembers::drop_column(std::uint32_t column) {
    const auto last = static_cast<std::uint32_t>(leaf_at_.size()) - 1;
    if (column != last) {
        const std::int32_t moved = leaf_at_[last];
        leaf_at_[column] = moved;
        nodes_[moved].column = column;
        write_column(moved);
    }
    leaf_at_.pop_back();
}

void SumMembers::join(std::int32_t at) {
    SumNode& node = nodes_[at];
    const SumNode left = nodes_[node.left], right = nodes_[node.right];
    auto& rows = members_[node.member].rows;
    std::inplace_merge(rows.begin() + node.begin, rows.begin() + right.begin,
                       rows.begin() + node.end);
    drop_node(node.left), drop_node(node.right);
    node.left = node.right = -1;
    node.column = left.column;
    leaf_at_[node.column] = at;
    write_column(at);
    drop_column(right.column);
}

void SumMembers::fell(std::size_t member) {
    const std::int32_t root = members_[member].root;
    const std::uint32_t column = nodes_[root].column;
    if (member + 1 != members_.size()) {
        std::swap(members_[member], members_.back());
        for (auto& node : nodes_) {
            if (node.member + 1 == members_.size())
                node.member = static_cast<std::uint32_t>(member);
        }
    }
    members_.pop_back();
    drop_node(root);
    drop_column(column);
}

std::vector<std::int32_t> SumMembers::inner_nodes(std::size_t member) const {
    std::vector<std::int32_t> order{members_[member].root};
    for (std::size_t i = 0; i < order.size(); ++i) {
        const SumNode& node = nodes_[order[i]];
        if (node.is_leaf()) continue;
        order.push_back(node.left);
        order.push_back(node.right);
    }
    std::erase_if(order, [&](std::int32_t at) { return nodes_[at].is_leaf(); });
    std::reverse(order.begin(), order.end());
    return order;
}

void SumMembers::place_rows(std::int32_t at) {
    SumNode& node = nodes_[at];
    if (node.is_leaf()) {
        write_column(at);
        return;
    }
    const std::uint32_t middle = divide(node);
    nodes_[node.left].begin = node.begin, nodes_[node.left].end = middle;
    nodes_[node.right].begin = middle, nodes_[node.right].end = node.end;
    place_rows(node.left);
    place_rows(node.right);
}

void SumMembers::retest(std::int32_t at, const SumTest& test) {
    SumNode& node = nodes_[at];
    auto& rows = members_[node.member].rows;
    std::sort(rows.begin() + node.begin, rows.begin() + node.end);
    node.test = test;
    place_rows(at);
}

}  // namespace hedgerow
