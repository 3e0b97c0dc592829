#include "full_status.hpp"
#include "status/rate_meter.hpp"

#include <gtest/gtest.h>

namespace {

using namespace rocio;
using namespace std::chrono_literals;

const auto begin = std::chrono::steady_clock::time_point(1000s);

struct metered {
    detail::rate_meter meter{};

    traffic_rates after(std::chrono::steady_clock::duration time, std::uint64_t frames) {
        status_snapshot s;
        s.streams.push_back(test::some_stream());
        s.streams.front().rx_frame_count = frames;
        s.streams.front().rx_byte_count = frames * 100;
        meter.fill(s, begin + time);
        return s.streams.front().rates;
    }
};

TEST(rate_meter, knows_no_rate_at_first) {
    metered m;
    EXPECT_FALSE(m.after(0s, 5).messages_1s);
    EXPECT_FALSE(m.after(900ms, 5).messages_1s);
}

TEST(rate_meter, tells_the_last_second_and_the_last_ten) {
    metered m;
    traffic_rates r;
    for (int tick = 0; tick <= 20; ++tick) { // 100 a second for 9 s, then 500
        const auto frames = tick <= 18 ? tick * 50 : 900 + (tick - 18) * 250;
        r = m.after(tick * 500ms, static_cast<std::uint64_t>(frames));
    }
    EXPECT_DOUBLE_EQ(r.messages_1s.value(), 500);
    EXPECT_DOUBLE_EQ(r.messages_10s.value(), 140);
    EXPECT_DOUBLE_EQ(r.bytes_1s.value(), 50000);
}

TEST(rate_meter, is_zero_where_nothing_comes) {
    metered m;
    m.after(0s, 7);
    EXPECT_EQ(m.after(1s, 7).messages_1s, 0.0);
}

TEST(rate_meter, does_not_spread_a_rate_over_a_time_nobody_looked) {
    metered m;
    m.after(0s, 0);
    const auto r = m.after(5s, 1000);
    EXPECT_FALSE(r.messages_1s);
    EXPECT_FALSE(r.messages_10s);
}

TEST(rate_meter, has_no_rate_for_a_counter_that_went_back) {
    metered m;
    m.after(0s, 100);
    EXPECT_FALSE(m.after(1s, 3).messages_1s);
}

TEST(rate_meter, keeps_ten_seconds_when_it_is_asked_two_hundred_times_a_second) {
    metered m;
    traffic_rates r;
    for (int n = 0; n <= 2200; ++n) r = m.after(n * 5ms, static_cast<std::uint64_t>(n));
    EXPECT_NEAR(r.messages_1s.value(), 200, 1e-6);
    EXPECT_NEAR(r.messages_10s.value(), 200, 1e-6);
}

TEST(rate_meter, tells_streams_of_one_name_apart) {
    detail::rate_meter meter;
    const auto look = [&](std::uint64_t left, std::uint64_t right, std::chrono::seconds time) {
        status_snapshot s;
        s.streams = {test::some_stream(), test::some_stream()};
        s.streams[0].rx_frame_count = left;
        s.streams[1].rx_frame_count = right;
        meter.fill(s, begin + time);
        return s;
    };
    look(0, 1000, 0s);
    const auto s = look(10, 1020, 1s);
    EXPECT_EQ(s.streams[0].rates.messages_1s, 10.0);
    EXPECT_EQ(s.streams[1].rates.messages_1s, 20.0);
}

TEST(rate_meter, knows_the_cpu_share_of_an_engine_and_the_rates_of_channels_rings_and_sensors) {
    detail::rate_meter meter;
    auto before = test::full_status();
    meter.fill(before, begin);
    auto now = test::full_status();
    now.engines[0].cpu_time += 500ms;
    now.streams[0].channels[1].frames += 3;
    now.rings[0].received += 4;
    now.rings[0].sent += 5;
    now.sensors[0].frames += 6;
    meter.fill(now, begin + 1s);
    EXPECT_NEAR(now.engines[0].cpu_share_1s.value(), 0.5, 1e-9);
    EXPECT_EQ(now.streams[0].channels[1].rates.messages_1s, 3.0);
    EXPECT_EQ(now.rings[0].receive_rates.messages_1s, 4.0);
    EXPECT_EQ(now.rings[0].send_rates.messages_1s, 5.0);
    EXPECT_EQ(now.sensors[0].rates.messages_1s, 6.0);
    EXPECT_FALSE(now.rings[0].receive_rates.messages_10s);
}

} // namespace
