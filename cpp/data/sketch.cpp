#include "data/sketch.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "data/distinct.hpp"

namespace hedgerow {

template <class T>
void Sketch::add(std::uint64_t first_row, Strided<T> values, std::size_t n) {
    if (first_row != waiting_from_ + waiting_.size()) {
        count_waiting();
        waiting_from_ = first_row;
    }
    for (std::size_t i = 0; i < n;) {
        const std::uint64_t next = waiting_from_ + waiting_.size();
        const std::size_t stop = std::min<std::uint64_t>(n, i + chunk_rows - next % chunk_rows);
        for (; i < stop; ++i) waiting_.push_back(static_cast<double>(values[i]));
        if ((waiting_from_ + waiting_.size()) % chunk_rows == 0) count_waiting();
    }
}

template void Sketch::add(std::uint64_t, Strided<float>, std::size_t);
template void Sketch::add(std::uint64_t, Strided<double>, std::size_t);

void Sketch::count_waiting() {
    if (waiting_.empty()) return;
    const auto integers = find_integer_range(waiting_.data(), waiting_.size());
    auto distinct = integers ? count_integers(waiting_.data(), waiting_.size(), *integers)
                             : sort_distinct(waiting_.data(), waiting_.size());
    Node node{{std::move(distinct.values), {distinct.counts.begin(), distinct.counts.end()}, 0},
              waiting_.size()};
    const std::uint64_t place = waiting_from_ / chunk_rows;
    waiting_from_ += waiting_.size();
    waiting_.clear();
    put(0, place, std::move(node));
}

void Sketch::put(std::uint32_t level, std::uint64_t place, Node node) {
    for (;;) {
        if (level == 0) {  // a part of a chunk, or all of it
            if (const auto at = nodes_.find({0, place}); at != nodes_.end()) {
                node.runs = merged(node.runs, at->second.runs);
                node.n_rows += at->second.n_rows;
                nodes_.erase(at);
            }
            if (node.n_rows > chunk_rows) throw std::invalid_argument("a row came twice");
            if (node.n_rows == chunk_rows) shorten(node.runs);
        }
        const bool complete = level > 0 || node.n_rows == chunk_rows;
        const auto sibling = nodes_.find({level, place ^ 1});
        const bool joins = complete && sibling != nodes_.end() &&
                           (level > 0 || sibling->second.n_rows == chunk_rows);
        if (!joins) {
            if (!nodes_.insert({{level, place}, std::move(node)}).second) {
                throw std::invalid_argument("a row came twice");
            }
            return;
        }
        node.runs = merged(node.runs, sibling->second.runs);
        node.n_rows += sibling->second.n_rows;
        nodes_.erase(sibling);
        shorten(node.runs);
        ++level;
        place /= 2;
    }
}

void Sketch::merge(const Sketch& other) {
    if (other.rank_error_ != rank_error_) {
        throw std::invalid_argument("the sketches have different rank errors");
    }
    Sketch copy = other;
    for (auto& [where, node] : copy.nodes()) put(where.first, where.second, node);
}

const Sketch::Nodes& Sketch::nodes() {
    count_waiting();
    return nodes_;
}

Runs Sketch::runs() {
    count_waiting();
    std::vector<std::pair<std::uint64_t, const Node*>> parts;  // by their first row
    for (const auto& [where, node] : nodes_) {
        parts.emplace_back((where.second << where.first) * chunk_rows, &node);
    }
    std::sort(parts.begin(), parts.end());
    std::uint64_t next = 0;
    for (const auto& [first, node] : parts) {
        if (first != next) throw std::invalid_argument("rows are missing in a sketch");
        next += node->n_rows;
    }
    Runs out;
    for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
        out = merged(out, part->second->runs);
        shorten(out);
    }
    return out;
}

Runs Sketch::merged(const Runs& a, const Runs& b) const {
    Runs out;
    out.slack = a.slack + b.slack;
    out.largest.reserve(a.largest.size() + b.largest.size());
    out.counts.reserve(out.largest.capacity());
    std::size_t i = 0, j = 0;
    while (i < a.largest.size() || j < b.largest.size()) {
        const bool from_a =
            j == b.largest.size() || (i < a.largest.size() && a.largest[i] <= b.largest[j]);
        const double value = from_a ? a.largest[i] : b.largest[j];
        std::uint64_t count = from_a ? a.counts[i++] : b.counts[j++];
        if (from_a && j < b.largest.size() && b.largest[j] == value) count += b.counts[j++];
        out.largest.push_back(value);
        out.counts.push_back(count);
    }
    return out;
}

// Joins neighbours into runs of a small share of the values; heavy values stay alone.
void Sketch::shorten(Runs& runs) const {
    if (runs.largest.size() <= most_exact) return;
    const auto total = std::accumulate(runs.counts.begin(), runs.counts.end(), std::uint64_t{0});
    const auto most = static_cast<std::uint64_t>(static_cast<double>(total) * rank_error_ / 16);
    std::size_t n = 0;
    std::uint64_t widest = 0;  // of the joined runs, without the largest value
    for (std::size_t i = 0; i < runs.largest.size();) {
        std::uint64_t count = runs.counts[i++];
        while (i < runs.largest.size() && count + runs.counts[i] <= most) {
            widest = std::max(widest, count);
            count += runs.counts[i++];
        }
        runs.largest[n] = runs.largest[i - 1];
        runs.counts[n++] = count;
    }
    runs.slack += widest;
    runs.largest.resize(n);
    runs.counts.resize(n);
    runs.largest.shrink_to_fit();
    runs.counts.shrink_to_fit();
}

std::size_t Sketch::nbytes() const {
    std::size_t n = waiting_.capacity() * sizeof(double);
    for (const auto& [where, node] : nodes_) n += node.runs.largest.capacity() * 16;
    return n;
}

BinEnds bin_ends(const Runs& runs, std::uint32_t max_bins) {
    if (max_bins == 0) max_bins = Dataset::most_bins;
    if (runs.largest.size() <= max_bins) return {runs.largest, runs.slack == 0};
    const auto total = std::accumulate(runs.counts.begin(), runs.counts.end(), std::uint64_t{0});
    const auto starts = equal_weight_bins<std::uint64_t>(runs.counts, total, max_bins);
    BinEnds out{{}, false};
    for (std::size_t bin = 0; bin < starts.size(); ++bin) {
        const std::size_t end = bin + 1 < starts.size() ? starts[bin + 1] : runs.largest.size();
        out.largest.push_back(runs.largest[end - 1]);
    }
    return out;
}

template <class T, class Code>
void code_numbers(Strided<T> values, std::size_t n, std::span<const double> largest,
                  std::span<double> low, std::span<double> high, Code* codes) {
    const auto missing = static_cast<Code>(largest.size());
    for (std::size_t i = 0; i < n; ++i) {
        const double v = static_cast<double>(values[i]) + 0.0;  // -0 becomes 0
        if (v != v || largest.empty()) {
            codes[i] = missing;
            continue;
        }
        const double* first = largest.data();
        for (std::size_t length = largest.size(); length > 1;) {
            const std::size_t half = length / 2;
            first += first[half - 1] < v ? half : 0;
            length -= half;
        }
        const auto bin = static_cast<std::size_t>(first - largest.data());
        low[bin] = std::min(low[bin], v);
        high[bin] = std::max(high[bin], v);
        codes[i] = static_cast<Code>(bin);
    }
}

#define HEDGEROW_CODE(T, Code)                                                   \
    template void code_numbers(Strided<T>, std::size_t, std::span<const double>, \
                               std::span<double>, std::span<double>, Code*);
HEDGEROW_CODE(float, std::uint8_t)
HEDGEROW_CODE(float, std::uint16_t)
HEDGEROW_CODE(double, std::uint8_t)
HEDGEROW_CODE(double, std::uint16_t)
#undef HEDGEROW_CODE

}  // namespace hedgerow
