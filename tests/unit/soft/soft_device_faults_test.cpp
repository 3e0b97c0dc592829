#include "simulated_pair.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace rocio {
namespace {

using test::simulated_pair;

/// Every fault at once in both directions, other seeds in each run: the receiver sees every message once, in
/// order and undamaged, and the whole run repeats itself from its seed.
class BadNetwork : public ::testing::TestWithParam<std::uint64_t> {
  protected:
    struct outcome {
        std::uint64_t packets = 0, retransmits = 0, bad_icrc = 0;
        bool operator==(const outcome&) const = default;
    };

    outcome run() {
        const fault_plan plan{.drop = 0.05,
                              .duplicate = 0.05,
                              .reorder = 0.05,
                              .delay = 0.02,
                              .corrupt = 0.05,
                              .seed = GetParam()};
        simulated_pair net(plan);
        constexpr std::uint32_t messages = 300;
        std::uint32_t posted = 0, checked = 0;
        net.b.post_receives(0, 64);
        const auto size_of = [](std::uint32_t i) { return i * 577 % 4097; };
        const auto step = [&] {
            for (; posted < messages && posted < net.a.sent().size() + 60; ++posted) {
                test::fill_message(net.a.slot(128 + posted % 64), posted);
                EXPECT_EQ(net.a.post_send(128 + posted % 64, size_of(posted), posted), errc::success);
            }
            for (; checked < net.b.received().size(); ++checked) {
                const auto& c = net.b.received()[checked];
                EXPECT_EQ(c.status, errc::success);
                EXPECT_EQ(c.immediate, checked);
                EXPECT_EQ(c.byte_len, size_of(checked));
                EXPECT_TRUE(test::holds_message(net.b.slot(c.id.slot).first(c.byte_len), checked));
                EXPECT_EQ(net.b.post_receive(c.id.slot), errc::success);
            }
            return HasFailure() || (checked == messages && net.a.sent().size() == messages);
        };
        EXPECT_TRUE(net.run_until(step, 2'000'000)) << "after " << checked << " messages";
        return {net.a.counter("packets_out") + net.b.counter("packets_out"), net.a.counters().retransmits,
                net.a.counter("drops.bad_icrc") + net.b.counter("drops.bad_icrc")};
    }
};

TEST_P(BadNetwork, DeliversEveryMessageOnceInOrderAndRepeatsItself) {
    const outcome first = run();
    EXPECT_GT(first.retransmits, 0U);
    EXPECT_GT(first.bad_icrc, 0U);
    if (HasFailure()) return;
    const outcome again = run();
    EXPECT_EQ(again.retransmits, first.retransmits);
    EXPECT_EQ(again.packets, first.packets);
    EXPECT_EQ(again.bad_icrc, first.bad_icrc);
}

INSTANTIATE_TEST_SUITE_P(Seeds, BadNetwork, ::testing::Range<std::uint64_t>(1, 13));

} // namespace
} // namespace rocio
