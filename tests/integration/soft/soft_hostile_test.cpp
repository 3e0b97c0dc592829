#include "crafted_packet.hpp"
#include "raw_udp_socket.hpp"
#include "socket_pair_of_ends.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <vector>

namespace rocio {
namespace {

using test::craft_packet;
using test::drive;
using test::raw_udp_socket;
using test::soft_end;

struct Hostile : ::testing::Test {
    Hostile() { test::connect_ends(a, b); }

    wire::bth header_for_b() {
        wire::bth h;
        h.op = wire::rc::send_only;
        h.destination = b.qp().number();
        h.ack_request = true;
        h.sequence = psn{0xFFFFF0};
        return h;
    }
    std::uint64_t drops() {
        std::uint64_t sum = 0;
        for (const auto& c : b.device().snapshot().counters)
            if (c.name.starts_with("drops.")) sum += c.value;
        return sum;
    }
    std::vector<std::byte> random_bytes(std::size_t n) {
        std::vector<std::byte> bytes(n);
        for (auto& x : bytes) x = static_cast<std::byte>(random());
        return bytes;
    }
    /// Legal for whoever sends it, cut or damaged in one of several ways.
    std::vector<std::byte> nasty(int kind, const wire::icrc_flow& flow) {
        auto packet = craft_packet(flow, header_for_b(), random_bytes(64));
        switch (kind % 7) {
        case 0:
            return random_bytes(random() % 200);
        case 1:
            packet.resize(random() % packet.size());
            return packet;
        case 2:
            return std::vector<std::byte>(9'000, std::byte{0x5A});
        case 3:
            return {};
        case 4:
            packet[random() % packet.size()] ^= static_cast<std::byte>(1U << random() % 8);
            return packet;
        case 5:
            return random_bytes(4'147);
        default:
            return packet; // whole: only its address is wrong
        }
    }

    std::mt19937 random{11};
    soft_end a{test::open_soft("127.30.4.1")}, b{test::open_soft("127.30.4.2")};
};

TEST_F(Hostile, AStrangersDatagramsNeverDisturbTheStream) {
    raw_udp_socket stranger("127.30.4.3"), impostor("127.30.4.1"); // the peer's address, another port
    const wire::icrc_flow strangers_flow{gid::from_v4({127, 30, 4, 3}), gid::from_v4({127, 30, 4, 2}),
                                         stranger.port(), 4791};
    constexpr std::uint32_t messages = 700;
    b.post_receives(0, 64);
    std::uint32_t posted = 0, checked = 0;
    std::uint64_t attacks = 0;
    ASSERT_TRUE(drive({&a, &b}, [&] {
        if (posted < messages && posted < a.sent().size() + 8) {
            test::fill_message(a.slot(128 + posted % 64), posted);
            EXPECT_EQ(a.post_send(128 + posted % 64, 4'096, posted), errc::success);
            ++posted;
            stranger.send(nasty(static_cast<int>(posted), strangers_flow), "127.30.4.2");
            // From the peer's own address: an ICRC made for another port.
            impostor.send(nasty(4 + static_cast<int>(posted % 3), strangers_flow), "127.30.4.2");
            attacks += 2;
        }
        for (; checked < b.received().size(); ++checked) {
            const auto& c = b.received()[checked];
            EXPECT_EQ(c.immediate, checked);
            EXPECT_TRUE(test::holds_message(b.slot(c.id.slot), checked)) << checked;
            EXPECT_EQ(b.post_receive(c.id.slot), errc::success);
        }
        return HasFailure() || (checked == messages && a.sent().size() == messages);
    }));
    EXPECT_EQ(checked, messages);
    EXPECT_EQ(drops(), attacks);
    EXPECT_GT(b.counter("drops.truncated"), 0U);
    EXPECT_GT(b.counter("drops.too_short"), 0U);
    EXPECT_GT(b.counter("drops.bad_icrc"), 0U);
    EXPECT_GT(b.counter("drops.foreign_source"), 0U);
    EXPECT_EQ(b.qp().state(), queue_pair_state::ready_to_send);
}

TEST_F(Hostile, AForeignAcknowledgementCompletesNothing) {
    raw_udp_socket stranger("127.30.4.4");
    ASSERT_EQ(a.post_send(128, 64), errc::success);
    a.turn(std::chrono::steady_clock::now());
    wire::bth h;
    h.op = wire::rc::acknowledge;
    h.destination = a.qp().number();
    h.sequence = psn{0xFFFFF0};
    std::vector<std::byte> aeth(wire::aeth::size);
    wire::aeth::ack(1).emit(std::span<std::byte, wire::aeth::size>(aeth.data(), wire::aeth::size));
    stranger.send(
        craft_packet({gid::from_v4({127, 30, 4, 4}), gid::from_v4({127, 30, 4, 1}), stranger.port(), 4791}, h,
                     aeth),
        "127.30.4.1");
    a.turn(std::chrono::steady_clock::now());
    EXPECT_TRUE(a.sent().empty());
    EXPECT_EQ(a.counter("drops.foreign_source"), 1U);
}

TEST_F(Hostile, AnUnknownQueuePairIsNeverAnswered) {
    raw_udp_socket stranger("127.30.4.5");
    const wire::icrc_flow flow{gid::from_v4({127, 30, 4, 5}), gid::from_v4({127, 30, 4, 2}), stranger.port(),
                               4791};
    for (std::uint32_t number = 0; number < 64; ++number) {
        auto h = header_for_b();
        h.destination = qpn{(h.destination.value() + 1 + number * 4'099) & qpn::max};
        stranger.send(craft_packet(flow, h, random_bytes(64)), "127.30.4.2");
    }
    for (int i = 0; i < 8; ++i) b.turn(std::chrono::steady_clock::now());
    EXPECT_EQ(b.counter("drops.unknown_queue_pair"), 64U);
    EXPECT_EQ(b.counter("packets_out"), 0U);
}

} // namespace
} // namespace rocio
