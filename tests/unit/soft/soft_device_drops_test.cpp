#include "crafted_packet.hpp"
#include "simulated_pair.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <functional>
#include <ostream>
#include <string>
#include <vector>

namespace rocio {
namespace {

using test::craft_packet;
using test::simulated_pair;
using test::v4;

const gid peer_address = v4(10, 0, 0, 1);
const gid own_address = v4(10, 0, 0, 2);
const gid stranger = v4(10, 0, 0, 66);

/// A connected pair; the stranger on the wire attacks end `b`.
struct Hostile : simulated_pair {
    Hostile() {
        network.observe([this](const gid& from, const soft::destination&, std::span<const std::byte>) {
            replies += from == own_address;
        });
        b.post_receives(0, 4);
    }

    wire::icrc_flow flow(const gid& from = peer_address, std::uint16_t port = 4791) const {
        return {from, own_address, port, 4791};
    }
    /// The header of the next SEND that `b` expects.
    wire::bth header(wire::opcode op = wire::rc::send_only) {
        wire::bth h;
        h.op = op;
        h.destination = b.qp().number();
        h.ack_request = true;
        h.sequence = psn{0xFFFFF0};
        return h;
    }
    std::vector<std::byte> packet(const wire::bth& h, std::size_t behind = 64) {
        return craft_packet(flow(), h, std::vector<std::byte>(behind));
    }
    void arrive(std::vector<std::byte> bytes, const gid& from = peer_address, std::uint16_t port = 4791,
                bool truncated = false) {
        network.inject({from, port, truncated, bytes}, own_address);
        b.turn(now);
        b.turn(now);
    }
    std::uint64_t all_drops() {
        std::uint64_t sum = 0;
        for (const auto& c : b.device().snapshot().counters)
            if (c.name.starts_with("drops.")) sum += c.value;
        return sum;
    }
    /// The stream works on: one message from a to b.
    void expect_undisturbed() {
        test::fill_message(a.slot(200), 7);
        ASSERT_EQ(a.post_send(200, 4096, 7), errc::success);
        ASSERT_TRUE(run_until([&] { return !b.received().empty() && !a.sent().empty(); }));
        EXPECT_EQ(b.received().front().status, errc::success);
        EXPECT_TRUE(test::holds_message(b.slot(b.received().front().id.slot), 7));
        EXPECT_EQ(a.sent().front().status, errc::success);
    }

    int replies = 0;
};

struct hostile_case {
    const char* reason;
    const char* name;
    std::function<void(Hostile&)> attack;
};
std::ostream& operator<<(std::ostream& out, const hostile_case& c) {
    return out << c.name;
}

class HostilePacket : public ::testing::TestWithParam<hostile_case> {};

TEST_P(HostilePacket, IsCountedOnceAndDisturbsNothing) {
    Hostile net;
    GetParam().attack(net);
    EXPECT_EQ(net.b.counter(std::string("drops.") + GetParam().reason), 1U);
    EXPECT_EQ(net.all_drops(), 1U);
    EXPECT_EQ(net.replies, 0);
    EXPECT_TRUE(net.b.received().empty());
    net.expect_undisturbed();
}

template <class F>
hostile_case header_case(const char* reason, const char* name, F change) {
    return {reason, name, [change](Hostile& n) {
                auto h = n.header();
                change(h);
                n.arrive(n.packet(h));
            }};
}

const std::vector<hostile_case> cases{
    {"truncated", "cut_by_the_socket",
     [](Hostile& n) { n.arrive(n.packet(n.header()), peer_address, 4791, true); }},
    {"truncated", "longer_than_any_packet", [](Hostile& n) { n.arrive(n.packet(n.header(), 9'000)); }},
    {"too_short", "empty", [](Hostile& n) { n.arrive({}); }},
    {"too_short", "three_bytes", [](Hostile& n) { n.arrive(std::vector<std::byte>(3)); }},
    {"too_short", "header_without_icrc", [](Hostile& n) { n.arrive(std::vector<std::byte>(12)); }},
    {"not_multiple_of_4", "odd_length",
     [](Hostile& n) {
         auto p = n.packet(n.header());
         p.push_back(std::byte{});
         n.arrive(p);
     }},
    header_case("bad_version", "transport_version_1", [](auto& h) { h.version = 1; }),
    header_case("unknown_opcode", "reserved_opcode", [](auto& h) { h.op = wire::opcode{0x15}; }),
    {"pad_exceeds_payload", "pad_without_payload",
     [](Hostile& n) {
         auto h = n.header();
         h.pad = 3;
         n.arrive(n.packet(h, 0));
     }},
    {"unexpected_payload", "acknowledgement_with_payload",
     [](Hostile& n) { n.arrive(n.packet(n.header(wire::rc::acknowledge), 8)); }},
    {"bad_icrc", "one_flipped_payload_bit",
     [](Hostile& n) {
         auto p = n.packet(n.header());
         p[20] ^= std::byte{4};
         n.arrive(p);
     }},
    {"bad_icrc", "one_flipped_icrc_bit",
     [](Hostile& n) {
         auto p = n.packet(n.header());
         p.back() ^= std::byte{1};
         n.arrive(p);
     }},
    {"bad_icrc", "ip_id_that_a_rocio_never_sends",
     [](Hostile& n) { n.arrive(craft_packet(n.flow(), n.header(), std::vector<std::byte>(64), 5)); }},
    {"bad_icrc", "replayed_from_another_address",
     [](Hostile& n) { n.arrive(n.packet(n.header()), stranger); }},
    {"bad_icrc", "replayed_from_another_port",
     [](Hostile& n) { n.arrive(n.packet(n.header()), peer_address, 999); }},
    header_case("bad_pkey", "partition_1234", [](auto& h) { h.pkey = 0x1234; }),
    header_case("bad_pkey", "partition_0", [](auto& h) { h.pkey = 0; }),
    header_case("bad_pkey", "partition_8000", [](auto& h) { h.pkey = 0x8000; }),
    header_case("unknown_queue_pair", "neighbour_number",
                [](auto& h) { h.destination = qpn{(h.destination.value() + 1) & qpn::max}; }),
    header_case("unknown_queue_pair", "queue_pair_0", [](auto& h) { h.destination = qpn{0}; }),
    header_case("unknown_queue_pair", "queue_pair_1", [](auto& h) { h.destination = qpn{1}; }),
    {"foreign_source", "good_packet_of_a_stranger",
     [](Hostile& n) {
         n.arrive(craft_packet(n.flow(stranger), n.header(), std::vector<std::byte>(64)), stranger);
     }},
    header_case("wrong_service", "unreliable_connection", [](auto& h) { h.op = wire::opcode{0x24}; }),
    {"wrong_service", "unreliable_datagram",
     [](Hostile& n) { n.arrive(n.packet(n.header(wire::opcode{0x64}), 72)); }},
};

INSTANTIATE_TEST_SUITE_P(Device, HostilePacket, ::testing::ValuesIn(cases),
                         [](const auto& c) { return std::string(c.param.name); });

TEST(HostileState, APacketForAQueuePairThatIsNotConnectedIsDropped) {
    Hostile net;
    test::soft_end other(soft_device::over(net.network.attach(own_address)));
    auto h = net.header();
    h.destination = other.qp().number();
    net.network.inject({peer_address, 4791, false, net.packet(h)}, own_address);
    other.turn(net.now);
    EXPECT_EQ(other.counter("drops.wrong_state"), 1U);
}

TEST(HostileState, APacketForAQueuePairInErrorIsDropped) {
    Hostile net;
    ASSERT_FALSE(net.b.qp().to_error());
    net.b.turn(net.now);
    net.arrive(net.packet(net.header()));
    EXPECT_EQ(net.b.counter("drops.wrong_state"), 1U);
    EXPECT_EQ(net.replies, 0);
}

TEST(HostileState, APacketForADestroyedQueuePairIsUnknown) {
    Hostile net;
    const auto late = net.packet(net.header());
    net.b.destroy_queue_pair();
    net.arrive(late);
    EXPECT_EQ(net.b.counter("drops.unknown_queue_pair"), 1U);
    EXPECT_EQ(net.b.counter("queue_pairs"), 0U);
}

TEST(GoodPacket, LimitedPartitionMembershipIsAccepted) {
    Hostile net;
    auto h = net.header();
    h.pkey = 0x7FFF;
    net.arrive(net.packet(h));
    EXPECT_EQ(net.all_drops(), 0U);
    EXPECT_EQ(net.b.received().size(), 1U);
}

TEST(GoodPacket, AnySourcePortOfThePeerIsAccepted) {
    Hostile net;
    for (std::uint32_t i = 0; i < 4; ++i) {
        auto h = net.header();
        h.sequence = h.sequence + i;
        const auto port = static_cast<std::uint16_t>(50'000 + i % 2);
        net.arrive(craft_packet(net.flow(peer_address, port), h, std::vector<std::byte>(64)), peer_address,
                   port);
    }
    EXPECT_EQ(net.all_drops(), 0U);
    EXPECT_EQ(net.b.received().size(), 4U);
}

TEST(GoodPacket, APeerThatPromisedNothingMaySendAnyIpId) {
    Hostile net;
    net.b.add_queue_pair();
    auto peer = net.a.as_peer();
    peer.capabilities = {};
    net.b.connect(net.b.towards(peer));
    net.b.post_receives(0, 4);
    for (std::uint32_t i = 0; i < 4; ++i) {
        auto h = net.header();
        h.sequence = h.sequence + i;
        const auto id = static_cast<std::uint16_t>(i * 16'001);
        net.arrive(craft_packet(net.flow(), h, std::vector<std::byte>(64), id));
    }
    EXPECT_EQ(net.b.received().size(), 4U);

    auto damaged = craft_packet(net.flow(), net.header(), std::vector<std::byte>(64), 9);
    damaged[30] ^= std::byte{1};
    net.arrive(damaged);
    EXPECT_EQ(net.b.counter("drops.bad_icrc"), 1U) << "a single flipped bit never passes for another id";
}

TEST(Flood, OneProgressTakesABoundedNumber) {
    Hostile net;
    for (int i = 0; i < 200; ++i) net.network.inject({stranger, 1, false, {}}, own_address);
    net.b.device().progress(net.now);
    EXPECT_EQ(net.b.counter("packets_in"), 64U);
    net.b.turn(net.now);
    net.b.turn(net.now);
    net.b.turn(net.now);
    EXPECT_EQ(net.b.counter("drops.too_short"), 200U);
    net.expect_undisturbed();
}

} // namespace
} // namespace rocio
