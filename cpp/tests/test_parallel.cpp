#include <algorithm>
#include <atomic>
#include <chrono>
#include <numeric>
#include <stdexcept>

#include "base/parallel.hpp"
#include "base/random.hpp"
#include "check.hpp"

using namespace hedgerow;

TEST(for_each_takes_every_index_once_for_any_number_of_threads) {
    for (const int n_threads : {-1, 0, 1, 2, 3, 8}) {
        Team team(n_threads);
        CHECK(team.size() == std::max(1, n_threads));
        for (const std::size_t n : {0, 1, 2, 100}) {
            std::vector<std::atomic<int>> taken(n);
            std::atomic<bool> worker_fits = true;
            team.for_each(n, [&](std::size_t i, int worker) {
                ++taken[i];
                if (worker < 0 || worker >= team.size()) worker_fits = false;
            });
            CHECK(worker_fits);
            for (const auto& times : taken) CHECK(times == 1);
        }
    }
}

TEST(a_failure_in_any_thread_reaches_the_caller_and_the_team_goes_on) {
    for (const int n_threads : {1, 4}) {
        Team team(n_threads);
        const auto fail_at = [&](std::size_t bad) {
            team.for_each(50, [&](std::size_t i, int) {
                if (i == bad) throw std::invalid_argument("bad index");
            });
        };
        for (const std::size_t bad : {0, 7, 49}) CHECK_THROWS(std::invalid_argument, fail_at(bad));
        std::atomic<int> n_done = 0;
        team.for_each(50, [&](std::size_t, int) { ++n_done; });
        CHECK(n_done == 50);
    }
}

TEST(a_poll_that_says_stop_interrupts_long_work) {
    using clock = std::chrono::steady_clock;
    for (const int n_threads : {1, 3}) {
        int n_polls = 0;
        Team team(n_threads, [&] { return ++n_polls < 2; });
        const auto end = clock::now() + std::chrono::seconds(20);
        CHECK_THROWS(Interrupted, team.for_each(4, [&](std::size_t, int worker) {
            while (clock::now() < end) team.checkpoint(worker);
        }));
        CHECK(clock::now() < end);
        CHECK(n_polls == 2);
        CHECK_THROWS(Interrupted, team.checkpoint(0));
    }
}

TEST(the_calling_thread_polls_while_it_waits_for_the_others) {
    using clock = std::chrono::steady_clock;
    const auto end = clock::now() + std::chrono::seconds(20);
    std::atomic<bool> other_is_busy = false;
    Team team(2, [&] { return !other_is_busy; });
    CHECK_THROWS(Interrupted, team.for_each(2, [&](std::size_t, int worker) {
        if (worker == 0) {  // done as soon as the other thread has the other index
            while (!other_is_busy && clock::now() < end) {
            }
            return;
        }
        other_is_busy = true;
        while (clock::now() < end) team.checkpoint(worker);
    }));
    CHECK(clock::now() < end);
}

TEST(a_stop_that_is_heard_while_the_last_index_ends_is_not_lost) {
    std::atomic<bool> other_is_busy = false, stopped = false;
    int n_polls = 0;
    Team team(2, [&] {
        ++n_polls;
        stopped = other_is_busy.load();
        return !stopped;
    });
    CHECK_THROWS(Interrupted, team.for_each(2, [&](std::size_t, int worker) {
        if (worker == 0) {
            while (!other_is_busy) {
            }
            return;
        }
        other_is_busy = true;
        while (!stopped) {  // it ends well, and only after the stop
        }
    }));
    const int asked = n_polls;
    CHECK_THROWS(Interrupted, team.checkpoint(0));
    std::this_thread::sleep_for(std::chrono::milliseconds(60));
    CHECK_THROWS(Interrupted, team.checkpoint(0));
    CHECK(n_polls == asked);
}

TEST(poll_that_never_stops_changes_nothing) {
    Team team(2, [] { return true; });
    std::vector<double> squares(1000);
    team.for_each(squares.size(), [&](std::size_t i, int) { squares[i] = double(i) * double(i); });
    CHECK(std::accumulate(squares.begin(), squares.end(), 0.0) == 332833500.0);
}

TEST(random_numbers_depend_on_their_key_alone_and_fill_their_range) {
    Random a(key_of(1, 2)), b(key_of(1, 2)), c(key_of(2, 1));
    const auto first = a.next();
    CHECK(first == b.next());
    CHECK(first != c.next());
    CHECK(a.next() == b.next());
    std::vector<int> counts(10);
    double sum = 0;
    for (int i = 0; i < 10000; ++i) {
        ++counts[a.below(10)];
        const double u = a.uniform();
        CHECK(u >= 0 && u < 1);
        sum += u;
    }
    for (const int n : counts) CHECK(n > 850 && n < 1150);  // 5 standard deviations
    CHECK(sum > 4850 && sum < 5150);
    CHECK(a.below(1) == 0);
    for (const std::uint64_t n : {std::uint64_t{3}, ~std::uint64_t{0}}) CHECK(a.below(n) < n);
}
