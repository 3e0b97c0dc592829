#include "simulated_pair.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace rocio {
namespace {

using test::holds_message;
using test::simulated_pair;
using test::unreliable;

class SoftUc : public ::testing::Test {
  protected:
    simulated_pair net{std::nullopt, unreliable({.slot_bytes = 20'000})};
};

TEST_F(SoftUc, CarriesEveryOperationItHas) {
    net.b.post_receives(0, 4);
    for (std::uint32_t i = 0; i < 4; ++i) test::fill_message(net.a.slot(128 + i), i);
    auto plain = net.a.make_rdma(opcode::send, 128, 9'000, net.b, 0);
    ASSERT_EQ(net.a.post(plain), errc::success);
    ASSERT_EQ(net.a.post_send(129, 4'096, 0x80000001), errc::success);
    ASSERT_EQ(net.a.post(net.a.make_rdma(opcode::rdma_write, 130, 20'000, net.b, 40)), errc::success);
    ASSERT_EQ(net.a.post(net.a.make_rdma(opcode::rdma_write_with_immediate, 131, 12'289, net.b, 41, 9)),
              errc::success);
    ASSERT_TRUE(net.run_until([&] { return net.b.received().size() == 3; }));
    ASSERT_EQ(net.a.sent().size(), 4U);
    for (const auto& c : net.a.sent()) EXPECT_EQ(c.status, errc::success);
    EXPECT_TRUE(holds_message(net.b.slot(0).first(9'000), 0));
    EXPECT_FALSE(net.b.received()[0].has_immediate);
    EXPECT_TRUE(holds_message(net.b.slot(1).first(4'096), 1));
    EXPECT_EQ(net.b.received()[1].immediate, 0x80000001);
    EXPECT_TRUE(holds_message(net.b.slot(40), 2));
    EXPECT_TRUE(holds_message(net.b.slot(41).first(12'289), 3));
    EXPECT_EQ(net.b.received()[2].op, completion_opcode::receive_rdma_write_with_immediate);
    EXPECT_EQ(net.b.received()[2].byte_len, 12'289U);
    EXPECT_TRUE(net.settle());
    EXPECT_EQ(net.b.counter("packets_out"), 0U) << "UC never answers";
}

TEST_F(SoftUc, HasNoReads) {
    EXPECT_EQ(net.a.post(net.a.make_rdma(opcode::rdma_read, 128, 10, net.b, 0)), errc::not_supported);
}

TEST_F(SoftUc, IsDoneWhenThePacketsHaveLeftWhoeverListens) {
    net.network.attach(test::v4(10, 0, 0, 2)).reset(); // the peer's link is cut off
    ASSERT_EQ(net.a.post_send(128, 64), errc::success);
    net.a.turn(net.now);
    ASSERT_EQ(net.a.sent().size(), 1U);
    EXPECT_EQ(net.a.sent()[0].status, errc::success);
    EXPECT_EQ(net.a.device().next_deadline(), device::time_point::max());
}

TEST_F(SoftUc, UnderBackPressureIsNotDoneAndSendsNothingTwice) {
    net.b.post_receives(0, 20);
    for (std::uint32_t i = 0; i < 20; ++i) ASSERT_EQ(net.a.post_send(128 + i, 100, i), errc::success);
    net.network.limit_sends(3);
    net.a.turn(net.now);
    EXPECT_EQ(net.a.sent().size(), 3U);
    net.network.limit_sends(1'000);
    ASSERT_TRUE(net.run_until([&] { return net.b.received().size() == 20; }));
    for (std::uint32_t i = 0; i < 20; ++i) EXPECT_EQ(net.b.received()[i].immediate, i);
    EXPECT_EQ(net.b.counters().duplicates, 0U);
}

TEST_F(SoftUc, SendsAQuarterOfWhatThePeersSocketHoldsPerTurn) {
    for (std::uint32_t i = 0; i < 60; ++i) ASSERT_EQ(net.a.post_send(128 + i, 4'096), errc::success);
    for (std::uint64_t turns = 1; turns <= 10; ++turns) {
        net.a.turn(net.now);
        EXPECT_EQ(net.a.counter("packets_out"), 6 * turns); // 24 fit
        if (turns == 10) break;
        EXPECT_LE(net.a.device().next_deadline(), net.now) << "there is more to send";
    }
    EXPECT_TRUE(net.settle());
}

TEST_F(SoftUc, DoesNotKeepAReliableNeighbourBack) {
    test::soft_end rc_a(test::soft_end::share(net.a)), rc_b(test::soft_end::share(net.b));
    test::connect_ends(rc_a, rc_b);
    rc_b.post_receives(0, 20);
    for (std::uint32_t i = 0; i < 100; ++i) ASSERT_EQ(net.a.post_send(128 + i % 100, 4'096), errc::success);
    for (std::uint32_t i = 0; i < 20; ++i) ASSERT_EQ(rc_a.post_send(128 + i, 4'096, i), errc::success);
    rc_a.turn(net.now);
    EXPECT_EQ(rc_a.counters().packets_sent, 20U);
    EXPECT_EQ(net.a.counters().packets_sent, 6U);
}

TEST_F(SoftUc, ShowsWhatItLostInTheDevicesSnapshotToo) {
    net.a.add_queue_pair();
    net.b.add_queue_pair();
    auto late = net.a.as_peer();
    late.send_psn = late.send_psn - 5;
    net.a.connect(net.a.towards(net.b.as_peer()));
    net.b.connect(net.b.towards(late));
    for (std::uint32_t i = 0; i < 3; ++i)
        ASSERT_EQ(net.a.post(net.a.make_rdma(opcode::rdma_write_with_immediate, 128, 8, net.b, 2, i)),
                  errc::success);
    auto bad = net.a.make_rdma(opcode::rdma_write, 128, 8, net.b, 2);
    bad.remote_key.value ^= 0x100;
    ASSERT_EQ(net.a.post(bad), errc::success);
    net.a.turn(net.now);
    net.b.turn(net.now);
    const auto c = net.b.counters();
    EXPECT_EQ(c.psn_gaps, 1U);
    EXPECT_EQ(c.psns_missed, 5U);
    EXPECT_EQ(c.dropped_without_receive, 3U);
    EXPECT_EQ(c.dropped_without_access, 1U);
    net.b.destroy_queue_pair();
    EXPECT_EQ(net.b.counter("uc.psn_gaps"), 1U);
    EXPECT_EQ(net.b.counter("uc.psns_missed"), 5U);
    EXPECT_EQ(net.b.counter("uc.dropped_without_receive"), 3U);
    EXPECT_EQ(net.b.counter("uc.dropped_without_access"), 1U);
    EXPECT_EQ(net.b.counter("uc.interrupted_messages"), 0U);
}

TEST_F(SoftUc, GoesOnAfterMessagesWithoutAReceive) {
    for (std::uint32_t i = 0; i < 3; ++i)
        ASSERT_EQ(net.a.post(net.a.make_rdma(opcode::rdma_write_with_immediate, 128, 8, net.b, 2, i)),
                  errc::success);
    net.a.turn(net.now);
    net.b.turn(net.now);
    net.b.post_receives(0, 8);
    ASSERT_EQ(net.a.post(net.a.make_rdma(opcode::rdma_write_with_immediate, 128, 8, net.b, 2, 3)),
              errc::success);
    ASSERT_TRUE(net.run_until([&] { return !net.b.received().empty(); }));
    EXPECT_EQ(net.b.received()[0].immediate, 3U);
    EXPECT_EQ(net.b.counters().psn_gaps, 0U) << "they were seen, and dropped";
    EXPECT_EQ(net.b.counters().dropped_without_receive, 3U);
}

TEST_F(SoftUc, AndRcPacketsAreNotForEachOther) {
    simulated_pair other;
    auto reliable = unreliable();
    reliable.type = queue_pair_type::rc;
    test::soft_end rc(test::soft_end::share(net.b), reliable);
    net.a.add_queue_pair();
    net.a.connect(net.a.towards(rc.as_peer()));
    rc.connect(rc.towards(net.a.as_peer()));
    rc.post_receives(0, 1);
    ASSERT_EQ(net.a.post_send(128, 64), errc::success);
    net.a.turn(net.now);
    rc.turn(net.now);
    EXPECT_EQ(rc.counter("drops.wrong_service"), 1U);
    EXPECT_TRUE(rc.received().empty());
}

class SoftUcFaults : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(SoftUcFaults, CostWholeMessagesAndAreCounted) {
    const fault_plan plan{
        .drop = 0.05, .duplicate = 0.02, .reorder = 0.02, .corrupt = 0.02, .seed = GetParam()};
    simulated_pair net(plan, unreliable({.slot_bytes = 20'000}));
    std::uint32_t checked = 0;
    net.b.post_receives(0, 64);
    for (std::uint32_t i = 0; i < 400; ++i) {
        test::fill_message(net.a.slot(128 + i % 100), i);
        ASSERT_EQ(net.a.post_send(128 + i % 100, 1 + i * 97 % 20'000, i), errc::success);
        for (int turns = 0; turns < 3; ++turns) {
            net.now += std::chrono::microseconds(100);
            net.a.turn(net.now);
            net.b.turn(net.now);
        }
        for (; checked < net.b.received().size(); ++checked) {
            const auto& c = net.b.received()[checked];
            ASSERT_EQ(c.status, errc::success);
            ASSERT_EQ(c.byte_len, 1 + c.immediate * 97 % 20'000);
            ASSERT_TRUE(holds_message(net.b.slot(c.id.slot).first(c.byte_len), c.immediate)) << c.immediate;
            ASSERT_EQ(net.b.post_receive(c.id.slot), errc::success);
        }
    }
    EXPECT_GT(checked, 100U);
    EXPECT_LT(checked, 400U);
    EXPECT_GT(net.b.counters().psn_gaps, 0U);
    EXPECT_GT(net.b.counters().interrupted_messages, 0U);
    EXPECT_EQ(net.b.counter("uc.psns_missed"), net.b.counters().psns_missed);
}

INSTANTIATE_TEST_SUITE_P(Seeds, SoftUcFaults, ::testing::Range<std::uint64_t>(1, 6));

} // namespace
} // namespace rocio
