#include "crafted_packet.hpp"
#include "simulated_pair.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <vector>

namespace rocio {
namespace {

using test::simulated_pair;
using test::v4;

/// How end `b` takes one packet that its peer may have sent: does it become a message?
class Damage : public ::testing::TestWithParam<bool> {
  protected:
    void SetUp() override {
        net.b.add_queue_pair();
        auto peer = net.a.as_peer();
        if (!GetParam()) peer.capabilities = {}; // any IP id
        net.b.connect(net.b.towards(peer));
        net.b.post_receives(0, 1);

        wire::bth h;
        h.op = wire::rc::send_only;
        h.destination = net.b.qp().number();
        h.sequence = psn{0xFFFFF0};
        h.ack_request = true;
        whole = test::craft_packet(flow, h, test::message_bytes(1, 0, 80));
    }

    bool accepts(std::vector<std::byte> bytes) {
        net.network.inject({flow.source, 4791, false, std::move(bytes)}, flow.destination);
        net.b.device().progress(net.now);
        work_completion c;
        errc error = errc::success;
        return net.b.cq().poll({&c, 1}, error) == 1;
    }

    simulated_pair net;
    wire::icrc_flow flow{v4(10, 0, 0, 1), v4(10, 0, 0, 2), 4791, 4791};
    std::vector<std::byte> whole;
};

TEST_P(Damage, NoSingleFlippedBitBecomesAMessageButTheMaskedOnes) {
    constexpr std::size_t masked_byte = 4; // FECN, BECN and reserved bits: routers may change them
    for (std::size_t bit = 0; bit < whole.size() * 8; ++bit) {
        if (bit / 8 == masked_byte) continue;
        auto damaged = whole;
        damaged[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
        ASSERT_FALSE(accepts(damaged)) << "byte " << bit / 8 << " bit " << bit % 8;
    }
    auto marked = whole;
    marked[masked_byte] ^= std::byte{0xFF};
    EXPECT_TRUE(accepts(marked));
    EXPECT_TRUE(test::holds_message(net.b.slot(0).first(80), 1));
}

TEST_P(Damage, NoBeginningOrEndOfAPacketBecomesAMessage) {
    for (std::size_t n = 0; n < whole.size(); ++n) {
        ASSERT_FALSE(accepts({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(n)})) << n;
        ASSERT_FALSE(accepts({whole.end() - static_cast<std::ptrdiff_t>(n), whole.end()})) << n;
    }
    for (std::size_t extra = 1; extra <= 64; ++extra) {
        auto longer = whole;
        longer.resize(whole.size() + extra);
        ASSERT_FALSE(accepts(longer)) << extra;
    }
    EXPECT_TRUE(accepts(whole));
}

TEST_P(Damage, NothingOfADamagedPacketReachesThePostedBuffer) {
    std::fill(net.b.slot(0).begin(), net.b.slot(0).end(), std::byte{0xC5});
    for (std::size_t at = 12; at < 92; ++at) {
        auto damaged = whole;
        damaged[at] ^= std::byte{0x40};
        ASSERT_FALSE(accepts(damaged));
    }
    EXPECT_TRUE(std::all_of(net.b.slot(0).begin(), net.b.slot(0).end(),
                            [](std::byte b) { return b == std::byte{0xC5}; }));
}

TEST_P(Damage, TwoSwappedWordsOfThePayloadAreNoticed) {
    for (std::size_t at = 12; at + 8 <= 92; at += 4) {
        auto damaged = whole;
        std::swap_ranges(damaged.begin() + static_cast<std::ptrdiff_t>(at),
                         damaged.begin() + static_cast<std::ptrdiff_t>(at) + 4,
                         damaged.begin() + static_cast<std::ptrdiff_t>(at) + 4);
        ASSERT_FALSE(accepts(damaged)) << at;
    }
}

TEST_P(Damage, AStaleQueuePairsPacketsAreNotForItsSuccessor) {
    const auto stale = whole;
    net.b.add_queue_pair();
    net.b.connect(net.b.towards(net.a.as_peer()));
    net.b.post_receives(0, 1);
    EXPECT_FALSE(accepts(stale));
    EXPECT_EQ(net.b.counter("drops.unknown_queue_pair"), 1U);
}

INSTANTIATE_TEST_SUITE_P(ExactIdOrAny, Damage, ::testing::Bool(),
                         [](const auto& c) { return c.param ? "exact" : "any_id"; });

} // namespace
} // namespace rocio
