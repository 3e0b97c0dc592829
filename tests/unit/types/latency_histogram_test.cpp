#include <rocio/types/latency_histogram.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <random>
#include <thread>
#include <vector>

namespace rocio {
namespace {

using std::chrono::nanoseconds;
using namespace std::chrono_literals;

constexpr std::uint64_t last_counted = (std::uint64_t{1} << 40) - 1;

TEST(latency_histogram_test, is_all_zero_at_first) {
    const latency_histogram h;
    const auto s = h.summary();
    EXPECT_EQ(s.count, 0U);
    EXPECT_EQ(s.p50, 0ns);
    EXPECT_EQ(s.p999, 0ns);
    EXPECT_EQ(s.max, 0ns);
}

TEST(latency_histogram_test, puts_every_duration_into_a_bucket_that_holds_it) {
    for (std::uint64_t ns = 0; ns < 5000; ++ns) {
        const auto bucket = latency_histogram::bucket_of(ns);
        EXPECT_GE(latency_histogram::bucket_end(bucket), ns) << ns;
        if (bucket > 0) {
            EXPECT_LT(latency_histogram::bucket_end(bucket - 1), ns) << ns;
        }
    }
}

TEST(latency_histogram_test, has_buckets_without_gaps_up_to_its_last) {
    for (std::size_t b = 0; b + 1 < latency_histogram::buckets; ++b) {
        EXPECT_EQ(latency_histogram::bucket_of(latency_histogram::bucket_end(b)), b);
        EXPECT_EQ(latency_histogram::bucket_of(latency_histogram::bucket_end(b) + 1), b + 1);
    }
    EXPECT_EQ(latency_histogram::bucket_end(latency_histogram::buckets - 1), last_counted);
}

TEST(latency_histogram_test, is_within_a_thirty_second_of_every_duration) {
    for (std::size_t b = 1; b < latency_histogram::buckets; ++b) {
        const auto first = latency_histogram::bucket_end(b - 1) + 1;
        const auto width = latency_histogram::bucket_end(b) - first;
        EXPECT_LE(width * 32, first) << b;
    }
}

TEST(latency_histogram_test, counts_what_is_too_long_in_its_last_bucket_and_keeps_the_exact_maximum) {
    latency_histogram h;
    h.record(std::chrono::hours(24));
    h.record(nanoseconds::max());
    EXPECT_EQ(h.count(), 2U);
    EXPECT_EQ(h.max(), nanoseconds::max());
    EXPECT_EQ(h.quantile(1.0), nanoseconds::max());
    EXPECT_EQ(latency_histogram::bucket_of(~0ULL), latency_histogram::buckets - 1);
}

TEST(latency_histogram_test, takes_a_clock_that_stepped_back_for_nothing) {
    latency_histogram h;
    h.record(-5ns);
    EXPECT_EQ(h.count(), 1U);
    EXPECT_EQ(h.max(), 0ns);
    EXPECT_EQ(h.quantile(0.5), 0ns);
}

TEST(latency_histogram_test, is_exact_below_32_ns) {
    latency_histogram h;
    for (int i = 0; i < 32; ++i) h.record(nanoseconds(i));
    EXPECT_EQ(h.quantile(0.5), 15ns);
    EXPECT_EQ(h.quantile(0.0), 0ns);
    EXPECT_EQ(h.quantile(1.0), 31ns);
}

TEST(latency_histogram_test, never_gives_a_quantile_above_the_maximum) {
    latency_histogram h;
    h.record(1'000'001ns);
    const auto s = h.summary();
    EXPECT_EQ(s.p50, 1'000'001ns);
    EXPECT_EQ(s.p999, 1'000'001ns);
    EXPECT_EQ(s.max, 1'000'001ns);
}

TEST(latency_histogram_test, finds_the_tail) {
    latency_histogram h;
    for (int i = 0; i < 9980; ++i) h.record(10us);
    for (int i = 0; i < 15; ++i) h.record(100us);
    for (int i = 0; i < 5; ++i) h.record(1ms);
    const auto s = h.summary();
    EXPECT_EQ(s.count, 10'000U);
    EXPECT_NEAR(static_cast<double>(s.p50.count()), 10e3, 10e3 / 32);
    EXPECT_NEAR(static_cast<double>(s.p99.count()), 10e3, 10e3 / 32);
    EXPECT_NEAR(static_cast<double>(s.p999.count()), 100e3, 100e3 / 32);
    EXPECT_EQ(s.max, 1ms);
}

TEST(latency_histogram_test, agrees_with_a_sorted_list) {
    std::mt19937_64 random(20);
    std::lognormal_distribution<double> latencies(8.0, 2.0);
    latency_histogram h;
    std::vector<std::int64_t> all;
    for (int i = 0; i < 20'000; ++i) {
        all.push_back(static_cast<std::int64_t>(latencies(random)));
        h.record(nanoseconds(all.back()));
    }
    std::ranges::sort(all);
    for (const double part : {0.001, 0.1, 0.5, 0.9, 0.99, 0.999, 1.0}) {
        const auto rank = static_cast<std::size_t>(std::ceil(part * static_cast<double>(all.size())));
        const auto exact = all[rank - 1];
        const auto found = h.quantile(part).count();
        EXPECT_GE(found, exact) << part;
        EXPECT_LE(found, exact + exact / 32 + 1) << part;
    }
}

TEST(latency_histogram_test, takes_parts_outside_0_and_1_for_its_ends) {
    latency_histogram h;
    h.record(3ns);
    h.record(9ns);
    EXPECT_EQ(h.quantile(-1.0), 3ns);
    EXPECT_EQ(h.quantile(2.0), 9ns);
}

TEST(latency_histogram_test, is_read_while_it_counts) {
    latency_histogram h;
    std::atomic<bool> done{false};
    std::thread reader([&] {
        std::uint64_t before = 0;
        while (!done) {
            const auto s = h.summary();
            EXPECT_GE(s.count, before);
            EXPECT_LE(s.p50, 2000ns);
            before = s.count;
        }
    });
    for (int i = 0; i < 50'000; ++i) h.record(nanoseconds(i % 2000));
    done = true;
    reader.join();
    EXPECT_EQ(h.count(), 50'000U);
}

} // namespace
} // namespace rocio
