// The module is a list of its areas.
#include <nanobind/nanobind.h>

#include "gil.hpp"

void bind_data(nanobind::module_& m);
void bind_sketch(nanobind::module_& m);
void bind_graph(nanobind::module_& m);
void bind_packed(nanobind::module_& m);
void bind_forest(nanobind::module_& m);
void bind_explain(nanobind::module_& m);
void bind_grow(nanobind::module_& m);
void bind_margin(nanobind::module_& m);
void bind_tnt(nanobind::module_& m);
void bind_tao(nanobind::module_& m);
void bind_additive(nanobind::module_& m);
void bind_boost(nanobind::module_& m);

// The module of one kind of processor is called after it; to Python, and to pickles, all are the
// same.
#define HEDGEROW_MODULE(name, m) NB_MODULE(name, m)

HEDGEROW_MODULE(HEDGEROW_ENGINE, m) {
    m.attr("__name__") = "hedgerow._engine";
    m.doc() = "hedgerow's C++ engine: binned data sets, growing, decision graphs, prediction.";
    hedgerow::guard_gil();
    bind_data(m);
    bind_sketch(m);
    bind_graph(m);
    bind_grow(m);
    bind_margin(m);
    bind_packed(m);
    bind_forest(m);
    bind_explain(m);
    bind_tnt(m);
    bind_tao(m);
    bind_additive(m);
    bind_boost(m);
}
