#include <algorithm>
#include <cstring>
#include <exception>

#include "check.hpp"

// Runs every test, the one of the given name, or those whose name contains the argument; --list
// names them.
int main(int argc, char** argv) {
    using namespace hedgerow::testing;
    const char* wanted = argc > 1 ? argv[1] : "";
    const bool list = std::strcmp(wanted, "--list") == 0;
    const bool exact = std::ranges::any_of(
        tests(), [&](const Test& test) { return std::strcmp(test.name, wanted) == 0; });
    int n_run = 0;
    for (const Test& test : tests()) {
        if (list) std::puts(test.name);
        if (list || (exact ? std::strcmp(test.name, wanted) != 0 : !std::strstr(test.name, wanted)))
            continue;
        ++n_run;
        const int before = n_failures;
        try {
            test.run();
        } catch (const std::exception& error) {
            fail(__FILE__, __LINE__, words("unexpected exception:", error.what()));
        } catch (...) {
            fail(__FILE__, __LINE__, "unexpected exception that is no std::exception");
        }
        if (n_failures > before) std::printf("FAILED %s\n", test.name);
    }
    if (list) return 0;
    std::printf("%d tests, %d failures\n", n_run, n_failures);
    return n_run == 0 || n_failures > 0;
}
