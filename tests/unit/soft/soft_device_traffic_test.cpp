#include "simulated_pair.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace rocio {
namespace {

using namespace std::chrono_literals;
using test::simulated_pair;
using test::v4;
using ::testing::ElementsAre;

/// Notes who sent which opcode.
struct wire_log {
    explicit wire_log(soft::simulated_network& network) {
        network.observe([this](const gid& from, const soft::destination&, std::span<const std::byte> bytes) {
            entries.emplace_back(from == v4(10, 0, 0, 1) ? 'a' : 'b', std::to_integer<int>(bytes[0]));
        });
    }
    std::vector<std::pair<char, int>> entries;
};

constexpr int send_only_immediate = 0x05;
constexpr int acknowledge = 0x11;

TEST(SoftTraffic, CarriesMessagesOfEverySizeInOrder) {
    simulated_pair net(std::nullopt, {.slots = 256, .slot_bytes = 16'384});
    const std::vector<std::uint32_t> sizes{0,   1,    2,    3,    4,    5,    63,     64,
                                           255, 4095, 4096, 4097, 8191, 8192, 10'000, 16'384};
    const auto count = static_cast<std::uint32_t>(sizes.size());
    net.b.post_receives(0, count);
    for (std::uint32_t i = 0; i < count; ++i) {
        test::fill_message(net.a.slot(128 + i), i);
        ASSERT_EQ(net.a.post_send(128 + i, sizes[i], i), errc::success);
    }
    ASSERT_TRUE(
        net.run_until([&] { return net.b.received().size() == count && net.a.sent().size() == count; }));
    for (std::uint32_t i = 0; i < count; ++i) {
        const work_completion& c = net.b.received()[i];
        ASSERT_EQ(c.status, errc::success);
        EXPECT_EQ(c.byte_len, sizes[i]);
        EXPECT_EQ(c.immediate, i);
        EXPECT_EQ(c.queue_pair, net.b.qp().number());
        EXPECT_TRUE(test::holds_message(net.b.slot(c.id.slot).first(sizes[i]), i));
    }
    EXPECT_TRUE(net.settle());
    EXPECT_EQ(net.a.counters().messages_sent, count);
    EXPECT_EQ(net.b.counters().messages_received, count);
    EXPECT_EQ(net.a.counter("packets_out"), net.b.counter("packets_in"));
    EXPECT_EQ(net.a.counter("bytes_out"), net.b.counter("bytes_in"));
}

TEST(SoftTraffic, SendsInlinedBytesThatTheCallerHasForgotten) {
    simulated_pair net;
    net.b.post_receives(0, 1);
    {
        auto bytes = test::message_bytes(3, 0, 60);
        send_request s;
        s.inlined = true;
        s.inline_data = bytes;
        ASSERT_EQ(net.a.qp().post_send({&s, 1}).accepted, 1U);
        std::fill(bytes.begin(), bytes.end(), std::byte{0xEE});
    }
    ASSERT_TRUE(net.run_until([&] { return !net.b.received().empty(); }));
    EXPECT_TRUE(test::holds_message(net.b.slot(0).first(60), 3));
}

TEST(SoftTraffic, AnAnswerPostedBetweenTwoTurnsLeavesBeforeTheAcknowledgement) {
    simulated_pair net;
    wire_log log(net.network);
    net.a.post_receives(0, 1);
    net.b.post_receives(0, 1);
    ASSERT_EQ(net.a.post_send(128, 64), errc::success);
    net.a.turn(net.now);
    net.b.turn(net.now);
    ASSERT_EQ(net.b.received().size(), 1U);
    ASSERT_EQ(net.b.post_send(128, 64), errc::success);
    net.b.turn(net.now);
    using entry = std::pair<char, int>;
    EXPECT_THAT(log.entries, ElementsAre(entry{'a', send_only_immediate}, entry{'b', send_only_immediate},
                                         entry{'b', acknowledge}));
    ASSERT_TRUE(net.run_until([&] { return net.a.sent().size() == 1 && net.b.sent().size() == 1; }));
    EXPECT_EQ(net.a.counters().retransmits + net.b.counters().retransmits, 0U);
}

TEST(SoftTraffic, AnAcknowledgementDoesNotWaitForAnAnswer) {
    simulated_pair net;
    net.b.post_receives(0, 1);
    ASSERT_EQ(net.a.post_send(128, 64), errc::success);
    net.a.turn(net.now);
    net.b.turn(net.now);
    EXPECT_LE(net.b.device().next_deadline(), net.now) << "something is owed";
    net.b.turn(net.now);
    net.a.turn(net.now);
    EXPECT_EQ(net.a.sent().size(), 1U);
}

TEST(SoftTraffic, UnderBackPressureSendsTheRestLaterOnce) {
    simulated_pair net;
    net.b.post_receives(0, 20);
    for (std::uint32_t i = 0; i < 20; ++i) ASSERT_EQ(net.a.post_send(128 + i, 100, i), errc::success);
    net.network.limit_sends(7);
    net.a.turn(net.now);
    EXPECT_EQ(net.a.counter("packets_out"), 7U);
    EXPECT_EQ(net.a.device().next_deadline(), net.now + 50us);
    net.network.limit_sends(1'000);
    net.a.turn(net.now + 49us);
    EXPECT_EQ(net.a.counter("packets_out"), 7U) << "not tried again before its time";
    ASSERT_TRUE(net.run_until([&] { return net.b.received().size() == 20; }));
    EXPECT_EQ(net.a.counters().retransmits, 0U);
    EXPECT_EQ(net.b.counters().duplicates, 0U);
}

TEST(SoftTraffic, ARefusedAnswerAndAcknowledgementBothArriveInTheEnd) {
    simulated_pair net;
    net.a.post_receives(0, 1);
    net.b.post_receives(0, 1);
    ASSERT_EQ(net.a.post_send(128, 64), errc::success);
    net.a.turn(net.now);
    net.b.turn(net.now);
    ASSERT_EQ(net.b.post_send(128, 64), errc::success);
    net.network.limit_sends(1); // the answer leaves, its acknowledgement is refused
    net.b.turn(net.now);
    net.network.limit_sends(1'000);
    ASSERT_TRUE(net.run_until([&] { return net.a.sent().size() == 1 && net.b.sent().size() == 1; }));
    EXPECT_EQ(net.a.received().size(), 1U);
    EXPECT_TRUE(net.settle());
}

TEST(SoftTraffic, GivesUpOnASilentPeerAfterItsRetries) {
    simulated_pair net;
    net.network.attach(v4(10, 0, 0, 2)).reset(); // the peer's link is cut off
    ASSERT_EQ(net.a.post_send(128, 64), errc::success);
    const auto start = net.now;
    ASSERT_TRUE(net.run_until([&] { return !net.a.sent().empty(); }));
    EXPECT_EQ(net.a.sent().front().status, errc::retry_exceeded);
    EXPECT_EQ(net.network.lost(), 8U) << "seven retries";
    EXPECT_EQ(net.a.qp().state(), queue_pair_state::error);
    EXPECT_GE(net.now - start, 8 * ack_timeout{8}.duration());
    device_event event;
    ASSERT_TRUE(net.a.device().next_event(event));
    EXPECT_EQ(event.kind, device_event_kind::queue_pair_fatal);
    EXPECT_EQ(event.queue_pair, net.a.qp().number());
    EXPECT_TRUE(net.settle());
}

TEST(SoftTraffic, AnAcknowledgementThatWaitedInTheSocketStopsAnOverdueTimer) {
    simulated_pair net;
    net.b.post_receives(0, 1);
    ASSERT_EQ(net.a.post_send(128, 64), errc::success);
    net.a.turn(net.now);
    net.b.turn(net.now);
    net.b.turn(net.now);
    net.a.turn(net.now + 1s); // the context was busy elsewhere
    EXPECT_EQ(net.a.sent().size(), 1U);
    EXPECT_EQ(net.a.counters().timeouts, 0U);
}

TEST(SoftTraffic, WaitsForAReceiveAsLongAsItTakes) {
    simulated_pair net;
    ASSERT_EQ(net.a.post_send(128, 64), errc::success);
    ASSERT_TRUE(net.run_until([&] { return net.a.counters().rnr_naks_received == 20; }));
    EXPECT_TRUE(net.a.sent().empty());
    net.b.post_receives(0, 1);
    ASSERT_TRUE(net.run_until([&] { return net.a.sent().size() == 1; }));
    EXPECT_EQ(net.a.sent().front().status, errc::success);
}

TEST(SoftTraffic, WithThePortDownNothingLeavesAndNothingEnters) {
    simulated_pair net;
    net.b.post_receives(0, 4);
    net.a.device().set_port_up(false);
    device_event event;
    ASSERT_TRUE(net.a.device().next_event(event));
    EXPECT_EQ(event.kind, device_event_kind::port_error);
    EXPECT_EQ(event.port, 1);
    EXPECT_EQ(net.a.device().snapshot().port_state, "down");

    ASSERT_EQ(net.a.post_send(128, 64), errc::success);
    net.a.turn(net.now);
    EXPECT_EQ(net.a.counter("packets_out"), 0U);
    EXPECT_EQ(net.a.counter("sends_lost_port_down"), 1U);
    ASSERT_EQ(net.b.post_send(128, 64), errc::success);
    net.b.turn(net.now);
    net.a.turn(net.now);
    EXPECT_EQ(net.a.counter("drops.port_down"), 1U);

    net.a.device().set_port_up(false);
    EXPECT_FALSE(net.a.device().next_event(event)) << "no change, no event";
    net.a.post_receives(0, 1);
    net.a.device().set_port_up(true);
    ASSERT_TRUE(net.a.device().next_event(event));
    EXPECT_EQ(event.kind, device_event_kind::port_active);
    ASSERT_TRUE(net.run_until([&] { return net.a.sent().size() == 1 && net.b.sent().size() == 1; }))
        << "retransmission brings the rest";
    EXPECT_EQ(net.a.sent().front().status, errc::success);
}

TEST(SoftTraffic, ThePortStaysDownLongerThanTheRetriesLast) {
    simulated_pair net;
    net.a.device().set_port_up(false);
    ASSERT_EQ(net.a.post_send(128, 64), errc::success);
    ASSERT_TRUE(net.run_until([&] { return !net.a.sent().empty(); }));
    EXPECT_EQ(net.a.sent().front().status, errc::retry_exceeded);
}

TEST(SoftTraffic, AFailedQueuePairFlushesAndTellsItsOwner) {
    simulated_pair net;
    net.a.post_receives(0, 2);
    ASSERT_EQ(net.a.post_send(128, 64), errc::success);
    ASSERT_FALSE(net.a.device().fail_queue_pair(net.a.qp().number()));
    net.a.turn(net.now);
    ASSERT_EQ(net.a.sent().size(), 1U);
    EXPECT_EQ(net.a.sent()[0].status, errc::work_request_flushed);
    ASSERT_EQ(net.a.received().size(), 2U);
    EXPECT_EQ(net.a.received()[1].id.slot, 1U);
    device_event event;
    ASSERT_TRUE(net.a.device().next_event(event));
    EXPECT_EQ(event.kind, device_event_kind::queue_pair_fatal);
    EXPECT_EQ(event.queue_pair, net.a.qp().number());
    EXPECT_FALSE(net.a.device().next_event(event)) << "told once";
    EXPECT_EQ(net.a.device().fail_queue_pair(qpn{5}).code, errc::invalid_argument);
}

TEST(SoftTraffic, EveryRequestPostedAfterTheErrorIsFlushedOrRefused) {
    simulated_pair net;
    ASSERT_FALSE(net.a.qp().to_error());
    std::size_t accepted = 0;
    for (std::uint32_t i = 0; i < 5; ++i) accepted += net.a.post_send(128 + i, 64) == errc::success;
    net.a.turn(net.now);
    ASSERT_EQ(net.a.sent().size(), accepted);
    for (std::size_t i = 0; i < accepted; ++i) {
        EXPECT_EQ(net.a.sent()[i].status, errc::work_request_flushed);
        EXPECT_EQ(net.a.sent()[i].id.slot, 128 + i);
    }
}

TEST(SoftTraffic, CompletionsOfADestroyedQueuePairStayToBePolled) {
    simulated_pair net;
    net.b.post_receives(0, 2);
    ASSERT_EQ(net.a.post_send(128, 64), errc::success);
    net.a.turn(net.now);
    net.b.device().progress(net.now);
    net.b.destroy_queue_pair();
    net.b.turn(net.now);
    ASSERT_EQ(net.b.received().size(), 1U);
    EXPECT_EQ(net.b.received()[0].status, errc::success);
    EXPECT_EQ(net.b.device().next_deadline(), device::time_point::max());
}

TEST(SoftTraffic, AQueuePairDestroyedWithEverythingPendingLeavesNothingBehind) {
    simulated_pair net;
    net.a.post_receives(0, 4);
    for (std::uint32_t i = 0; i < 8; ++i) ASSERT_EQ(net.a.post_send(128 + i, 4096), errc::success);
    net.a.device().progress(net.now); // some in flight, a timer runs
    ASSERT_EQ(net.a.post_send(140, 64), errc::success);
    net.a.destroy_queue_pair();
    EXPECT_EQ(net.a.device().next_deadline(), device::time_point::max());
    EXPECT_FALSE(net.a.device().progress(net.now + 10s));
    net.b.turn(net.now);
    net.b.turn(net.now);
    net.a.turn(net.now + 10s);
    EXPECT_GE(net.a.counter("drops.unknown_queue_pair"), 1U) << "the peer's answers are for nobody";
}

TEST(SoftTraffic, ACompletionQueueThatOverrunsIsBrokenAndSaysSo) {
    simulated_pair net(std::nullopt, {.completions = 2});
    net.b.post_receives(0, 3);
    for (std::uint32_t i = 0; i < 3; ++i) ASSERT_EQ(net.a.post_send(128 + i, 64), errc::success);
    net.a.device().progress(net.now);
    net.b.device().progress(net.now);

    device_event event;
    ASSERT_TRUE(net.b.device().next_event(event));
    EXPECT_EQ(event.kind, device_event_kind::completion_queue_error);
    ASSERT_TRUE(net.b.device().next_event(event));
    EXPECT_EQ(event.kind, device_event_kind::queue_pair_fatal);
    EXPECT_EQ(net.b.counter("completion_overruns"), 1U);
    EXPECT_EQ(net.b.qp().state(), queue_pair_state::error);

    work_completion c[4];
    errc error = errc::success;
    EXPECT_EQ(net.b.cq().poll(c, error), 2U);
    EXPECT_EQ(error, errc::success);
    EXPECT_EQ(net.b.cq().poll(c, error), 0U);
    EXPECT_EQ(error, errc::local_operation_error);
}

TEST(SoftTraffic, AReceiveThatIsTooSmallEndsBothSidesAndTheDeviceSaysSo) {
    simulated_pair net(std::nullopt, {.slot_bytes = 4096});
    const receive_request small{{0, 0, 3}, net.b.buffer(3, 10)};
    ASSERT_EQ(net.b.qp().post_receive({&small, 1}).accepted, 1U);
    ASSERT_EQ(net.a.post_send(128, 64), errc::success);
    ASSERT_TRUE(net.run_until([&] { return !net.a.sent().empty() && !net.b.received().empty(); }));
    EXPECT_EQ(net.b.received()[0].status, errc::local_length_error);
    EXPECT_NE(net.a.sent()[0].status, errc::success);
    device_event event;
    ASSERT_TRUE(net.b.device().next_event(event));
    EXPECT_EQ(event.kind, device_event_kind::queue_pair_fatal);
}

TEST(SoftTraffic, ServesManyQueuePairsInTurn) {
    soft::simulated_network network;
    device::time_point now = device::time_point{} + 1h;
    const auto left = soft_device::over(network.attach(v4(10, 0, 0, 1)));
    const auto right = soft_device::over(network.attach(v4(10, 0, 0, 2)));
    std::vector<std::unique_ptr<test::soft_end>> a, b;
    constexpr std::uint32_t pairs = 40;
    for (std::uint32_t i = 0; i < pairs; ++i) {
        a.push_back(std::make_unique<test::soft_end>(left));
        b.push_back(std::make_unique<test::soft_end>(right));
        test::connect_ends(*a[i], *b[i]);
        b[i]->post_receives(0, 30);
        for (std::uint32_t m = 0; m < 30; ++m)
            ASSERT_EQ(a[i]->post_send(128 + m, 4096, i * 100 + m), errc::success);
    }
    left->progress(now);
    EXPECT_LE(a[0]->counter("packets_out"), 64U + 31U);
    for (int round = 0; round < 2'000; ++round) {
        for (auto& end : a) end->turn(now);
        for (auto& end : b) end->turn(now);
    }
    for (std::uint32_t i = 0; i < pairs; ++i) {
        ASSERT_EQ(b[i]->received().size(), 30U) << "pair " << i;
        for (std::uint32_t m = 0; m < 30; ++m) ASSERT_EQ(b[i]->received()[m].immediate, i * 100 + m);
        ASSERT_EQ(a[i]->sent().size(), 30U);
    }
}

TEST(SoftTraffic, NeverHasMoreInFlightThanThePeersBufferHolds) {
    simulated_pair net;
    net.b.add_queue_pair();
    net.a.add_queue_pair();
    connect_ends(net.a, net.b); // the simulated link tells no buffer, so the default of a rocio counts
    for (std::uint32_t i = 0; i < 60; ++i) ASSERT_EQ(net.a.post_send(128 + i, 4096), errc::success);
    for (int i = 0; i < 10; ++i) net.a.turn(net.now);
    EXPECT_EQ(net.a.counter("packets_out"), 24U);
}

TEST(SoftTraffic, APeerThatToldNothingGets128Packets) {
    simulated_pair net;
    net.a.add_queue_pair();
    auto peer = net.b.as_peer();
    peer.capabilities = {};
    net.a.connect(net.a.towards(peer));
    for (std::uint32_t i = 0; i < 128; ++i) ASSERT_EQ(net.a.post_send(i, 4096), errc::success);
    for (int i = 0; i < 10; ++i) net.a.turn(net.now);
    EXPECT_EQ(net.a.counter("packets_out"), 128U);
}

} // namespace
} // namespace rocio
