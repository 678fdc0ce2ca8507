#include "base/parallel.hpp"

#include <algorithm>

#if __has_include(<cxxabi.h>)
#include <cxxabi.h>
#endif

namespace hedgerow {

namespace {
constexpr auto poll_interval = std::chrono::milliseconds(50);

// The first throw of a thread takes some bytes for its exceptions, and where there are none left
// glibc ends the process. So they are taken beforehand, and bad_alloc can be thrown and caught.
// Its result is used, or the compiler, which takes it for a constant, leaves the call out. Other
// libraries have a reserve.
void make_room_for_exceptions() {
#ifdef __GLIBCXX__
    [[maybe_unused]] void* volatile room = abi::__cxa_get_globals();
#endif
}
}  // namespace

Team::Team(int n_threads, Poll poll)
    : n_threads_(std::max(1, n_threads)),
      poll_(std::move(poll)),
      next_poll_(std::chrono::steady_clock::now() + poll_interval) {
    make_room_for_exceptions();
    try {
        for (int worker = 1; worker < n_threads_; ++worker) {
            threads_.emplace_back([this, worker] { work(worker); });
        }
    } catch (const std::exception&) {  // no memory or no permission for more: these must do
        n_threads_ = static_cast<int>(threads_.size()) + 1;
    }
}

Team::~Team() {
    {
        std::lock_guard lock(mutex_);
        closing_ = true;
    }
    start_.notify_all();
    for (auto& thread : threads_) thread.join();
}

void Team::poll_if_due() {
    if (!poll_ || stopped_) return;  // once stopped, nobody is asked again
    const auto now = std::chrono::steady_clock::now();
    if (now < next_poll_) return;
    next_poll_ = now + poll_interval;
    if (!poll_()) stopped_ = true;
}

void Team::take_indices(int worker) {
    try {
        for (std::size_t i; (i = next_.fetch_add(1)) < n_;) {
            checkpoint(worker);
            (*body_)(i, worker);
        }
    } catch (...) {
        next_ = n_;  // nobody starts another index
        std::lock_guard lock(mutex_);
        if (!failure_) failure_ = std::current_exception();
    }
}

void Team::work(int worker) {
    make_room_for_exceptions();
    std::size_t seen = 0;
    for (;;) {
        {
            std::unique_lock lock(mutex_);
            start_.wait(lock, [&] { return closing_ || round_ != seen; });
            if (closing_) return;
            seen = round_;
        }
        take_indices(worker);
        std::lock_guard lock(mutex_);
        if (--running_ == 0) done_.notify_one();
    }
}

void Team::for_each(std::size_t n, const std::function<void(std::size_t, int)>& body) {
    if (n_threads_ == 1 || n <= 1) {
        for (std::size_t i = 0; i < n; ++i) {
            checkpoint(0);
            body(i, 0);
        }
        return;
    }
    {
        std::lock_guard lock(mutex_);
        body_ = &body;
        n_ = n;
        next_ = 0;
        failure_ = nullptr;
        running_ = n_threads_ - 1;
        ++round_;
    }
    start_.notify_all();
    take_indices(0);
    std::unique_lock lock(mutex_);
    while (!done_.wait_for(lock, poll_interval, [&] { return running_ == 0; })) {
        lock.unlock();
        poll_if_due();
        lock.lock();
    }
    if (failure_) std::rethrow_exception(failure_);
    if (stopped_) throw Interrupted{};  // while the last indices were finished
}

}  // namespace hedgerow
