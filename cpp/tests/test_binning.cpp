#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "check.hpp"
#include "data/binning.hpp"
#include "tables.hpp"

using namespace hedgerow;
using namespace hedgerow::testing;

namespace {

using Codes = std::vector<std::uint32_t>;

template <class T>
Column bin(const std::vector<T>& values, std::uint32_t max_bins = 0) {
    return bin_numbers(values.data(), values.size(), max_bins);
}

// What must hold of any column: order is kept, every value lies in its bin, NaN alone is missing.
template <class T>
bool fits(const Column& column, const std::vector<T>& values) {
    if (column.wide != (column.n_bins > 255)) return false;
    for (std::uint32_t b = 0; b < column.n_bins; ++b) {
        if (!(column.smallest_of(b) <= column.largest_of(b))) return false;
        if (b > 0 && !(column.largest_of(b - 1) < column.smallest_of(b))) return false;
    }
    bool any_missing = false;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const std::uint32_t code = column.code(static_cast<Row>(i));
        if (std::isnan(values[i])) {
            any_missing = true;
            if (code != column.n_bins) return false;
        } else if (code >= column.n_bins || values[i] < column.smallest_of(code) ||
                   values[i] > column.largest_of(code)) {
            return false;
        }
    }
    return any_missing == column.has_missing;
}

// A cut must send exactly the codes up to last_left to the left.
bool cuts(const Column& column, Cut cut, std::uint32_t a, std::uint32_t b) {
    return cut.last_left >= a && cut.last_left < b &&
           column.largest_of(cut.last_left) <= cut.threshold &&
           cut.threshold < column.smallest_of(cut.last_left + 1) &&
           column.bins_up_to(cut.threshold) == cut.last_left + 1;
}

}  // namespace

TEST(few_values_are_exact_in_both_float_types) {
    const Numbers values{2.5, -1, missing, 7, 2.5, -1};
    const std::vector<float> floats(values.begin(), values.end());
    for (const Column& column : {bin(values), bin(floats), bin(values, 3), bin(floats, 255)}) {
        CHECK(fits(column, values));
        CHECK(column.smallest == Numbers{-1, 2.5, 7});
        CHECK(column.largest.empty());
        CHECK(codes_of(column, values.size()) == Codes{1, 0, 3, 2, 1, 0});
    }
}

TEST(integers_and_reals_are_binned_alike) {
    Random random(1);
    for (const std::uint32_t max_bins : {0u, 2u, 7u, 255u, 300u}) {
        Numbers whole, halved;
        for (int i = 0; i < 2000; ++i) {
            whole.push_back(static_cast<double>(random.below(600)) - 300);
            if (i % 11 == 0) whole.back() = missing;
            halved.push_back(whole.back() / 1024);  // no longer whole: sorted, not counted
        }
        const Column a = bin(whole, max_bins), b = bin(halved, max_bins);
        CHECK(fits(a, whole) && fits(b, halved));
        CHECK(codes_of(a, whole.size()) == codes_of(b, whole.size()));
        CHECK(max_bins == 0 || a.n_bins <= max_bins);
    }
}

TEST(quantile_bins_are_nearly_equal_and_heavy_values_stand_alone) {
    Numbers values(10000);
    Random random(2);
    for (double& v : values) v = random.uniform();
    const Column column = bin(values, 50);
    CHECK(fits(column, values));
    CHECK(column.n_bins == 50);
    std::vector<int> counts(column.n_bins);
    for (const auto code : codes_of(column, values.size())) ++counts[code];
    CHECK(*std::min_element(counts.begin(), counts.end()) >= 150);
    CHECK(*std::max_element(counts.begin(), counts.end()) <= 250);

    for (std::size_t i = 0; i < values.size(); i += 2) values[i] = 0.25;  // half of all
    const Column heavy = bin(values, 10);
    CHECK(fits(heavy, values));
    const auto alone = heavy.code(0);
    CHECK(heavy.smallest_of(alone) == 0.25 && heavy.largest_of(alone) == 0.25);
    CHECK(heavy.n_bins >= 8);
}

TEST(negative_zero_is_zero) {
    const Numbers whole{-0.0, 0.0, 1, -0.0}, real{-0.0, 0.0, 0.5, -0.0};
    for (const auto& values : {whole, real}) {
        const Column column = bin(values);
        CHECK(codes_of(column, 4) == Codes{0, 0, 1, 0});
    }
    CHECK(bin(Numbers{-0.0, -0.0}).n_bins == 1);
    CHECK(bin(Numbers{-0.5, -0.0, 0.0, 0.5}).n_bins == 3);
}

TEST(a_column_without_a_number_has_no_bin) {
    const Numbers values{missing, missing, missing};
    for (const std::uint32_t max_bins : {0u, 255u}) {
        const Column column = bin(values, max_bins);
        CHECK(column.n_bins == 0 && column.has_missing);
        CHECK(codes_of(column, 3) == Codes{0, 0, 0});
    }
    CHECK(bin(Numbers{}).n_bins == 0);
    CHECK(!bin(Numbers{}).has_missing);
}

TEST(more_than_255_values_take_wide_codes) {
    for (const std::size_t n : {255, 256, 1000, 65535}) {
        Numbers values(n + 1);
        for (std::size_t i = 0; i < n; ++i) values[i] = 0.1 * static_cast<double>(n - i);
        values[n] = missing;
        const Column column = bin(values);
        CHECK(fits(column, values));
        CHECK(column.n_bins == n && column.wide == (n > 255));
        CHECK(column.code(0) == n - 1 && column.code(static_cast<Row>(n)) == n);
    }
}

TEST(more_than_65535_values_are_binned_even_when_exact_is_wanted) {
    for (const double scale : {1.0, 0.1}) {
        Numbers values(70000);
        for (std::size_t i = 0; i < values.size(); ++i)
            values[i] = scale * double(i * 7919 % 70000);
        const Column column = bin(values);
        CHECK(fits(column, values));
        CHECK(column.n_bins <= 65535 && column.n_bins > 30000);
    }
}

TEST(huge_denormal_and_neighbouring_numbers_stay_apart) {
    const double most = std::numeric_limits<double>::max();
    const double least = std::numeric_limits<double>::denorm_min();
    const double after_one = std::nextafter(1.0, 2.0);
    const Numbers values{
        most, -most,     least, -least,   0,        3 * least, 4 * least, 5e15,
        1,    after_one, -1,    16777216, 16777217, -most / 2, 1e-300,    std::nextafter(most, 0)};
    const Column column = bin(values);
    CHECK(fits(column, values));
    CHECK(column.n_bins == values.size());
    for (std::uint32_t a = 0; a < column.n_bins; ++a) {
        for (std::uint32_t b = a + 1; b < column.n_bins; ++b) {
            const Cut cut = cut_between(column, a, b);
            CHECK(cuts(column, cut, a, b));
            CHECK(std::isfinite(cut.threshold));
        }
    }
}

TEST(cut_is_halfway_between_neighbours) {
    const Column column = bin(Numbers{1, 2, 4, 10});
    CHECK(cut_between(column, 0, 1).threshold == 1.5);
    CHECK(cut_between(column, 1, 2).threshold == 3);
    // Codes 1 and 2 are absent from the node: the middle of 1 and 10.
    const Cut wide = cut_between(column, 0, 3);
    CHECK(wide.threshold == 5.5 && wide.last_left == 2);
    // No number lies between 1 and the next one: the smaller is the threshold.
    const double after = std::nextafter(1.0, 2.0);
    CHECK(cut_between(bin(Numbers{1, after}), 0, 1).threshold == 1);
    CHECK(cut_between(bin(Numbers{-after, -1}), 0, 1).threshold == -after);
}

TEST(cut_never_falls_into_a_bin) {
    Random random(3);
    Numbers values(500);
    for (double& v : values) v = random.uniform() * random.uniform();
    const Column column = bin(values, 12);
    for (std::uint32_t a = 0; a < column.n_bins; ++a) {
        for (std::uint32_t b = a + 1; b < column.n_bins; ++b) {
            CHECK(cuts(column, cut_between(column, a, b), a, b));
            for (const double wanted : {-infinity, infinity, column.smallest_of(a),
                                        column.largest_of(b), random.uniform()}) {
                CHECK(cuts(column, cut_near(column, a, b, wanted), a, b));
            }
        }
    }
}

TEST(categories_keep_their_codes_and_are_checked) {
    const std::vector<std::int32_t> codes{2, -1, 0, 1, -7};
    const Column column = bin_categories(codes.data(), codes.size(), 3);
    CHECK(column.categorical && column.has_missing && !column.wide);
    CHECK(codes_of(column, 5) == Codes{2, 3, 0, 1, 3});
    CHECK(bin_categories(codes.data(), codes.size(), 300).wide);
    CHECK(bin_categories(codes.data(), codes.size(), 65535).code(1) == 65535);
    CHECK_THROWS(std::invalid_argument, bin_categories(codes.data(), codes.size(), 2));
    CHECK_THROWS(std::invalid_argument, bin_categories(codes.data(), codes.size(), 65536));
}

TEST(appended_columns_leave_the_earlier_ones_in_place) {
    Dataset data = table_of({{3, 1, 2}, {0.5, missing, 0.5}});
    const Column* first = &data.column(0);
    const std::uint8_t* first_codes = first->narrow_codes();
    const std::vector<std::int32_t> categories{1, 0, -1};
    const std::vector<float> floats{5, 9, 4, 8, 3, 7};  // two columns, row by row
    Team team(2);
    data.append_categories(categories.data(), 2);
    const std::vector<Strided<float>> strided{{floats.data(), 2}, {floats.data() + 1, 2}};
    data.append_numbers<float>(strided, 255, team);
    const std::vector<Strided<float>> backwards{{floats.data() + 4, -2}};
    data.append_numbers<float>(backwards, 255, team);
    CHECK(data.n_rows() == 3 && data.n_features() == 6);
    CHECK(&data.column(0) == first && first->narrow_codes() == first_codes);
    CHECK(codes_of(data.column(0), 3) == Codes{2, 0, 1});
    CHECK(codes_of(data.column(2), 3) == Codes{1, 0, 2});
    CHECK(codes_of(data.column(3), 3) == Codes{2, 1, 0});
    CHECK(codes_of(data.column(4), 3) == Codes{2, 1, 0});
    CHECK(codes_of(data.column(5), 3) == Codes{0, 1, 2});
    CHECK(data.nbytes() >= 18);
}

TEST(binning_does_not_depend_on_the_number_of_threads) {
    const auto columns = random_columns(3000, 7, 4);
    const Dataset one = table_of(columns, 100, 1), four = table_of(columns, 100, 4);
    for (std::size_t j = 0; j < columns.size(); ++j) {
        CHECK(codes_of(one.column(j), 3000) == codes_of(four.column(j), 3000));
        CHECK(one.column(j).smallest == four.column(j).smallest);
        CHECK(fits(one.column(j), columns[j]));
    }
}
