#include "gil.hpp"

#include <atomic>
#include <chrono>
#include <thread>

namespace hedgerow {

namespace {

std::atomic<int> n_asking{0};
std::atomic<bool> is_closed{false};
std::atomic<std::thread::id> closer;  // the thread that closes goes on

// From here on no other thread asks for the GIL, and those that had asked before have got it.
void close_gil() {
    using namespace std::chrono_literals;
    closer = std::this_thread::get_id();
    is_closed = true;
    PyThreadState* state = PyEval_SaveThread();
    // Not for ever: a forked child has the count, but not the threads.
    for (int turn = 0; n_asking > 0 && turn < 1000; ++turn) std::this_thread::sleep_for(1ms);
    PyEval_RestoreThread(state);
}

}  // namespace

void begin_asking_for_gil() {
    ++n_asking;
    if (!is_closed || closer.load() == std::this_thread::get_id()) return;
    --n_asking;
    for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
}

void end_asking_for_gil() { --n_asking; }

void guard_gil() {
    nanobind::module_::import_("atexit").attr("register")(nanobind::cpp_function(&close_gil));
}

}  // namespace hedgerow
