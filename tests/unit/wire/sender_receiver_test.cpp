#include "hex.hpp"

#include <rocio/wire/icrc.hpp>
#include <rocio/wire/packet.hpp>

#include <gmock/gmock.h>

#include <random>
#include <vector>

/// A packet put together as a sender does it (header values, payload where it lies, pad, ICRC) must be read
/// by a receiver as what was meant.
namespace {

using namespace rocio;
using wire::opcode;

struct path {
    wire::icrc_flow flow;
    std::uint16_t ip_id = 0;
};

std::vector<std::byte> datagram(const path& via, const wire::header_bytes& headers,
                                std::span<const std::byte> payload) {
    std::vector<std::byte> bytes{headers.bytes().begin(), headers.bytes().end()};
    bytes.insert(bytes.end(), payload.begin(), payload.end());
    bytes.insert(bytes.end(), wire::pad_of(payload.size()), std::byte{0});
    const std::uint32_t icrc = wire::icrc_engine{via.flow}.compute(headers.bytes(), payload, via.ip_id);
    for (int i = 0; i < 4; ++i) bytes.push_back(static_cast<std::byte>(icrc >> (8 * i)));
    return bytes;
}

wire::bth header_for(opcode op, std::size_t payload) {
    wire::bth h;
    h.op = op;
    h.solicited = true;
    h.pad = wire::pad_of(payload);
    h.destination = qpn{0xABCDEF};
    h.ack_request = true;
    h.sequence = psn{0xFFFFFF};
    return h;
}

const wire::reth some_reth{0x1122334455667788, rkey{0x99AABBCC}, 0x01020304};
const wire::aeth some_aeth = wire::aeth::nak(wire::nak_code::remote_access_error, 0x123456);
const wire::immediate some_immediate{0xA0B0C0D0};
const wire::deth some_deth{0x80010000, qpn{0x12}, 0};
const wire::atomic_eth some_atomic{0x8877665544332211, rkey{5}, 6, 7};
const wire::atomic_ack_eth some_original{0xFEDCBA9876543210};
const wire::ieth some_ieth{rkey{0xCAFEF00D}};

wire::header_bytes headers_for(opcode op, std::size_t payload) {
    wire::header_bytes headers;
    headers.append(header_for(op, payload));
    if (op.has_deth()) headers.append(some_deth);
    if (op.has_reth()) headers.append(some_reth);
    if (op.has_aeth()) headers.append(some_aeth);
    if (op.has_atomic_eth()) headers.append(some_atomic);
    if (op.has_atomic_ack_eth()) headers.append(some_original);
    if (op.has_immediate()) headers.append(some_immediate);
    if (op.has_ieth()) headers.append(some_ieth);
    return headers;
}

void expect_the_meant_extensions(const wire::packet_view& view) {
    const auto op = view.op();
    if (op.has_deth()) {
        EXPECT_EQ(view.deth(), some_deth);
    }
    if (op.has_reth()) {
        EXPECT_EQ(view.reth(), some_reth);
    }
    if (op.has_aeth()) {
        EXPECT_EQ(view.aeth(), some_aeth);
    }
    if (op.has_atomic_eth()) {
        EXPECT_EQ(view.atomic_eth(), some_atomic);
    }
    if (op.has_atomic_ack_eth()) {
        EXPECT_EQ(view.atomic_ack_eth(), some_original);
    }
    if (op.has_immediate()) {
        EXPECT_EQ(view.immediate(), some_immediate);
    }
    if (op.has_ieth()) {
        EXPECT_EQ(view.ieth(), some_ieth);
    }
}

void expect_received_as_sent(const path& via, opcode op, std::span<const std::byte> payload) {
    const auto bytes = datagram(via, headers_for(op, payload.size()), payload);
    const wire::icrc_engine receiver{via.flow};
    EXPECT_TRUE(receiver.check_exact(bytes, via.ip_id));
    EXPECT_EQ(receiver.solve_id(bytes), via.ip_id);
    wire::packet_view view;
    ASSERT_EQ(wire::packet_view::parse(bytes, view), wire::malformed::none);
    EXPECT_EQ(view.bth(), header_for(op, payload.size()));
    expect_the_meant_extensions(view);
    EXPECT_EQ(test::to_hex(view.payload()), test::to_hex(payload));
}

const path paths[] = {
    {{gid::from_v4({127, 0, 0, 2}), gid::from_v4({127, 0, 0, 3})}, 0},
    {{gid::from_v4({127, 0, 0, 2}), gid::from_v4({127, 0, 0, 3}), 49828, 4791}, 44},
    {{gid::from_v4({10, 0, 0, 1}), gid::from_v4({10, 0, 0, 2}), 65535, 1}, 0xFFFF},
    {{gid::parse("fd00::1").value(), gid::parse("fd00::2").value(), 49441, 4791}, 0},
};

TEST(sender_and_receiver, agree_on_every_opcode_and_pad) {
    std::mt19937 random{31};
    for (unsigned code = 0; code < 256; ++code) {
        const opcode op{static_cast<std::uint8_t>(code)};
        if (!op.known()) continue;
        SCOPED_TRACE(op.name());
        for (const auto& via : paths) {
            for (std::size_t size = 0; size <= (op.has_payload() ? 9U : 0U); ++size) {
                std::vector<std::byte> payload(size);
                for (auto& b : payload) b = static_cast<std::byte>(random());
                expect_received_as_sent(via, op, payload);
            }
        }
    }
}

TEST(sender_and_receiver, agree_around_every_path_mtu) {
    std::mt19937 random{32};
    for (const std::size_t mtu : {256, 512, 1024, 2048, 4096, 9000}) {
        for (std::size_t size = mtu - 5; size <= mtu + 5; ++size) {
            std::vector<std::byte> payload(size);
            for (auto& b : payload) b = static_cast<std::byte>(random());
            for (const auto& via : paths)
                expect_received_as_sent(via, wire::rc::send_only_with_immediate, payload);
        }
    }
}

TEST(sender_and_receiver, disagree_when_the_receiver_expects_another_sender) {
    const auto bytes = datagram(paths[0], headers_for(wire::rc::send_only, 0), {});
    for (std::size_t i = 1; i < std::size(paths); ++i) {
        const wire::icrc_engine other{paths[i].flow};
        EXPECT_FALSE(other.check_exact(bytes));
        EXPECT_EQ(other.solve_id(bytes), std::nullopt);
    }
}

/// The segments of one segmented send have the identifications 0, 1, 2 …
TEST(sender_and_receiver, agree_on_the_index_inside_a_train) {
    const wire::icrc_engine receiver{paths[0].flow};
    for (std::uint16_t index = 0; index < 64; ++index) {
        const auto bytes = datagram({paths[0].flow, index}, headers_for(wire::rc::send_middle, 4),
                                    test::from_hex("01020304"));
        for (std::uint16_t expected = 0; expected < 64; ++expected) {
            ASSERT_EQ(receiver.check_exact(bytes, expected), index == expected);
        }
        ASSERT_EQ(receiver.solve_id(bytes), index);
    }
}

} // namespace
