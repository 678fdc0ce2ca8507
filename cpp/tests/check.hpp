// A small test runner: TEST registers a function, CHECK reports a failure and goes on.
#pragma once

#include <cstdio>
#include <vector>

namespace hedgerow::testing {

struct Test {
    const char* name;
    void (*run)();
};

inline std::vector<Test>& tests() {
    static std::vector<Test> all;
    return all;
}
inline int n_failures = 0;

struct Register {
    Register(const char* name, void (*run)()) { tests().push_back({name, run}); }
};

inline void check(bool holds, const char* claim, const char* file, int line) {
    if (holds) return;
    ++n_failures;
    std::printf("%s:%d: not true: %s\n", file, line, claim);
}

template <class Error, class Work>
bool throws(Work&& work) {
    try {
        work();
    } catch (const Error&) {
        return true;
    } catch (...) {
    }
    return false;
}

}  // namespace hedgerow::testing

#define TEST(name)                                                          \
    static void name();                                                     \
    static const hedgerow::testing::Register register_##name(#name, &name); \
    static void name()
#define CHECK(...) hedgerow::testing::check(bool(__VA_ARGS__), #__VA_ARGS__, __FILE__, __LINE__)
#define CHECK_THROWS(Error, ...)                                                     \
    hedgerow::testing::check(hedgerow::testing::throws<Error>([&] { __VA_ARGS__; }), \
                             #__VA_ARGS__ " throws " #Error, __FILE__, __LINE__)
