#include "simulated_pair.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace rocio {
namespace {

using namespace std::chrono_literals;
using test::soft_end;
using test::v4;

/// Three queue pairs of one device send through a link that takes `limit` datagrams at a time.
class Backpressure : public ::testing::TestWithParam<std::size_t> {
  protected:
    static constexpr std::uint32_t pairs = 3;
    static constexpr std::uint32_t messages = 6;

    Backpressure() {
        const auto left = soft_device::over(network.attach(v4(10, 0, 0, 1)));
        const auto right = soft_device::over(network.attach(v4(10, 0, 0, 2)));
        for (std::uint32_t i = 0; i < pairs; ++i) {
            // A slow link is no reason for a timeout.
            a.push_back(std::make_unique<soft_end>(left, test::soft_end_options{.timeout = ack_timeout{20}}));
            b.push_back(
                std::make_unique<soft_end>(right, test::soft_end_options{.timeout = ack_timeout{20}}));
            test::connect_ends(*a[i], *b[i]);
            b[i]->post_receives(0, messages);
            a[i]->post_receives(0, messages);
        }
    }
    void post(std::vector<std::unique_ptr<soft_end>>& ends) {
        for (auto& e : ends)
            for (std::uint32_t m = 0; m < messages; ++m)
                ASSERT_EQ(e->post_send(128 + m, 1'000, m), errc::success);
    }
    bool all_done(std::vector<std::unique_ptr<soft_end>>& from, std::vector<std::unique_ptr<soft_end>>& to) {
        for (std::uint32_t i = 0; i < pairs; ++i)
            if (from[i]->sent().size() != messages || to[i]->received().size() != messages) return false;
        return true;
    }
    /// Each round lets GetParam() datagrams through and moves the clock past the retry of a blocked link.
    bool run(const std::function<bool()>& done) {
        for (int round = 0; round < 500; ++round) {
            network.limit_sends(GetParam());
            for (auto& e : a) e->turn(now);
            for (auto& e : b) e->turn(now);
            if (done()) return true;
            now += 51us;
        }
        return false;
    }
    void expect_in_order(std::vector<std::unique_ptr<soft_end>>& to) {
        for (auto& e : to)
            for (std::uint32_t m = 0; m < messages; ++m) ASSERT_EQ(e->received()[m].immediate, m);
    }

    soft::simulated_network network;
    device::time_point now = device::time_point{} + 1h;
    std::vector<std::unique_ptr<soft_end>> a, b;
};

TEST_P(Backpressure, OneWayEveryPacketLeavesOnce) {
    post(a);
    ASSERT_TRUE(run([&] { return all_done(a, b); }));
    expect_in_order(b);
    for (std::uint32_t i = 0; i < pairs; ++i) {
        EXPECT_EQ(a[i]->counters().retransmits, 0U);
        EXPECT_EQ(b[i]->counters().duplicates, 0U);
        EXPECT_EQ(a[i]->counters().packets_sent, messages);
    }
}

TEST_P(Backpressure, BothWaysNothingIsLostForGood) {
    post(a);
    post(b);
    ASSERT_TRUE(run([&] { return all_done(a, b) && all_done(b, a); }));
    expect_in_order(a);
    expect_in_order(b);
    for (std::uint32_t i = 0; i < pairs; ++i)
        EXPECT_EQ(a[i]->counters().timeouts + b[i]->counters().timeouts, 0U);
}

INSTANTIATE_TEST_SUITE_P(Limits, Backpressure, ::testing::Values(1, 2, 3, 4, 5, 7, 11, 16, 31, 32, 33, 64));

} // namespace
} // namespace rocio
