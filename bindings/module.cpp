// The module is a list of its areas.
#include <nanobind/nanobind.h>

#include "gil.hpp"

void bind_data(nanobind::module_& m);
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

NB_MODULE(_engine, m) {
#ifdef __AVX2__
    if (!__builtin_cpu_supports("avx2")) {
        throw nanobind::import_error(
            "this build of hedgerow needs a processor with AVX2; build it on this machine, or with "
            "-Ccmake.define.HEDGEROW_AVX2=OFF");
    }
#endif
    m.doc() = "hedgerow's C++ engine: binned data sets, growing, decision graphs, prediction.";
    hedgerow::guard_gil();
    bind_data(m);
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
