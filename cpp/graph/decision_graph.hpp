// The one model type: a rooted acyclic graph of tests with values at its leaves.
//
// node      an index into the columns below; node 0 is the root, children have larger numbers in a
//           tree (preorder) and any number in a graph
// test      axis: x[feature] <= threshold goes left
//           category: the category x[feature] is in the node's set goes left
//           oblique: the sum of its terms < threshold goes left
// term      number: weight * (x[feature] - centre); category: weight if x[feature] is the category.
//           A test has its numbers first, then for each of its categorical features one term a
//           category, in the order of the codes
// missing   NaN in an axis or category test, and a category outside the training table, follow
//           `missing_left`; an oblique test leaves missing numbers out and gives a missing category
//           equal shares of all categories: the mean of their weights
//
// A structure of arrays, made for building, export and zero-copy views; prediction in bulk uses
// the packed form (graph/packed.hpp).
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace hedgerow {

enum class Kind : std::uint8_t { leaf = 0, axis = 1, category = 2, oblique = 3 };

struct ObliqueTerm {
    std::int32_t feature;
    std::int32_t category;  // -1: the feature is a number
    double weight;
    double centre;  // 0 for a category
};

// The parts of category and oblique tests that do not fit into a node, shared by both layouts.
struct TestPool {
    std::vector<std::uint64_t> words;          // category sets, 64 categories a word
    std::vector<std::uint32_t> word_start{0};  // set s is words[word_start[s]..word_start[s + 1]]
    std::vector<std::int32_t> term_feature, term_category;
    std::vector<double> term_weight, term_centre;
    std::vector<std::uint32_t> term_start{0};

    void validate(std::uint32_t n_features) const;
    std::int32_t add_set(std::span<const std::uint64_t> set);
    // Throws std::invalid_argument where the terms are not in the order described above.
    std::int32_t add_terms(std::span<const ObliqueTerm> terms);
    void remove_last_terms();
    std::span<const std::uint64_t> set(std::int32_t index) const {
        return {words.data() + word_start[index], words.data() + word_start[index + 1]};
    }
    std::vector<ObliqueTerm> oblique(std::int32_t index) const;
    bool in_set(std::int32_t index, double code) const {
        const auto members = set(index);
        if (!(code >= 0 && code < 64.0 * static_cast<double>(members.size()))) return false;
        const auto bit = static_cast<std::uint64_t>(code);
        return members[bit / 64] >> (bit % 64) & 1;
    }
    // The sum of a test's terms for a row.
    template <class T>
    double sum(std::int32_t index, const T* x) const {
        const Layout& test = layouts_[index];
        double out;
        if (test.consecutive) {
            sum_numbers<1>(test, &x, &out);
        } else {
            out = sum_of_known(test, x);
        }
        add_tables(test, x, out);
        return out;
    }
    // The same for n rows, where at(i) is the i-th: weights are read once for four rows.
    template <class At>
    void sums(std::int32_t index, std::size_t n, At at, double* out) const {
        const Layout& test = layouts_[index];
        std::size_t i = 0;
        for (; test.consecutive && i + 4 <= n; i += 4) {
            const std::array rows{at(i), at(i + 1), at(i + 2), at(i + 3)};
            sum_numbers<4>(test, rows.data(), out + i);
            for (std::size_t r = 0; r < 4; ++r) add_tables(test, rows[r], out[i + r]);
        }
        for (; i < n; ++i) out[i] = sum(index, at(i));
    }
    template <class T>
    bool below(std::int32_t index, const T* x, double threshold) const {
        return sum(index, x) < threshold;
    }

  private:
    // Where a test's terms are: numbers first, then a table of weights per categorical feature.
    struct Layout {
        std::uint32_t begin, n_numbers;
        std::uint32_t tables_begin, tables_end;
        bool consecutive;  // the numbers are neighbouring features: no indices needed
    };
    struct Table {
        std::int32_t feature;
        std::uint32_t begin, size;
        double missing;
    };

    using Four = double __attribute__((vector_size(32)));

    template <class T>
    static Four load(const T* x) {
        T __attribute__((vector_size(4 * sizeof(T)))) four;
        std::memcpy(&four, x, sizeof four);
        return __builtin_convertvector(four, Four);
    }

    // Neighbouring features of n_rows rows. Eight sums side by side for each, whatever the
    // processor: its vectors are filled, and the order is fixed.
    template <std::size_t n_rows, class T>
    void sum_numbers(const Layout& test, const T* const* rows, double* out) const {
        const double* weight = term_weight.data() + test.begin;
        const double* centre = term_centre.data() + test.begin;
        const std::int32_t first = term_feature[test.begin];
        Four sums[n_rows][2] = {};
        std::uint32_t i = 0;
        const auto add_four = [&](std::uint32_t half) {
            const Four w = load(weight + i), c = load(centre + i);
            for (std::size_t r = 0; r < n_rows; ++r) {
                sums[r][half] += w * (load(rows[r] + first + i) - c);
            }
            i += 4;
        };
        while (i + 8 <= test.n_numbers) {
            add_four(0);
            add_four(1);
        }
        if (i + 4 <= test.n_numbers) add_four(0);
        for (std::size_t r = 0; r < n_rows; ++r) {
            const Four both = sums[r][0] + sums[r][1];
            out[r] = (both[0] + both[2]) + (both[1] + both[3]);
            for (std::uint32_t j = i; j < test.n_numbers; ++j) {
                out[r] += weight[j] * (static_cast<double>(rows[r][first + j]) - centre[j]);
            }
            if (out[r] != out[r]) out[r] = sum_of_known(test, rows[r]);
        }
    }

    // Any features, without those that are missing.
    template <class T>
    double sum_of_known(const Layout& test, const T* x) const {
        double sum = 0;
        for (std::uint32_t i = test.begin; i < test.begin + test.n_numbers; ++i) {
            const double distance = static_cast<double>(x[term_feature[i]]) - term_centre[i];
            if (distance == distance) sum += term_weight[i] * distance;
        }
        return sum;
    }

    template <class T>
    void add_tables(const Layout& test, const T* x, double& sum) const {
        for (std::uint32_t t = test.tables_begin; t < test.tables_end; ++t) {
            const Table& table = tables_[t];
            const double code = static_cast<double>(x[table.feature]);
            const bool known = code >= 0 && code < table.size;
            sum +=
                known ? term_weight[table.begin + static_cast<std::uint32_t>(code)] : table.missing;
        }
    }

    std::vector<Layout> layouts_;
    std::vector<Table> tables_;
};

struct DecisionGraph {
    std::uint32_t n_features = 0;
    std::uint32_t n_outputs = 1;
    std::vector<std::uint8_t> kind, missing_left;
    std::vector<std::int32_t> feature, left, right;
    std::vector<std::int32_t> detail;  // index into `tests` of a category or oblique node, else -1
    std::vector<double> threshold;
    std::vector<std::int32_t> n_samples;
    std::vector<double> weight, impurity;
    std::vector<double> value;  // n_outputs numbers a node
    TestPool tests;

    std::size_t n_nodes() const { return kind.size(); }
    std::size_t n_leaves() const;
    std::size_t depth() const;
    bool is_leaf(std::int32_t node) const { return kind[node] == 0; }
    std::span<const double> value_of(std::int32_t node) const {
        return {value.data() + std::size_t(node) * n_outputs, n_outputs};
    }

    template <class T>
    std::int32_t next(std::int32_t node, const T* x) const {
        bool go_left = missing_left[node];
        switch (static_cast<Kind>(kind[node])) {
            case Kind::leaf:
                return -1;
            case Kind::axis: {
                const double v = static_cast<double>(x[feature[node]]);
                if (v == v) go_left = v <= threshold[node];
                break;
            }
            case Kind::category: {
                // The set ends with the last category known at training; beyond it is "unseen".
                const double v = static_cast<double>(x[feature[node]]);
                if (v >= 0) go_left = tests.in_set(detail[node], v);
                break;
            }
            case Kind::oblique:
                go_left = tests.below(detail[node], x, threshold[node]);
                break;
        }
        return go_left ? left[node] : right[node];
    }

    template <class T>
    std::int32_t leaf_of(const T* x, std::int32_t node = 0) const {
        for (std::int32_t child; (child = next(node, x)) >= 0;) node = child;
        return node;
    }

    void reserve(std::size_t nodes);
    // Appends a leaf without children; returns its index.
    std::int32_t add_node();
    // Appends a copy of another graph's node, its test included, without children.
    std::int32_t copy_node(const DecisionGraph& from, std::int32_t node);
    // The same without the node's statistics and value.
    std::int32_t copy_test(const DecisionGraph& from, std::int32_t node);
    void make_leaf(std::int32_t node);

    // Throws std::invalid_argument unless the graph is whole: equal lengths, indices in range,
    // acyclic, every node reachable from the root, finite numbers.
    void validate() const;
};

// Nodes with every parent before its children; throws std::invalid_argument if there is a cycle or
// a node that the root does not reach.
std::vector<std::int32_t> topological_order(const DecisionGraph& graph);

// One graph from several, numbered in preorder: child -2 - i of `top` stands for the root of
// parts[i].
DecisionGraph join_in_preorder(const DecisionGraph& top, std::span<const DecisionGraph> parts);

}  // namespace hedgerow
