// The portable exponential against the library's in extended precision.
#include <cmath>
#include <limits>

#include "base/exponential.hpp"
#include "base/random.hpp"
#include "check.hpp"

using namespace hedgerow;

TEST(the_exponential_is_within_one_unit_in_the_last_place) {
    Random random(1);
    double worst = 0;
    for (int i = 0; i < 2'000'000; ++i) {
        const double scale = i % 2 ? 700 : 1;
        const double x = scale * (2 * random.uniform() - 1);
        const long double truth = std::exp(static_cast<long double>(x));
        const double rounded = static_cast<double>(truth);
        const double unit = std::nextafter(rounded, INFINITY) - rounded;
        const auto error = std::abs(static_cast<long double>(exponential(x)) - truth) / unit;
        worst = std::max(worst, static_cast<double>(error));
    }
    NOTE("worst error in units in the last place", worst, 0);
    CHECK(worst < 1);
}

TEST(the_exponential_is_exact_at_its_ends) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    CHECK(exponential(0.0) == 1 && exponential(-0.0) == 1);
    CHECK(exponential(infinity) == infinity && exponential(1000) == infinity);
    CHECK(exponential(-infinity) == 0 && exponential(-1000) == 0);
    CHECK(std::isnan(exponential(std::nan(""))));
    CHECK(exponential(709.78) < infinity && exponential(709.79) == infinity);
    CHECK(exponential(-745.1) > 0 && exponential(-745.2) == 0);
    for (const double x : {-708.5, -720.3, -740.1}) {  // among the subnormal numbers
        CHECK(std::abs(exponential(x) - std::exp(x)) <= std::numeric_limits<double>::denorm_min());
    }
}
