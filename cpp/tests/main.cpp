#include <cstring>
#include <exception>

#include "check.hpp"

// Runs every test, or those whose name contains the first argument.
int main(int argc, char** argv) {
    using namespace hedgerow::testing;
    int n_run = 0;
    for (const Test& test : tests()) {
        if (argc > 1 && !std::strstr(test.name, argv[1])) continue;
        ++n_run;
        const int before = n_failures;
        try {
            test.run();
        } catch (const std::exception& error) {
            ++n_failures;
            std::printf("unexpected exception: %s\n", error.what());
        }
        if (n_failures > before) std::printf("FAILED %s\n", test.name);
    }
    std::printf("%d tests, %d failures\n", n_run, n_failures);
    return n_run == 0 || n_failures > 0;
}
