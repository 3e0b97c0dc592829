#include "raw_udp_socket.hpp"
#include "socket_pair_of_ends.hpp"

#include <rocio/wire/icrc.hpp>
#include <rocio/wire/packet.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

namespace rocio {
namespace {

using test::connect_ends;
using test::drive;
using test::open_soft;
using test::soft_end;

/// 4.3 s: what is sent twice was lost, not late.
constexpr ack_timeout patient{20};

/// Sends `messages` from one end to the other and checks each; sizes run through 0..slot size.
class one_way {
  public:
    one_way(soft_end& from, soft_end& to, std::uint32_t messages, std::uint32_t slot_bytes)
        : from_(from), to_(to), messages_(messages), slot_bytes_(slot_bytes) {
        to_.post_receives(0, 64);
    }

    void step() {
        for (; posted_ < messages_ && posted_ < from_.sent().size() + 60; ++posted_) {
            test::fill_message(from_.slot(128 + posted_ % 64).first(size_of(posted_)), posted_);
            ASSERT_EQ(from_.post_send(128 + posted_ % 64, size_of(posted_), posted_), errc::success);
        }
        for (; checked_ < to_.received().size(); ++checked_) {
            const auto& c = to_.received()[checked_];
            ASSERT_EQ(c.status, errc::success);
            ASSERT_EQ(c.immediate, checked_);
            ASSERT_EQ(c.byte_len, size_of(checked_));
            ASSERT_TRUE(test::holds_message(to_.slot(c.id.slot).first(c.byte_len), checked_)) << checked_;
            ASSERT_EQ(to_.post_receive(c.id.slot), errc::success);
        }
    }
    bool done() const { return checked_ == messages_ && from_.sent().size() == messages_; }
    std::uint32_t checked() const { return checked_; }

  private:
    std::uint32_t size_of(std::uint32_t i) const { return i * 577 % (slot_bytes_ + 1); }

    soft_end& from_;
    soft_end& to_;
    std::uint32_t messages_, slot_bytes_, posted_ = 0, checked_ = 0;
};

bool run(soft_end& a, soft_end& b, std::initializer_list<one_way*> ways) {
    return drive({&a, &b}, [&] {
        for (one_way* w : ways) w->step();
        return ::testing::Test::HasFatalFailure() ||
               std::all_of(ways.begin(), ways.end(), [](one_way* w) { return w->done(); });
    });
}

TEST(SoftStream, CarriesManySizesBothWays) {
    const test::soft_end_options options{.slots = 256, .slot_bytes = 10'000};
    soft_end a(open_soft("127.30.3.1"), options), b(open_soft("127.30.3.2"), options);
    connect_ends(a, b);
    one_way there(a, b, 1'000, 10'000), back(b, a, 1'000, 10'000);
    ASSERT_TRUE(run(a, b, {&there, &back})) << there.checked() << " and " << back.checked() << " messages";
}

TEST(SoftStream, AFullWindowNeverOverrunsTheReceiversSocket) {
    soft_end a(open_soft("127.30.3.3"), {.timeout = patient}),
        b(open_soft("127.30.3.4"), {.timeout = patient});
    connect_ends(a, b);
    constexpr std::uint32_t messages = 20'000;
    b.post_receives(0, 128);
    std::uint32_t posted = 0, checked = 0;
    ASSERT_TRUE(drive({&a, &b}, [&] {
        while (posted < messages && posted < a.sent().size() + 100) {
            EXPECT_EQ(a.post_send(128 + posted % 128, 4'096, posted), errc::success);
            ++posted;
        }
        for (; checked < b.received().size(); ++checked)
            EXPECT_EQ(b.post_receive(b.received()[checked].id.slot), errc::success);
        return HasFailure() || checked == messages;
    }));
    EXPECT_EQ(b.counter("drops.socket_overflow"), 0U);
    EXPECT_EQ(a.counters().retransmits, 0U);
    EXPECT_EQ(a.counters().rnr_naks_received, 0U);
}

TEST(SoftStream, ALargerReceiveBufferOpensTheWindow) {
    soft_device_config config;
    config.address = "127.30.3.6";
    config.receive_buffer = 400'000;
    std::shared_ptr<soft_device> large;
    ASSERT_FALSE(soft_device::open(config, large));
    soft_end a(open_soft("127.30.3.5")), b(large);
    ASSERT_GE(b.as_peer().capabilities.receive_buffer, 400'000U);
    connect_ends(a, b);
    for (std::uint32_t i = 0; i < 100; ++i) ASSERT_EQ(a.post_send(128 + i, 4'096), errc::success);
    for (int i = 0; i < 5; ++i) a.turn(device::time_point{} + std::chrono::hours(1));
    EXPECT_GE(a.counter("packets_out"), 45U);
    EXPECT_EQ(b.counter("drops.socket_overflow"), 0U);
}

TEST(SoftStream, RecoversFromEveryKindOfFault) {
    const fault_plan plan{
        .drop = 0.02, .duplicate = 0.02, .reorder = 0.02, .delay = 0.01, .corrupt = 0.02, .seed = 3};
    soft_end a(open_soft("127.30.3.7", plan)), b(open_soft("127.30.3.8", plan));
    connect_ends(a, b);
    one_way there(a, b, 1'500, 4'096), back(b, a, 1'500, 4'096);
    ASSERT_TRUE(run(a, b, {&there, &back})) << there.checked() << " and " << back.checked() << " messages";
    EXPECT_GT(a.counters().retransmits, 0U);
    EXPECT_GT(a.counter("faults.dropped"), 0U);
    EXPECT_GT(a.counter("faults.corrupted"), 0U);
    EXPECT_GT(b.counter("drops.bad_icrc"), 0U);
}

TEST(SoftStream, APeerThatVanishesEndsTheStreamAndTheDeviceServesTheNextOne) {
    soft_end a(open_soft("127.30.3.9"));
    {
        soft_end b(open_soft("127.30.3.10"));
        connect_ends(a, b);
        b.post_receives(0, 32);
        for (std::uint32_t i = 0; i < 64; ++i) ASSERT_EQ(a.post_send(128 + i, 4'096), errc::success);
        ASSERT_TRUE(drive({&a, &b}, [&] { return b.received().size() >= 10; }));
    }
    // From here on every packet is answered by ICMP "port unreachable".
    ASSERT_TRUE(drive({&a}, [&] { return a.sent().size() == 64; }));
    EXPECT_EQ(a.sent().back().status, errc::work_request_flushed);
    const auto failed = std::find_if(a.sent().begin(), a.sent().end(),
                                     [](const work_completion& c) { return c.status != errc::success; });
    EXPECT_EQ(failed->status, errc::retry_exceeded);

    a.add_queue_pair();
    a.sent().clear();
    soft_end again(open_soft("127.30.3.10"));
    connect_ends(a, again);
    one_way there(a, again, 200, 4'096);
    EXPECT_TRUE(run(a, again, {&there}));
}

TEST(SoftStream, AnUnreachablePeerDoesNotDisturbItsNeighbour) {
    const auto device = open_soft("127.30.3.11");
    soft_end a(device, {.timeout = patient}), b(open_soft("127.30.3.12"), {.timeout = patient}),
        lonely(device);
    connect_ends(a, b);
    auto nobody = b.as_peer();
    nobody.address = gid::from_v4({127, 30, 3, 13});
    lonely.connect(lonely.towards(nobody));
    ASSERT_EQ(lonely.post_send(128, 64), errc::success);
    one_way there(a, b, 300, 4'096);
    ASSERT_TRUE(run(a, b, {&there}));
    ASSERT_TRUE(drive({&lonely, &a, &b}, [&] { return !lonely.sent().empty(); }));
    EXPECT_EQ(lonely.sent()[0].status, errc::retry_exceeded);
    EXPECT_EQ(a.counters().retransmits, 0U);
}

TEST(SoftStream, WhatLeavesIsALegalPacketWithIpId0) {
    soft_end a(open_soft("127.30.3.14"), {.timeout = ack_timeout{0}}); // the peer acknowledges nothing
    test::raw_udp_socket peer("127.30.3.15");
    peer_parameters p;
    p.address = gid::from_v4({127, 30, 3, 15});
    p.udp_port = peer.port();
    p.queue_pair = qpn{0x1234};
    a.connect(a.towards(p));
    const wire::icrc_engine icrc({gid::from_v4({127, 30, 3, 14}), p.address, 4791, peer.port()});
    for (const std::uint32_t size : {0U, 1U, 2U, 3U, 64U, 300U, 4'096U}) {
        test::fill_message(a.slot(128), size);
        ASSERT_EQ(a.post_send(128, size, 0xA0B0C0D0 + size), errc::success);
        a.turn(std::chrono::steady_clock::now());
        const auto bytes = peer.receive();
        wire::packet_view packet;
        ASSERT_EQ(wire::packet_view::parse(bytes, packet), wire::malformed::none) << size;
        EXPECT_TRUE(icrc.check_exact(bytes)) << size;
        EXPECT_EQ(packet.bth().destination, qpn{0x1234});
        EXPECT_EQ(packet.op(), wire::rc::send_only_with_immediate);
        EXPECT_EQ(packet.immediate().value, 0xA0B0C0D0 + size);
        ASSERT_EQ(packet.payload().size(), size);
        EXPECT_TRUE(test::holds_message(packet.payload(), size));
    }
}

struct ip_fields {
    std::uint8_t hop_limit, traffic_class;
    int expected_ttl;
};

class IpFields : public ::testing::TestWithParam<ip_fields> {};

TEST_P(IpFields, OfAConnectionAreInEveryPacketShortOrLong) {
    soft_end a(open_soft("127.30.3.16"), {.timeout = ack_timeout{0}});
    test::raw_udp_socket peer("127.30.3.17");
    peer.ask_for_ip_fields();
    peer_parameters p;
    p.address = gid::from_v4({127, 30, 3, 17});
    p.udp_port = peer.port();
    p.queue_pair = qpn{0x1234};
    auto attributes = a.towards(p);
    attributes.hop_limit = GetParam().hop_limit;
    attributes.traffic_class = GetParam().traffic_class;
    a.connect(attributes);
    for (const std::uint32_t size : {10U, 4'000U, 9U}) {
        ASSERT_EQ(a.post_send(128, size), errc::success);
        a.turn(std::chrono::steady_clock::now());
        ASSERT_FALSE(peer.receive().empty());
        EXPECT_EQ(peer.last_ttl(), GetParam().expected_ttl);
        EXPECT_EQ(peer.last_tos(), GetParam().traffic_class);
    }
    EXPECT_EQ(a.counter("send_errors"), 0U);
}

INSTANTIATE_TEST_SUITE_P(SoftStream, IpFields,
                         ::testing::Values(ip_fields{64, 0, 64}, ip_fields{7, 104, 7}, ip_fields{255, 8, 255},
                                           ip_fields{0, 0, 64}, ip_fields{1, 0, 1}, ip_fields{64, 104, 64}));

} // namespace
} // namespace rocio
