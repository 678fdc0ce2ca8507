#include "graph/packed.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <type_traits>

#include "base/random.hpp"

namespace hedgerow {

namespace {
constexpr std::size_t rows_together = 8;
// Graphs of many nodes are deep, and not in the nearest cache: forests on covertype take 0.8 of
// the time with more rows on the way that do not wait for each other. Small ones take 1.05 of it.
constexpr std::size_t rows_in_turn = 24, many_nodes = 1 << 14;
constexpr std::size_t rows_per_task = 256;
// The trees of a forest and the terms of oblique tests are read once for a block of rows: the more
// rows the better, while these stay in the cache. On 36 features oblique trees took two thirds of
// the time with 2,048 rows instead of 256.
constexpr std::size_t most_rows = 2048, block_bytes = 1 << 19;

// By their bits, as integers: this loop is vectorised, one over floating-point comparisons is not.
template <class T>
auto count_infinite(const T* x, std::size_t n) {
    using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    constexpr auto infinite = std::bit_cast<Bits>(std::numeric_limits<T>::infinity());
    constexpr Bits magnitude = ~Bits{0} >> 1;
    Bits count = 0;
    for (std::size_t i = 0; i < n; ++i) {
        Bits bits;
        std::memcpy(&bits, x + i, sizeof bits);
        count += (bits & magnitude) == infinite;
    }
    return count;
}

}  // namespace

std::uint64_t PackedGraphs::value_row(std::span<const double> value) {
    // Nearly all leaves of a full-grown tree are of one class: these rows are remembered by class.
    const auto sure = std::find(value.begin(), value.end(), 1.0);
    const auto n_zeros = static_cast<std::size_t>(std::count(value.begin(), value.end(), 0.0));
    if (sure == value.end() || n_zeros + 1 != value.size()) return row_for(value);
    pure_row_.resize(n_outputs_, -1);
    auto& row = pure_row_[sure - value.begin()];
    if (row < 0) row = static_cast<std::int64_t>(row_for(value));
    return static_cast<std::uint64_t>(row);
}

std::uint64_t PackedGraphs::row_for(std::span<const double> value) {
    std::uint64_t hash = 0;
    for (const double v : value) hash = key_of(hash, std::bit_cast<std::uint64_t>(v));
    const auto [first, last] = value_index_.equal_range(hash);
    for (auto it = first; it != last; ++it) {
        if (std::equal(value.begin(), value.end(), values_.begin() + it->second * n_outputs_)) {
            return it->second;
        }
    }
    const auto row = static_cast<std::uint32_t>(values_.size() / n_outputs_);
    values_.insert(values_.end(), value.begin(), value.end());
    value_index_.emplace(hash, row);
    return row;
}

void PackedGraphs::add(const DecisionGraph& graph) {
    if (graph.n_features != n_features_ || graph.n_outputs != n_outputs_) {
        throw std::invalid_argument("the graphs differ in their features or outputs");
    }
    const auto root = static_cast<std::uint32_t>(nodes_.size());
    // pair_of[node]: where the children of a test stand, once they were given a place.
    std::vector<std::uint32_t> pair_of(graph.n_nodes(), 0);
    struct Pending {
        std::int32_t node;
        std::uint32_t at;
    };
    nodes_.emplace_back();
    std::vector<Pending> stack{{0, root}};
    while (!stack.empty()) {
        const auto [node, at] = stack.back();
        stack.pop_back();
        PackedNode packed{};
        if (graph.is_leaf(node)) {
            const auto value = graph.value_of(node);
            packed.number = n_outputs_ == 1 ? value[0] : std::bit_cast<double>(value_row(value));
            packed.left = at;
            nodes_[at] = packed;
            continue;
        }
        packed.number = graph.threshold[node];
        packed.test = PackedNode::not_leaf;
        if (graph.missing_left[node]) packed.test |= PackedNode::missing_left;
        switch (static_cast<Kind>(graph.kind[node])) {
            case Kind::category:
                packed.test |=
                    PackedNode::category |
                    static_cast<std::uint32_t>(tests_.add_set(graph.tests.set(graph.detail[node])));
                category_feature_.push_back(static_cast<std::uint32_t>(graph.feature[node]));
                break;
            case Kind::oblique:
                packed.test |= PackedNode::oblique | static_cast<std::uint32_t>(tests_.add_oblique(
                                                         graph.tests.oblique[graph.detail[node]]));
                break;
            default:
                packed.test |= static_cast<std::uint32_t>(graph.feature[node]);
        }
        if (pair_of[node] == 0) {
            pair_of[node] = static_cast<std::uint32_t>(nodes_.size());
            nodes_.resize(nodes_.size() + 2);
            stack.push_back({graph.right[node], pair_of[node] + 1});
            stack.push_back({graph.left[node], pair_of[node]});
        }
        packed.left = pair_of[node];
        nodes_[at] = packed;
    }
    roots_.push_back(static_cast<std::uint32_t>(nodes_.size()));
    note_kinds();
}

// Takes the flags of the graphs that are new.
void PackedGraphs::note_kinds() {
    for (std::size_t g = flags_.size(); g < n_graphs(); ++g) {
        std::uint32_t flags = 0;
        for (std::uint32_t at = roots_[g]; at < roots_[g + 1]; ++at) flags |= nodes_[at].test;
        flags_.push_back(flags);
    }
}

PackedGraphs PackedGraphs::first(std::size_t n) const {
    // Sets, terms and values of the later graphs are copied too: they are small beside the nodes.
    PackedGraphs out(n_features_, n_outputs_);
    out.roots_.assign(roots_.begin(), roots_.begin() + static_cast<std::ptrdiff_t>(n) + 1);
    out.nodes_.assign(nodes_.begin(), nodes_.begin() + out.roots_.back());
    out.values_ = values_;
    out.category_feature_ = category_feature_;
    out.tests_ = tests_;
    out.note_kinds();
    return out;
}

DecisionGraph PackedGraphs::unpack(std::size_t graph) const {
    DecisionGraph out;
    out.n_features = n_features_;
    out.n_outputs = n_outputs_;
    // A pair belongs to one test, so a test that was copied for its parents is recognised by it.
    std::unordered_map<std::uint32_t, std::int32_t> test_of_pair;
    struct Pending {
        std::uint32_t at;
        Place place;
    };
    std::vector<Pending> stack{{roots_[graph], {}}};
    while (!stack.empty()) {
        const auto [at, place] = stack.back();
        stack.pop_back();
        const PackedNode& node = nodes_[at];
        std::int32_t to;
        const auto known = node.is_leaf() ? test_of_pair.end() : test_of_pair.find(node.left);
        if (known != test_of_pair.end()) {
            to = known->second;
        } else {
            to = out.add_node();
            if (node.is_leaf()) {
                add_value(node, out.value.data() + std::size_t(to) * n_outputs_);
            } else {
                test_of_pair.emplace(node.left, to);
                const bool missing_left = node.test & PackedNode::missing_left;
                const auto index = static_cast<std::int32_t>(node.index());
                if (node.test & PackedNode::oblique) {
                    out.set_oblique(to, tests_.oblique[index], node.number);
                } else if (node.test & PackedNode::category) {
                    const auto feature = static_cast<std::int32_t>(category_feature_[index]);
                    out.set_category(to, feature, tests_.set(index), node.number, missing_left);
                } else {
                    out.set_axis(to, index, node.number, missing_left);
                }
                stack.push_back({node.left + 1, {to, false}});
                stack.push_back({node.left, {to, true}});
            }
        }
        out.hang(to, place);
    }
    return out;
}

template <class T>
void PackedGraphs::apply(const T* x, std::size_t n_rows, std::int32_t* out, Team& team) const {
    // Preorder numbers of the packed nodes, as in `unpack`; copies of one leaf are leaves of their
    // own.
    std::vector<std::int32_t> number(nodes_.size(), -1);
    for (std::size_t g = 0; g < n_graphs(); ++g) {
        std::int32_t next = 0;
        std::unordered_map<std::uint32_t, std::int32_t> seen;
        std::vector<std::uint32_t> stack{roots_[g]};
        while (!stack.empty()) {
            const std::uint32_t at = stack.back();
            stack.pop_back();
            const PackedNode& node = nodes_[at];
            if (node.is_leaf()) {
                number[at] = next++;
            } else if (seen.emplace(node.left, next).second) {
                ++next;
                stack.push_back(node.left + 1);
                stack.push_back(node.left);
            }
        }
    }
    for_blocks(n_rows, sizeof(T), team, [&](std::size_t begin, std::size_t end) {
        std::array<std::uint32_t, most_rows> leaves;
        for (std::size_t g = 0; g < n_graphs(); ++g) {
            route_block(g, x + begin * n_features_, end - begin, leaves.data());
            for (std::size_t row = begin; row < end; ++row) {
                out[row * n_graphs() + g] = number[leaves[row - begin]];
            }
        }
    });
}

std::vector<std::uint32_t> PackedGraphs::features_of(std::size_t graph) const {
    std::vector<std::uint32_t> features;
    for (std::uint32_t at = roots_[graph]; at < roots_[graph + 1]; ++at) {
        const PackedNode& node = nodes_[at];
        if (node.is_leaf()) continue;
        const auto index = node.index();
        if (node.test & PackedNode::oblique) {
            for (const auto& term : tests_.oblique[index]->terms()) {
                if (term.weight != 0) features.push_back(static_cast<std::uint32_t>(term.feature));
            }
        } else {
            features.push_back(node.test & PackedNode::category ? category_feature_[index] : index);
        }
    }
    std::sort(features.begin(), features.end());
    features.erase(std::unique(features.begin(), features.end()), features.end());
    return features;
}

PackedGraphs::State PackedGraphs::state() const {
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(nodes_.data());
    return {{bytes, bytes + nodes_.size() * sizeof(PackedNode)},
            roots_,
            values_,
            category_feature_,
            tests_};
}

PackedGraphs PackedGraphs::from_state(std::uint32_t n_features, std::uint32_t n_outputs,
                                      State state) {
    if (state.nodes.size() % sizeof(PackedNode) != 0) {
        throw std::invalid_argument("the graphs' nodes are cut off");
    }
    PackedGraphs out(n_features, n_outputs);
    out.nodes_.resize(state.nodes.size() / sizeof(PackedNode));
    std::memcpy(out.nodes_.data(), state.nodes.data(), out.nodes_.size() * sizeof(PackedNode));
    out.roots_ = std::move(state.roots);
    out.values_ = std::move(state.values);
    out.category_feature_ = std::move(state.category_feature);
    out.tests_ = std::move(state.tests);
    out.validate();
    out.note_kinds();
    return out;
}

void PackedGraphs::validate() const {
    const auto require = [](bool holds, const char* message) {
        if (!holds) throw std::invalid_argument(message);
    };
    require(n_outputs_ > 0 && roots_.size() > 1 && roots_.front() == 0 &&
                roots_.back() == nodes_.size() &&
                std::adjacent_find(roots_.begin(), roots_.end(), std::greater_equal<>()) ==
                    roots_.end(),
            "the graphs' roots are broken");
    require(values_.size() % n_outputs_ == 0, "the graphs' values are broken");
    require(std::all_of(values_.begin(), values_.end(), [](double v) { return std::isfinite(v); }),
            "a value of a leaf is not finite");
    tests_.validate(n_features_);
    require(category_feature_.size() + 1 == tests_.word_start.size(),
            "the graphs' category sets are broken");
    for (std::size_t g = 0; g < n_graphs(); ++g) {
        // Depth-first from the root: every pair inside the graph, none above itself on a path.
        enum : std::uint8_t { fresh, open, done };
        std::vector<std::uint8_t> state(roots_[g + 1] - roots_[g], fresh);
        std::vector<std::uint32_t> stack{roots_[g]};
        while (!stack.empty()) {
            const std::uint32_t at = stack.back();
            auto& mark = state[at - roots_[g]];
            const PackedNode& node = nodes_[at];
            if (mark != fresh || node.is_leaf()) {
                mark = done;
                stack.pop_back();
                if (node.is_leaf()) {
                    require(node.left == at && node.test == 0, "a leaf has a child or a test");
                    require(n_outputs_ == 1 ? std::isfinite(node.number)
                                            : std::bit_cast<std::uint64_t>(node.number) <
                                                  values_.size() / n_outputs_,
                            "a leaf's value is broken");
                }
                continue;
            }
            mark = open;
            const auto index = node.index();
            require(!(node.test & PackedNode::oblique && node.test & PackedNode::category),
                    "a test is of two kinds");
            if (node.test & PackedNode::oblique) {
                require(index < tests_.oblique.size(), "an oblique test is out of range");
            } else if (node.test & PackedNode::category) {
                require(index < category_feature_.size() && category_feature_[index] < n_features_,
                        "a category set is out of range");
                require(tests_.knows(static_cast<std::int32_t>(index), node.number),
                        "a category set is too short");
            } else {
                require(index < n_features_, "a feature is out of range");
            }
            require(!std::isnan(node.number), "a threshold is not a number");
            require(node.left > roots_[g] && node.left < roots_[g + 1] - 1,
                    "a child is out of range");
            for (const std::uint32_t child : {node.left, node.left + 1}) {
                require(state[child - roots_[g]] != open, "the graph has a cycle");
                if (state[child - roots_[g]] == fresh) stack.push_back(child);
            }
        }
        require(std::all_of(state.begin(), state.end(), [](auto mark) { return mark == done; }),
                "a graph has a node its root cannot reach");
    }
}

std::size_t PackedGraphs::nbytes() const {
    std::size_t oblique = 0;
    for (const auto& test : tests_.oblique) oblique += test->nbytes();
    return nodes_.size() * sizeof(PackedNode) + roots_.size() * sizeof(roots_[0]) +
           values_.size() * sizeof(double) + tests_.words.size() * 8 + oblique;
}

struct PackedGraphs::Reader {
    const PackedGraphs& graphs;

    const PackedNode& at(std::uint32_t node) const { return graphs.nodes_[node]; }
    bool is_leaf(std::uint32_t node) const { return at(node).is_leaf(); }
    std::uint32_t child(std::uint32_t node, bool left) const { return at(node).left + !left; }

    // Of a node that is no oblique test; a leaf is read as a test of the first feature.
    template <bool has_categories, class T>
    static bool goes_left(const PackedGraphs& graphs, const PackedNode& node, const T* x) {
        const bool missing_left = node.test & PackedNode::missing_left;
        const std::uint32_t index = node.index();
        if (has_categories && (node.test & PackedNode::category)) {
            return graphs.tests_.goes_left(static_cast<std::int32_t>(index),
                                           static_cast<double>(x[graphs.category_feature_[index]]),
                                           node.number, missing_left);
        }
        return number_goes_left(static_cast<double>(x[index]), node.number, missing_left);
    }
    template <class T>
    bool goes_left(std::uint32_t node, const T* x) const {
        if (!is_oblique(node)) return goes_left<true>(graphs, at(node), x);
        return oblique(node).goes_left(x, at(node).number);
    }

    bool is_oblique(std::uint32_t node) const { return at(node).test & PackedNode::oblique; }
    const ObliqueTest& oblique(std::uint32_t node) const {
        return *graphs.tests_.oblique[at(node).index()];
    }
    bool divides(std::uint32_t node, std::size_t n) const { return is_oblique(node) && n >= 4; }
    template <class RowOf, class Divide>
    void test(std::uint32_t node, std::size_t n, const RowOf& row_of, const Divide& divide) const {
        std::array<std::uint8_t, most_rows> is_left;
        oblique(node).go_left(n, row_of, at(node).number, is_left.data());
        divide([&](std::size_t i) { return is_left[i] != 0; });
    }
};

template <class T>
std::uint32_t PackedGraphs::route(std::uint32_t at, const T* x) const {
    return walk(Reader{*this}, at, x);
}

template <bool has_categories, class T>
void PackedGraphs::route_together(std::uint32_t root, const T* x, std::uint32_t* leaves) const {
    std::array<std::uint32_t, rows_together> at;  // a fixed number of rows: they stay in registers
    at.fill(root);
    const PackedNode* nodes = nodes_.data();
    for (std::uint32_t moving = 1; moving;) {
        moving = 0;
        for (std::size_t i = 0; i < rows_together; ++i) {
            const PackedNode& node = nodes[at[i]];
            const std::uint32_t is_test = node.test >> 31;
            const bool go_left =
                Reader::goes_left<has_categories>(*this, node, x + i * n_features_);
            at[i] = node.left + (is_test & !go_left);
            moving |= is_test;
        }
    }
    std::copy(at.begin(), at.end(), leaves);
}

// A row that arrives makes room for the next: none waits for the deepest of its neighbours.
template <bool has_categories, class T>
void PackedGraphs::route_in_turn(std::uint32_t root, const T* x, std::size_t n_rows,
                                 std::uint32_t* leaves) const {
    struct Traveller {
        const T* x;
        std::uint32_t at, row;
    };
    std::array<Traveller, rows_in_turn> travellers;
    std::size_t n = 0, next = 0;
    const auto send = [&](std::size_t i) {
        travellers[i] = {x + next * n_features_, root, static_cast<std::uint32_t>(next)};
        ++next;
    };
    for (; n < std::min(rows_in_turn, n_rows); ++n) send(n);
    while (n > 0) {
        for (std::size_t i = 0; i < n; ++i) {
            Traveller& traveller = travellers[i];
            const PackedNode& node = nodes_[traveller.at];
            if (!node.is_leaf()) {
                traveller.at =
                    node.left + !Reader::goes_left<has_categories>(*this, node, traveller.x);
                continue;
            }
            leaves[traveller.row] = traveller.at;
            if (next < n_rows) {
                send(i);
            } else {
                traveller = travellers[--n];
            }
        }
    }
}

template <class T>
void PackedGraphs::route_block(std::size_t graph, const T* x, std::size_t n_rows,
                               std::uint32_t* leaves) const {
    const std::uint32_t root = roots_[graph];
    if (flags_[graph] & PackedNode::oblique) {
        std::array<std::uint16_t, most_rows> rows;
        std::iota(rows.begin(), rows.end(), std::uint16_t{0});
        route_groups(
            Reader{*this}, root, std::span(rows).first(n_rows),
            [&](std::uint16_t row) { return x + row * n_features_; },
            [&](std::uint32_t leaf, std::size_t begin, std::size_t end) {
                for (std::size_t i = begin; i < end; ++i) leaves[rows[i]] = leaf;
            });
        return;
    }
    const bool has_categories = flags_[graph] & PackedNode::category;
    if (n_features_ > 0 && roots_[graph + 1] - root >= many_nodes) {
        return has_categories ? route_in_turn<true>(root, x, n_rows, leaves)
                              : route_in_turn<false>(root, x, n_rows, leaves);
    }
    std::size_t row = 0;
    for (; n_features_ > 0 && row + rows_together <= n_rows; row += rows_together) {
        if (has_categories) {
            route_together<true>(root, x + row * n_features_, leaves + row);
        } else {
            route_together<false>(root, x + row * n_features_, leaves + row);
        }
    }
    for (; row < n_rows; ++row) leaves[row] = route(root, x + row * n_features_);
}

void PackedGraphs::add_value(const PackedNode& leaf, double* out) const {
    if (n_outputs_ == 1) {
        *out += leaf.number;
        return;
    }
    const double* value = values_.data() + std::bit_cast<std::uint64_t>(leaf.number) * n_outputs_;
    for (std::uint32_t k = 0; k < n_outputs_; ++k) out[k] += value[k];
}

template <class T>
void PackedGraphs::add_value_of(std::size_t graph, const T* x, double* out) const {
    add_value(nodes_[route(roots_[graph], x)], out);
}

template <class T>
void PackedGraphs::predict_row(const T* x, double* out) const {
    std::fill_n(out, n_outputs_, 0.0);
    for (std::size_t g = 0; g < n_graphs(); ++g) add_value(nodes_[route(roots_[g], x)], out);
    const double scale = 1.0 / static_cast<double>(n_graphs());
    if (n_graphs() > 1) {
        for (std::uint32_t k = 0; k < n_outputs_; ++k) out[k] *= scale;
    }
}

template <class T>
void PackedGraphs::predict_block(const T* x, std::size_t n_rows, double* out) const {
    std::fill_n(out, n_rows * n_outputs_, 0.0);
    std::array<std::uint32_t, most_rows> leaves;
    for (std::size_t g = 0; g < n_graphs(); ++g) {
        route_block(g, x, n_rows, leaves.data());
        for (std::size_t row = 0; row < n_rows; ++row) {
            add_value(nodes_[leaves[row]], out + row * n_outputs_);
        }
    }
    if (n_graphs() == 1) return;
    const double scale = 1.0 / static_cast<double>(n_graphs());
    for (std::size_t i = 0; i < n_rows * n_outputs_; ++i) out[i] *= scale;
}

template <class Body>
void PackedGraphs::for_blocks(std::size_t n_rows, std::size_t number_bytes, Team& team,
                              const Body& body) const {
    const bool read_again = n_graphs() > 1 || !tests_.oblique.empty();
    const std::size_t fitting = block_bytes / (n_features_ + 1) / number_bytes;
    const std::size_t size =
        read_again ? std::clamp(fitting, rows_per_task, most_rows) : rows_per_task;
    team.for_each((n_rows + size - 1) / size, [&](std::size_t task, int) {
        body(task * size, std::min((task + 1) * size, n_rows));
    });
}

template <class T>
void PackedGraphs::refuse_infinite(const T* x, std::size_t n_rows) const {
    if (count_infinite(x, n_rows * n_features_) > 0) {
        throw std::invalid_argument("Input X contains infinity: replace it by a number or by NaN.");
    }
}

template <class T>
void PackedGraphs::predict(const T* x, std::size_t n_rows, double* out, Team& team) const {
    for_blocks(n_rows, sizeof(T), team, [&](std::size_t begin, std::size_t end) {
        refuse_infinite(x + begin * n_features_, end - begin);
        predict_block(x + begin * n_features_, end - begin, out + begin * n_outputs_);
    });
}

template <class T>
void PackedGraphs::add_up(const T* x, std::size_t n_rows, std::span<const double> start,
                          double* out, Team& team) const {
    const std::size_t k = start.size();
    for_blocks(n_rows, sizeof(T), team, [&](std::size_t begin, std::size_t end) {
        const T* block = x + begin * n_features_;
        refuse_infinite(block, end - begin);
        for (std::size_t row = begin; row < end; ++row) {
            std::copy(start.begin(), start.end(), out + row * k);
        }
        std::array<std::uint32_t, most_rows> leaves;
        for (std::size_t g = 0; g < n_graphs(); ++g) {
            route_block(g, block, end - begin, leaves.data());
            double* sum = out + begin * k + (n_outputs_ == 1 ? g % k : 0);
            for (std::size_t row = 0; row < end - begin; ++row, sum += k) {
                add_value(nodes_[leaves[row]], sum);
            }
        }
    });
}

template <class T>
void PackedGraphs::predict_class(const T* x, std::size_t n_rows, std::int32_t* out,
                                 Team& team) const {
    for_blocks(n_rows, sizeof(T), team, [&](std::size_t begin, std::size_t end) {
        refuse_infinite(x + begin * n_features_, end - begin);
        std::vector<double> values((end - begin) * n_outputs_);
        predict_block(x + begin * n_features_, end - begin, values.data());
        for (std::size_t row = begin; row < end; ++row) {
            const double* value = values.data() + (row - begin) * n_outputs_;
            out[row] =
                static_cast<std::int32_t>(std::max_element(value, value + n_outputs_) - value);
        }
    });
}

template void PackedGraphs::predict(const float*, std::size_t, double*, Team&) const;
template void PackedGraphs::predict(const double*, std::size_t, double*, Team&) const;
template void PackedGraphs::add_up(const float*, std::size_t, std::span<const double>, double*,
                                   Team&) const;
template void PackedGraphs::add_up(const double*, std::size_t, std::span<const double>, double*,
                                   Team&) const;
template void PackedGraphs::predict_class(const float*, std::size_t, std::int32_t*, Team&) const;
template void PackedGraphs::predict_class(const double*, std::size_t, std::int32_t*, Team&) const;
template void PackedGraphs::apply(const float*, std::size_t, std::int32_t*, Team&) const;
template void PackedGraphs::apply(const double*, std::size_t, std::int32_t*, Team&) const;
template void PackedGraphs::add_value_of(std::size_t, const float*, double*) const;
template void PackedGraphs::add_value_of(std::size_t, const double*, double*) const;
template void PackedGraphs::predict_row(const float*, double*) const;
template void PackedGraphs::predict_row(const double*, double*) const;

}  // namespace hedgerow
