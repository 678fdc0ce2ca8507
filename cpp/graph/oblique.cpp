#include "graph/oblique.hpp"

#include <algorithm>
#include <stdexcept>

namespace hedgerow {

ObliqueTest::ObliqueTest(std::span<const ObliqueTerm> terms) {
    const auto first_category = std::find_if(terms.begin(), terms.end(),
                                             [](const auto& term) { return term.category >= 0; });
    n_numbers_ = static_cast<std::uint32_t>(first_category - terms.begin());
    if (!terms.empty()) first_ = terms[0].feature;
    consecutive_ = !terms.empty();
    numbers_.reserve(n_numbers_ + terms.size());
    for (std::uint32_t i = 0; i < n_numbers_; ++i) {
        consecutive_ &= terms[i].feature - first_ == static_cast<std::int32_t>(i);
        numbers_.push_back(terms[i].centre);
    }
    for (const ObliqueTerm& term : terms) numbers_.push_back(term.weight);
    if (!consecutive_) {
        for (const auto& term : terms.first(n_numbers_)) features_.push_back(term.feature);
    }
    for (auto i = n_numbers_; i < terms.size(); ++i) {
        const ObliqueTerm& term = terms[i];
        if (term.category < 0) {
            throw std::invalid_argument("an oblique test has a number after a category");
        }
        if (term.centre != 0) {
            throw std::invalid_argument("a category of an oblique test has a centre");
        }
        if (term.category == 0) tables_.push_back({term.feature, i, 0, 0.0});
        Table* table = tables_.empty() ? nullptr : &tables_.back();
        if (table == nullptr || table->feature != term.feature ||
            table->size != static_cast<std::uint32_t>(term.category)) {
            throw std::invalid_argument("an oblique test lacks categories of a feature");
        }
        ++table->size;
        table->missing += term.weight;
    }
    for (Table& table : tables_) table.missing /= table.size;
}

std::vector<ObliqueTerm> ObliqueTest::terms() const {
    std::vector<ObliqueTerm> out;
    for (std::uint32_t i = 0; i < n_numbers_; ++i) {
        out.push_back({feature(i), -1, weight()[i], numbers_[i]});
    }
    for (const Table& table : tables_) {
        for (std::uint32_t k = 0; k < table.size; ++k) {
            out.push_back(
                {table.feature, static_cast<std::int32_t>(k), weight()[table.begin + k], 0});
        }
    }
    return out;
}

std::size_t ObliqueTest::nbytes() const {
    return sizeof *this + features_.size() * sizeof features_[0] +
           numbers_.size() * sizeof numbers_[0] + tables_.size() * sizeof tables_[0];
}

}  // namespace hedgerow
