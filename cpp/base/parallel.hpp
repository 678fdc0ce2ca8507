// A team of threads for one fit or predict call.
//
// Team      n threads, the caller among them, or as many as can be started; they start with the
//           call and end with it, so nothing is shared between calls and nothing survives a fork.
// for_each  hands the indices 0..n-1 out one by one; the body gets (index, worker).
// Poll      asked now and then, in the calling thread only; false means "stop" and ends the work
//           with Interrupted in every thread. It is not asked again after that.
//
// Results must not depend on which worker takes which index: bodies write to places of their own.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace hedgerow {

struct Interrupted : std::exception {
    const char* what() const noexcept override { return "interrupted"; }
};

using Poll = std::function<bool()>;

class Team {
  public:
    explicit Team(int n_threads = 1, Poll poll = {});
    ~Team();
    Team(const Team&) = delete;
    Team& operator=(const Team&) = delete;

    int size() const { return n_threads_; }

    void for_each(std::size_t n, const std::function<void(std::size_t, int)>& body);

    // What a body gives to work that wants a team of its own: one thread, stopped with this team.
    Poll poll_for(int worker) {
        return [this, worker] {
            if (worker == 0) poll_if_due();
            return !stopped_.load(std::memory_order_relaxed);
        };
    }

    // Throws Interrupted when the caller asked to stop. Cheap enough for once per node.
    void checkpoint(int worker) {
        if (worker == 0) poll_if_due();
        if (stopped_.load(std::memory_order_relaxed)) throw Interrupted{};
    }

  private:
    void poll_if_due();
    void work(int worker);
    void take_indices(int worker);

    int n_threads_;
    Poll poll_;
    std::chrono::steady_clock::time_point next_poll_;
    std::atomic<bool> stopped_{false};

    std::mutex mutex_;
    std::condition_variable start_, done_;
    const std::function<void(std::size_t, int)>* body_ = nullptr;
    std::size_t n_ = 0;
    std::atomic<std::size_t> next_{0};
    std::size_t round_ = 0;
    int running_ = 0;
    bool closing_ = false;
    std::exception_ptr failure_;
    std::vector<std::thread> threads_;
};

}  // namespace hedgerow
