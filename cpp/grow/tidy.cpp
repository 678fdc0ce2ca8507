#include "grow/tidy.hpp"

#include <map>

#include "graph/coded.hpp"

namespace hedgerow {
namespace {

class Tidier {
  public:
    Tidier(const DecisionGraph& graph, RowStats& stats)
        : graph_(graph), stats_(stats), stands_for_(graph.n_nodes(), -1), set_(graph.n_nodes()) {}

    // A split has two sets, what it sends left and then what it sends right; a leaf has one.
    void count(const Dataset& data, const double* numbers, std::span<const Row> rows) {
        std::int32_t n_sets = 0;
        for (std::size_t i = 0; i < graph_.n_nodes(); ++i) {
            set_[i] = n_sets;
            n_sets += graph_.is_leaf(static_cast<std::int32_t>(i)) ? 1 : 2;
        }
        stats_.resize(static_cast<std::size_t>(n_sets));
        const CodedGraph coded(graph_, data, numbers);
        for (const Row row : rows) {
            for (std::int32_t at = 0; at >= 0;) {
                const std::int32_t next = coded.next(at, row);
                const bool right = next >= 0 && next == graph_.right[at];
                stats_.add(set_[at] + right, row);
                at = next;
            }
        }
        for (std::size_t set = 0; set < stats_.size(); ++set) {
            stats_.settle(static_cast<std::int32_t>(set));
        }
    }

    void merge_leaves() {
        std::map<double, std::int32_t> first;
        for (std::size_t i = 0; i < graph_.n_nodes(); ++i) {
            const auto node = static_cast<std::int32_t>(i);
            if (!graph_.is_leaf(node) || stats_.n_rows(set_[node]) == 0) continue;
            const auto [same, is_new] = first.try_emplace(stats_.label(set_[node]), node);
            stands_for_[node] = same->second;
            if (!is_new) stats_.add_set(set_[same->second], set_[node]);
        }
    }

    // Children before parents, so that each node finds what stands for its children.
    void resolve() {
        std::vector<std::int32_t> stack{0};
        std::vector<bool> open(graph_.n_nodes());
        while (!stack.empty()) {
            const std::int32_t node = stack.back();
            if (stands_for_[node] < 0 && !graph_.is_leaf(node) && !open[node]) {
                open[node] = true;
                stack.push_back(graph_.left[node]);
                stack.push_back(graph_.right[node]);
                continue;
            }
            stack.pop_back();
            if (stands_for_[node] >= 0) continue;
            stands_for_[node] = node;
            if (graph_.is_leaf(node)) continue;
            const std::int32_t left = stands_for_[graph_.left[node]];
            const std::int32_t right = stands_for_[graph_.right[node]];
            if (stats_.n_rows(set_[node] + 1) == 0 || left == right) {
                stands_for_[node] = left;
            } else if (stats_.n_rows(set_[node]) == 0) {
                stands_for_[node] = right;
            }
        }
    }

    TidyGraph build() {
        TidyGraph out;
        out.graph.n_features = graph_.n_features;
        out.graph.n_outputs = stats_.n_outputs();
        out.graph.reserve(graph_.n_nodes());
        struct Pending {
            std::int32_t node;
            Place place;
        };
        std::vector<std::int32_t> index(graph_.n_nodes(), -1);
        std::vector<Pending> stack{{stands_for_[0], {}}};
        while (!stack.empty()) {
            const auto [node, place] = stack.back();
            stack.pop_back();
            const bool is_new = index[node] < 0;
            if (is_new) index[node] = write(node, out);
            out.graph.hang(index[node], place);
            if (!is_new || graph_.is_leaf(node)) continue;
            stack.push_back({stands_for_[graph_.right[node]], {index[node], false}});
            stack.push_back({stands_for_[graph_.left[node]], {index[node], true}});
        }
        return out;
    }

  private:
    std::int32_t write(std::int32_t node, TidyGraph& out) {
        const std::int32_t rows = set_[node];
        double removed = 0;
        if (!graph_.is_leaf(node)) {
            const double lost = stats_.loss(rows) + stats_.loss(rows + 1);
            stats_.add_set(rows, rows + 1);  // what goes left is not asked for any more
            removed = stats_.loss(rows) - lost;
        }
        out.removed.push_back(removed);
        DecisionGraph& graph = out.graph;
        const std::int32_t to = graph.copy_test(graph_, node);
        graph.n_samples[to] = static_cast<std::int32_t>(stats_.n_rows(rows));
        graph.weight[to] = stats_.weight(rows);
        graph.impurity[to] = stats_.weight(rows) > 0 ? stats_.loss(rows) / stats_.weight(rows) : 0;
        stats_.write_value(rows, graph.value.data() + std::size_t(to) * graph.n_outputs);
        return to;
    }

    const DecisionGraph& graph_;
    RowStats& stats_;
    std::vector<std::int32_t> stands_for_;
    std::vector<std::int32_t> set_;  // by node: its first
};

}  // namespace

TidyGraph tidy(const DecisionGraph& graph, const Dataset& data, const double* numbers,
               std::span<const Row> rows, RowStats stats, bool merge_leaves) {
    stats.resize(0);
    Tidier tidier(graph, stats);
    tidier.count(data, numbers, rows);
    if (merge_leaves) tidier.merge_leaves();
    tidier.resolve();
    return tidier.build();
}

}  // namespace hedgerow
