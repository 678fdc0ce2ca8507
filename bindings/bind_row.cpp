#include <algorithm>

#include "arrays.hpp"
#include "graph/packed.hpp"
#include "grow/forest.hpp"

using namespace hedgerow;

namespace {

// The fast lane: one row, already numbers, no validation beyond its length.
class RowPredictor {
  public:
    RowPredictor(const PackedGraphs& graphs, nb::object owner, nb::object labels)
        : graphs_(graphs),
          owner_(std::move(owner)),
          labels_(std::move(labels)),
          out_(graphs.n_outputs()) {}

    template <class T>
    nb::object predict(const Vector<T>& row) {
        run(row);
        if (labels_.is_none()) return nb::float_(out_[0]);
        const auto best = std::max_element(out_.begin(), out_.end()) - out_.begin();
        return labels_[static_cast<std::size_t>(best)];
    }
    template <class T>
    nb::object values(const Vector<T>& row) {
        run(row);
        return array_of(std::vector(out_));
    }

  private:
    template <class T>
    void run(const Vector<T>& row) {
        if (row.size() != graphs_.n_features()) {
            throw nb::value_error(("the model has " + std::to_string(graphs_.n_features()) +
                                   " features, the row has " + std::to_string(row.size()))
                                      .c_str());
        }
        graphs_.predict_row(row.data(), out_.data());
    }

    const PackedGraphs& graphs_;
    nb::object owner_;  // keeps the graphs alive
    nb::object labels_;
    std::vector<double> out_;
};

}  // namespace

void bind_row(nb::module_& m) {
    using namespace nb::literals;
    nb::class_<RowPredictor>(m, "RowPredictor", "Predicts one row of numbers, fast.")
        .def(
            "__init__",
            [](RowPredictor* self, const PackedGraphs& graphs, nb::object labels) {
                new (self) RowPredictor(graphs, nb::cast(&graphs), std::move(labels));
            },
            "graphs"_a, "labels"_a.none())
        .def(
            "__init__",
            [](RowPredictor* self, const Forest& forest, nb::object labels) {
                new (self) RowPredictor(forest.graphs, nb::cast(&forest), std::move(labels));
            },
            "forest"_a, "labels"_a.none())
        .def("__call__", &RowPredictor::predict<double>, "row"_a)
        .def("__call__", &RowPredictor::predict<float>, "row"_a)
        .def("values", &RowPredictor::values<double>, "row"_a)
        .def("values", &RowPredictor::values<float>, "row"_a);
}
