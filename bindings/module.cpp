// The module is a list of its areas.
#include <nanobind/nanobind.h>

void bind_data(nanobind::module_& m);
void bind_graph(nanobind::module_& m);
void bind_forest(nanobind::module_& m);
void bind_grow(nanobind::module_& m);
void bind_margin(nanobind::module_& m);
void bind_row(nanobind::module_& m);

NB_MODULE(_engine, m) {
    m.doc() = "hedgerow's C++ engine: binned data sets, growing, decision graphs, prediction.";
    bind_data(m);
    bind_graph(m);
    bind_grow(m);
    bind_margin(m);
    bind_forest(m);
    bind_row(m);
}
