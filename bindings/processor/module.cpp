// Which builds of the engine the processor at hand runs. The module itself runs on every one.
#include <nanobind/nanobind.h>

#if defined(_MSC_VER) && defined(_M_X64)
#include <immintrin.h>
#include <intrin.h>
#endif

namespace {

bool has_avx2() {
#if defined(__GNUC__) && defined(__x86_64__)
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") &&
           __builtin_cpu_supports("fma");
#elif defined(_MSC_VER) && defined(_M_X64)
    int id[4];
    __cpuidex(id, 1, 0);
    const bool saves_vectors = (id[2] >> 27 & 1) && (id[2] >> 28 & 1) && (_xgetbv(0) & 6) == 6;
    const bool fuses = id[2] >> 12 & 1;
    __cpuidex(id, 7, 0);
    return saves_vectors && fuses && (id[1] >> 5 & 1) && (id[1] >> 8 & 1);
#else
    return false;
#endif
}

}  // namespace

NB_MODULE(_processor, m) { m.attr("kinds") = has_avx2() ? "avx2 baseline" : "baseline"; }
