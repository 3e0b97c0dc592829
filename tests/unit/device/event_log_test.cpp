// The log of asynchronous events that a device keeps for its snapshot, and its limits by name.

#include <rocio/device/device.hpp>
#include <rocio/device/event_log.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <thread>

namespace rocio {
namespace {

device_event fatal(std::uint32_t number) {
    return {device_event_kind::queue_pair_fatal, 0, qpn{number}};
}

TEST(event_log, is_empty_at_first) {
    device_snapshot s;
    event_log{}.fill(s);
    EXPECT_TRUE(s.events.empty());
    EXPECT_EQ(s.events_so_far, 0U);
}

TEST(event_log, says_what_happened_to_whom) {
    EXPECT_EQ(describe({device_event_kind::port_active, 1, {}}), "port 1: active");
    EXPECT_EQ(describe({device_event_kind::port_error, 2, {}}), "port 2: down");
    EXPECT_EQ(describe({device_event_kind::gid_change, 1, {}}), "port 1: GID table changed");
    EXPECT_EQ(describe({device_event_kind::queue_pair_access_error, 0, qpn{17}}),
              "queue pair 17: access error");
    EXPECT_EQ(describe(fatal(18)), "queue pair 18: fatal error");
    EXPECT_EQ(describe({device_event_kind::communication_established, 0, qpn{19}}),
              "queue pair 19: communication established");
    EXPECT_EQ(describe({device_event_kind::completion_queue_error, 0, {}}), "completion queue: error");
    EXPECT_EQ(describe({device_event_kind::device_fatal, 0, {}}), "device: fatal error");
}

TEST(event_log, keeps_the_latest_oldest_first_and_counts_all) {
    event_log log;
    const auto began = std::chrono::system_clock::now();
    for (std::uint32_t i = 0; i < event_log::capacity + 10; ++i) log.add(fatal(100 + i));
    device_snapshot s;
    s.events.push_back({{}, "of an earlier look"});
    log.fill(s);
    EXPECT_EQ(s.events_so_far, event_log::capacity + 10);
    ASSERT_EQ(s.events.size(), event_log::capacity);
    EXPECT_EQ(s.events.front().text, "queue pair 110: fatal error");
    EXPECT_EQ(s.events.back().text, "queue pair 173: fatal error");
    EXPECT_GE(s.events.front().time, began);
    EXPECT_LE(s.events.front().time, s.events.back().time);
}

TEST(event_log, may_be_read_while_events_come) {
    event_log log;
    std::atomic<bool> stop{false};
    std::thread writer([&] {
        for (std::uint32_t i = 0; !stop; ++i) log.add(fatal(i & 0xFFFF));
    });
    for (int i = 0; i < 200; ++i) {
        device_snapshot s;
        log.fill(s);
        EXPECT_EQ(s.events.size(), std::min<std::uint64_t>(s.events_so_far, event_log::capacity));
        for (std::size_t n = 1; n < s.events.size(); ++n) EXPECT_NE(s.events[n].text, s.events[n - 1].text);
    }
    stop = true;
    writer.join();
}

TEST(device_limits, have_names_in_the_snapshot) {
    const auto limits = to_snapshot(device_limits{1, 2, 3, 4, 5, std::uint64_t{1} << 40, 2});
    std::string text;
    for (const auto& limit : limits) text += limit.name + "=" + std::to_string(limit.value) + " ";
    EXPECT_EQ(text, "max_queue_pairs=1 max_work_requests=2 max_completions=3 max_inline=4 max_message=5 "
                    "max_region=1099511627776 ports=2 ");
}

} // namespace
} // namespace rocio
