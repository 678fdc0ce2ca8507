// A small test runner: TEST registers a function; CHECK and CHECK_EQ report a failure and go on;
// NOTE says which round of a loop a failure belongs to, until its scope ends.
#pragma once

#include <cstdio>
#include <ranges>
#include <sstream>
#include <string>
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

// What a value looks like in a message.
template <class T>
void show(std::ostream& out, const T& value) {
    if constexpr (requires { out << value; }) {
        out << +value;
    } else if constexpr (std::ranges::range<T>) {
        out << '{';
        std::size_t n = 0;
        for (const auto& v : value) {
            if (n == 20) out << ", ...";
            if (n++ >= 20) break;
            if (n > 1) out << ", ";
            show(out, v);
        }
        out << '}';
    } else {
        out << '?';
    }
}
inline void show(std::ostream& out, const std::string& value) { out << '"' << value << '"'; }

template <class... T>
std::string words(const T&... values) {
    std::ostringstream out;
    out.precision(17);
    const auto add = [&](const auto& value) {
        if constexpr (std::is_convertible_v<decltype(value), const char*>) {
            out << static_cast<const char*>(value);
        } else {
            show(out, value);
        }
        out << ' ';
    };
    (add(values), ...);
    return out.str();
}

inline std::vector<std::string>& notes() {
    static std::vector<std::string> all;
    return all;
}
struct Note {
    explicit Note(std::string text) { notes().push_back(std::move(text)); }
    ~Note() { notes().pop_back(); }
};

inline void fail(const char* file, int line, const std::string& message) {
    ++n_failures;
    std::printf("%s:%d: %s\n", file, line, message.c_str());
    for (const auto& note : notes()) std::printf("    in %s\n", note.c_str());
}

inline void check(bool holds, const char* claim, const char* file, int line) {
    if (!holds) fail(file, line, words("not true:", claim));
}

template <class A, class B>
void check_equal(const A& a, const B& b, const char* claim, const char* file, int line) {
    if (!(a == b)) fail(file, line, words("not equal:", claim, "--", a, "and", b));
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
#define CHECK_EQ(a, ...) \
    hedgerow::testing::check_equal((a), (__VA_ARGS__), #a " and " #__VA_ARGS__, __FILE__, __LINE__)
#define CHECK_THROWS(Error, ...)                                                     \
    hedgerow::testing::check(hedgerow::testing::throws<Error>([&] { __VA_ARGS__; }), \
                             #__VA_ARGS__ " throws " #Error, __FILE__, __LINE__)
#define HEDGEROW_NOTE_NAME(line) note_##line
#define HEDGEROW_NOTE(line, ...) \
    const hedgerow::testing::Note HEDGEROW_NOTE_NAME(line)(hedgerow::testing::words(__VA_ARGS__))
#define NOTE(...) HEDGEROW_NOTE(__LINE__, __VA_ARGS__)
