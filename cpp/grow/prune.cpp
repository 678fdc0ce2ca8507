#include "grow/prune.hpp"

#include <algorithm>
#include <queue>
#include <stdexcept>

namespace hedgerow {
namespace {

// The tree while it is pruned: which nodes are leaves now, and what stands below each node.
class Pruner {
  public:
    explicit Pruner(const DecisionGraph& tree)
        : tree_(tree),
          parent_(tree.n_nodes(), -1),
          own_(tree.n_nodes()),
          below_(tree.n_nodes()),
          n_leaves_(tree.n_nodes(), 1),
          version_(tree.n_nodes(), 0),
          gone_(tree.n_nodes(), false) {
        const auto n = static_cast<std::int32_t>(tree.n_nodes());
        for (std::int32_t i = n - 1; i >= 0; --i) {  // preorder: children come later
            own_[i] = below_[i] = tree.weight[i] * tree.impurity[i] / tree.weight[0];
            if (tree.is_leaf(i)) continue;
            for (const std::int32_t child : {tree.left[i], tree.right[i]}) {
                if (child <= i || parent_[child] >= 0) {
                    throw std::invalid_argument("only a tree in preorder can be pruned");
                }
                parent_[child] = i;
            }
            below_[i] = below_[tree.left[i]] + below_[tree.right[i]];
            n_leaves_[i] = n_leaves_[tree.left[i]] + n_leaves_[tree.right[i]];
            queue_.push({price(i), i, 0});
        }
    }

    double impurity() const { return below_[0]; }

    // The price of the cheapest collapse, or false when only the root is left.
    bool cheapest(double& alpha) {
        while (!queue_.empty()) {
            const auto& top = queue_.top();
            if (!gone_[top.node] && top.version == version_[top.node]) {
                alpha = top.price;
                return true;
            }
            queue_.pop();
        }
        return false;
    }

    // Calls `leave` with each split that goes.
    void collapse_cheapest(const auto& leave) {
        const std::int32_t node = queue_.top().node;
        queue_.pop();
        const double impurity_change = own_[node] - below_[node];
        const std::int32_t leaf_change = 1 - n_leaves_[node];
        remove_from(node, leave);
        for (std::int32_t i = node; i >= 0; i = parent_[i]) {
            below_[i] += impurity_change;
            n_leaves_[i] += leaf_change;
            if (i != node) queue_.push({price(i), i, ++version_[i]});
        }
    }

    DecisionGraph remaining() const { return cut_at(tree_, gone_); }

  private:
    struct Entry {
        double price;
        std::int32_t node;
        std::uint32_t version;
        bool operator<(const Entry& other) const {  // cheapest first, then the lowest index
            return price != other.price ? price > other.price : node > other.node;
        }
    };

    double price(std::int32_t node) const {
        return std::max(0.0, (own_[node] - below_[node]) / (n_leaves_[node] - 1));
    }

    // Neither the node nor what is below it is a split any more.
    void remove_from(std::int32_t node, const auto& leave) {
        std::vector<std::int32_t> stack{node};
        while (!stack.empty()) {
            const std::int32_t i = stack.back();
            stack.pop_back();
            if (tree_.is_leaf(i) || gone_[i]) continue;
            gone_[i] = true;
            leave(i);
            stack.push_back(tree_.left[i]);
            stack.push_back(tree_.right[i]);
        }
    }

    const DecisionGraph& tree_;
    std::vector<std::int32_t> parent_;
    std::vector<double> own_, below_;
    std::vector<std::int32_t> n_leaves_;
    std::vector<std::uint32_t> version_;
    std::vector<bool> gone_;
    std::priority_queue<Entry> queue_;
};

}  // namespace

PruningPath pruning_path(const DecisionGraph& tree, Team& team) {
    Pruner pruner(tree);
    PruningPath path{{0.0}, {pruner.impurity()}};
    for (double alpha; pruner.cheapest(alpha);) {
        team.checkpoint(0);
        pruner.collapse_cheapest([](std::int32_t) {});
        path.alphas.push_back(std::max(alpha, path.alphas.back()));
        path.impurities.push_back(pruner.impurity());
    }
    return path;
}

std::vector<double> pruning_prices(const DecisionGraph& tree, Team& team) {
    Pruner pruner(tree);
    std::vector<double> prices(tree.n_nodes(), 0.0);
    double highest = 0;
    for (double price; pruner.cheapest(price);) {
        team.checkpoint(0);
        highest = std::max(price, highest);
        pruner.collapse_cheapest([&](std::int32_t node) { prices[node] = highest; });
    }
    return prices;
}

DecisionGraph cut_at(const DecisionGraph& tree, const std::vector<bool>& ends) {
    struct Pending {
        std::int32_t node;
        Place place;
    };
    DecisionGraph out;
    out.n_features = tree.n_features;
    out.n_outputs = tree.n_outputs;
    std::vector<Pending> stack{{0, {}}};
    while (!stack.empty()) {
        const auto [node, place] = stack.back();
        stack.pop_back();
        const std::int32_t to = out.copy_node(tree, node);
        out.hang(to, place);
        if (ends[node] || tree.is_leaf(node)) {
            out.make_leaf(to);
            continue;
        }
        stack.push_back({tree.right[node], {to, false}});
        stack.push_back({tree.left[node], {to, true}});
    }
    return out;
}

DecisionGraph merge_siblings(const DecisionGraph& tree) {
    const auto wrong = [&](std::int32_t node) {
        return tree.weight[node] * (1 - std::ranges::max(tree.value_of(node)));
    };
    std::vector<bool> ends(tree.n_nodes());
    for (auto node = static_cast<std::int32_t>(tree.n_nodes()) - 1; node >= 0; --node) {
        const std::int32_t left = tree.left[node], right = tree.right[node];
        if (tree.is_leaf(node)) {
            ends[node] = true;
        } else if (left <= node || right <= node) {
            throw std::invalid_argument("only a tree in preorder can be pruned");
        } else if (ends[left] && ends[right]) {
            // What weights and shares say of equal numbers of rows differs by rounding.
            const double rounding = 1e-10 * tree.weight[node];
            ends[node] = wrong(left) + wrong(right) >= wrong(node) - rounding;
        }
    }
    return cut_at(tree, ends);
}

DecisionGraph prune(const DecisionGraph& tree, double alpha) {
    Pruner pruner(tree);
    for (double price; pruner.cheapest(price) && price <= alpha;) {
        pruner.collapse_cheapest([](std::int32_t) {});
    }
    return pruner.remaining();
}

}  // namespace hedgerow
