// What a soft device tells the status beside its drops: limits, events, repairs.

#include "simulated_pair.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

namespace rocio {
namespace {

using test::simulated_pair;
using ::testing::ElementsAre;

std::vector<std::string> events_of(const soft_device& device) {
    std::vector<std::string> texts;
    for (const auto& event : device.snapshot().events) texts.push_back(event.text);
    return texts;
}

TEST(SoftDeviceSnapshot, HasTheLimitsOfTheDevice) {
    simulated_pair net;
    const auto told = net.a.device().snapshot().limits;
    const auto limits = to_snapshot(net.a.device().limits());
    ASSERT_EQ(told.size(), limits.size());
    EXPECT_EQ(told[0].name, "max_queue_pairs");
    EXPECT_EQ(told[0].value, 65'536U);
    for (std::size_t i = 0; i < told.size(); ++i) EXPECT_EQ(told[i].value, limits[i].value) << told[i].name;
}

TEST(SoftDeviceSnapshot, KeepsItsEventsWhetherAnybodyTakesThemOrNot) {
    simulated_pair net;
    auto& device = net.a.device();
    EXPECT_TRUE(events_of(device).empty());
    device.set_port_up(false);
    device.set_port_up(true);
    EXPECT_THAT(events_of(device), ElementsAre("port 1: down", "port 1: active"));
    device_event event;
    while (device.next_event(event)) {
    }
    const auto number = net.a.qp().number();
    ASSERT_FALSE(device.fail_queue_pair(number));
    EXPECT_THAT(events_of(device),
                ElementsAre("port 1: down", "port 1: active",
                            "queue pair " + std::to_string(number.value()) + ": fatal error"));
    EXPECT_EQ(device.snapshot().events_so_far, 3U);
}

TEST(SoftDeviceSnapshot, CountsHowSendersWereHeldUpForWantOfReceives) {
    simulated_pair net;
    ASSERT_EQ(net.a.post_send(128, 64, 1), errc::success);
    ASSERT_TRUE(net.run_until([&] { return net.b.counters().rnr_naks_sent == 3; }));
    net.b.post_receives(0, 1);
    ASSERT_TRUE(net.run_until([&] { return !net.a.sent().empty(); }));
    EXPECT_EQ(net.b.counter("rnr_naks_sent"), net.b.counters().rnr_naks_sent);
    EXPECT_EQ(net.a.counter("rnr_naks_received"), net.a.counters().rnr_naks_received);
    EXPECT_GE(net.a.counter("rnr_naks_received"), 3U);
    EXPECT_EQ(net.a.counter("timeouts"), 0U);
}

TEST(SoftDeviceSnapshot, CountsWhatWasSentAgainOverAllQueuePairs) {
    fault_plan faults;
    faults.seed = 7;
    faults.drop = 0.1;
    simulated_pair net(faults);
    net.b.post_receives(0, 64);
    for (std::uint32_t i = 0; i < 60; ++i) {
        ASSERT_EQ(net.a.post_send(128 + i % 60, 4'096, i), errc::success);
    }
    ASSERT_TRUE(net.run_until([&] { return net.a.sent().size() == 60; }));
    const auto a = net.a.counters(), b = net.b.counters();
    EXPECT_GT(a.retransmits, 0U);
    EXPECT_EQ(net.a.counter("retransmits"), a.retransmits);
    EXPECT_EQ(net.a.counter("timeouts"), a.timeouts);
    EXPECT_EQ(net.a.counter("sequence_naks_received"), a.sequence_naks_received);
    EXPECT_EQ(net.b.counter("sequence_naks_sent"), b.sequence_naks_sent);
    EXPECT_EQ(net.b.counter("out_of_sequence"), b.out_of_sequence);
    EXPECT_EQ(net.b.counter("duplicates"), b.duplicates);
}

} // namespace
} // namespace rocio
