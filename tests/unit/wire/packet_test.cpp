#include "hex.hpp"

#include <rocio/wire/packet.hpp>

#include <gmock/gmock.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

namespace {

using namespace rocio;
using test::from_hex;
using test::to_hex;
using testing::HasSubstr;
using testing::StartsWith;
using wire::malformed;
using wire::opcode;
using wire::packet_view;

/// A packet of this opcode whose extension headers are all 0x11 bytes and whose payload is `payload` bytes of
/// 0x22.
std::vector<std::byte> make_packet(opcode op, std::size_t payload = 0) {
    wire::bth h;
    h.op = op;
    h.destination = qpn{0x1a};
    h.sequence = psn{0x102};
    h.pad = wire::pad_of(payload);
    std::vector<std::byte> bytes(wire::bth::size);
    h.emit(std::span(bytes).first<wire::bth::size>());
    bytes.insert(bytes.end(), op.extension_size(), std::byte{0x11});
    bytes.insert(bytes.end(), payload, std::byte{0x22});
    bytes.insert(bytes.end(), h.pad, std::byte{0});
    bytes.insert(bytes.end(), wire::icrc_size, std::byte{0x33});
    return bytes;
}

std::vector<opcode> known_opcodes() {
    std::vector<opcode> all;
    for (unsigned code = 0; code < 256; ++code) {
        if (const opcode op{static_cast<std::uint8_t>(code)}; op.known()) all.push_back(op);
    }
    return all;
}

malformed reason(std::span<const std::byte> bytes) {
    packet_view view;
    return packet_view::parse(bytes, view);
}

packet_view view_of(std::span<const std::byte> bytes) {
    packet_view view;
    EXPECT_EQ(packet_view::parse(bytes, view), malformed::none);
    return view;
}

TEST(packet, of_any_known_opcode_is_accepted_with_and_without_payload) {
    for (const opcode op : known_opcodes()) {
        SCOPED_TRACE(op.name());
        EXPECT_EQ(view_of(make_packet(op)).payload().size(), 0U);
        for (std::size_t n = 1; op.has_payload() && n <= 9; ++n) {
            const auto bytes = make_packet(op, n);
            EXPECT_EQ(to_hex(view_of(bytes).payload()), to_hex(std::vector<std::byte>(n, std::byte{0x22})));
        }
    }
}

TEST(packet, shorter_than_bth_and_icrc_is_too_short) {
    const auto bytes = make_packet(wire::rc::send_only);
    for (std::size_t n = 0; n < 16; ++n)
        EXPECT_EQ(reason(std::span(bytes).first(n)), malformed::too_short) << n;
}

TEST(packet, shorter_than_its_extension_headers_is_too_short) {
    for (const opcode op : known_opcodes()) {
        const auto bytes = make_packet(op);
        for (std::size_t n = 16; n < bytes.size(); n += 4) {
            EXPECT_EQ(reason(std::span(bytes).first(n)), malformed::too_short) << op.name() << " " << n;
        }
    }
}

TEST(packet, of_a_length_that_is_no_multiple_of_4_is_refused) {
    const auto bytes = make_packet(wire::rc::send_only, 64);
    for (std::size_t n = 17; n < bytes.size(); ++n) {
        if (n % 4 != 0) {
            EXPECT_EQ(reason(std::span(bytes).first(n)), malformed::not_multiple_of_4) << n;
        }
    }
}

TEST(packet, of_another_header_version_is_refused) {
    for (unsigned version = 1; version < 16; ++version) {
        auto bytes = make_packet(wire::rc::send_only, 4);
        bytes[1] |= static_cast<std::byte>(version);
        EXPECT_EQ(reason(bytes), malformed::bad_version) << version;
    }
}

TEST(packet, of_an_unknown_opcode_is_refused) {
    auto bytes = make_packet(wire::rc::send_only, 64);
    for (const unsigned code : {0x15U, 0x18U, 0x1fU, 0x2cU, 0x31U, 0x40U, 0x60U, 0x66U, 0x81U, 0xffU}) {
        bytes[0] = static_cast<std::byte>(code);
        EXPECT_EQ(reason(bytes), malformed::unknown_opcode) << code;
    }
}

TEST(packet, with_more_pad_than_bytes_is_refused) {
    for (const opcode op : known_opcodes()) {
        for (unsigned pad = 1; pad <= 3; ++pad) {
            auto bytes = make_packet(op);
            bytes[1] |= static_cast<std::byte>(pad << 4);
            EXPECT_EQ(reason(bytes), malformed::pad_exceeds_payload) << op.name() << " " << pad;
        }
    }
}

TEST(packet, with_payload_behind_an_opcode_that_carries_none_is_refused) {
    for (const opcode op : known_opcodes()) {
        if (op.has_payload()) continue;
        EXPECT_EQ(reason(make_packet(op, 4)), malformed::unexpected_payload) << op.name();
        EXPECT_EQ(reason(make_packet(op, 1)), malformed::unexpected_payload) << op.name();
    }
}

TEST(packet, a_refused_one_leaves_the_view_alone) {
    const auto good = make_packet(wire::rc::send_only, 8);
    packet_view view = view_of(good);
    EXPECT_EQ(packet_view::parse(make_packet(opcode{0x15}), view), malformed::unknown_opcode);
    EXPECT_EQ(view.op(), wire::rc::send_only);
    EXPECT_EQ(view.bytes().data(), good.data());
}

TEST(packet, the_immediate_stands_behind_the_other_extension_headers) {
    auto write = make_packet(wire::rc::write_only_with_immediate, 4);
    auto datagram = make_packet(opcode{0x65}, 4);
    const auto value = from_hex("a0b0c001");
    std::ranges::copy(value, write.begin() + 12 + 16);
    std::ranges::copy(value, datagram.begin() + 12 + 8);
    EXPECT_EQ(view_of(write).immediate().value, 0xA0B0C001U);
    EXPECT_EQ(view_of(write).reth().length, 0x11111111U);
    EXPECT_EQ(view_of(datagram).immediate().value, 0xA0B0C001U);
    EXPECT_EQ(view_of(datagram).deth().source, qpn{0x111111});
}

TEST(packet, the_icrc_is_read_little_endian) {
    auto bytes = make_packet(wire::rc::send_only);
    std::ranges::copy(from_hex("643d4f8a"), bytes.end() - 4);
    EXPECT_EQ(view_of(bytes).icrc(), 0x8A4F3D64U);
}

TEST(packet, encode_reproduces_every_opcode) {
    for (const opcode op : known_opcodes()) {
        for (const std::size_t payload : {0, 1, 2, 3, 4, 256}) {
            if (payload > 0 && !op.has_payload()) continue;
            const auto bytes = make_packet(op, payload);
            std::vector<std::byte> out(bytes.size());
            EXPECT_EQ(wire::encode(view_of(bytes), out), bytes.size() - 4) << op.name();
            EXPECT_EQ(to_hex(std::span(out).first(bytes.size() - 4)),
                      to_hex(std::span(bytes).first(bytes.size() - 4)));
        }
    }
}

TEST(packet, encode_keeps_pad_bytes_that_are_not_zero) {
    auto bytes = make_packet(wire::rc::send_only, 13);
    std::ranges::copy(from_hex("aabbcc"), bytes.end() - 7);
    std::vector<std::byte> out(bytes.size() - 4);
    EXPECT_EQ(wire::encode(view_of(bytes), out), out.size());
    EXPECT_EQ(to_hex(std::span(out).last(3)), "aabbcc");
}

TEST(packet, encode_writes_nothing_into_a_buffer_that_is_too_small) {
    const auto bytes = make_packet(wire::rc::write_only_with_immediate, 5);
    for (std::size_t n = 0; n < bytes.size() - 4; ++n) {
        std::vector<std::byte> out(n, std::byte{0xEE});
        EXPECT_EQ(wire::encode(view_of(bytes), out), 0U);
        EXPECT_EQ(out, std::vector<std::byte>(n, std::byte{0xEE}));
    }
}

TEST(packet, header_bytes_hold_the_longest_legal_chain) {
    for (const opcode op : known_opcodes()) {
        EXPECT_LE(wire::bth::size + op.extension_size(), wire::max_header_size) << op.name();
    }
}

TEST(packet, header_bytes_append_in_order_and_can_be_cleared) {
    wire::header_bytes headers;
    wire::bth h;
    h.op = wire::rc::write_only_with_immediate;
    headers.append(h);
    headers.append(wire::reth{1, rkey{2}, 3});
    headers.append(wire::immediate{4});
    EXPECT_EQ(to_hex(headers.bytes()), "0b00ffff0000000000000000"
                                       "00000000000000010000000200000003"
                                       "00000004");
    headers.clear();
    EXPECT_EQ(headers.size(), 0U);
}

TEST(packet, pad_fills_up_to_a_multiple_of_4) {
    EXPECT_EQ(wire::pad_of(0), 0);
    EXPECT_EQ(wire::pad_of(1), 3);
    EXPECT_EQ(wire::pad_of(2), 2);
    EXPECT_EQ(wire::pad_of(3), 1);
    EXPECT_EQ(wire::pad_of(4), 0);
    EXPECT_EQ(wire::pad_of(4095), 1);
}

TEST(packet, each_reason_has_its_own_text) {
    std::set<std::string_view> texts;
    for (int i = 0; i <= static_cast<int>(malformed::unexpected_payload); ++i) {
        const auto text = to_string(static_cast<malformed>(i));
        EXPECT_FALSE(text.empty());
        texts.insert(text);
    }
    EXPECT_EQ(texts.size(), static_cast<std::size_t>(malformed::unexpected_payload) + 1);
}

TEST(packet_text, names_every_opcode_and_its_headers) {
    for (const opcode op : known_opcodes()) {
        const auto text = to_text(view_of(make_packet(op, op.has_payload() ? 5 : 0)));
        SCOPED_TRACE(text);
        EXPECT_THAT(text, StartsWith(std::string(op.name()) + " qp=0x00001a psn=0x000102"));
        const auto mentions = [&](std::string_view part) { return text.find(part) != std::string::npos; };
        EXPECT_EQ(mentions(" imm=0x11111111"), op.has_immediate());
        EXPECT_EQ(mentions(" dma_len="), op.has_reth());
        EXPECT_EQ(mentions(" msn="), op.has_aeth());
        EXPECT_EQ(mentions(" qkey=0x11111111 source_qp=0x111111"), op.has_deth());
        EXPECT_EQ(mentions(" compare=0x1111111111111111"), op.has_atomic_eth());
        EXPECT_EQ(mentions(" original=0x1111111111111111"), op.has_atomic_ack_eth());
        EXPECT_EQ(mentions(" invalidate=0x11111111"), op.has_ieth());
        EXPECT_EQ(mentions(" len=5 pad=3"), op.has_payload());
        EXPECT_THAT(text, HasSubstr(" icrc=0x33333333"));
    }
}

TEST(packet_text, shows_what_is_out_of_the_ordinary_in_the_bth) {
    auto bytes = make_packet(wire::rc::send_only, 4);
    std::ranges::copy(from_hex("04c0123480"), bytes.begin());
    bytes[8] = std::byte{0x81};
    EXPECT_EQ(to_text(view_of(bytes)),
              "RC_SEND_ONLY qp=0x00001a psn=0x000102 ack solicited migration pkey=0x1234 "
              "reserved=0x80/0x01 len=4 icrc=0x33333333");
}

TEST(packet_text, spells_the_syndrome) {
    const auto text_of = [](std::uint8_t syndrome) {
        auto bytes = make_packet(wire::rc::acknowledge);
        bytes[12] = std::byte{syndrome};
        return to_text(view_of(bytes));
    };
    EXPECT_THAT(text_of(0x1F), HasSubstr(" ACK credit=31 msn=1118481"));
    EXPECT_THAT(text_of(0x2C), HasSubstr(" RNR-NAK timer=12 "));
    EXPECT_THAT(text_of(0x60), HasSubstr(" NAK psn-sequence-error(0) "));
    EXPECT_THAT(text_of(0x61), HasSubstr(" NAK invalid-request(1) "));
    EXPECT_THAT(text_of(0x62), HasSubstr(" NAK remote-access-error(2) "));
    EXPECT_THAT(text_of(0x63), HasSubstr(" NAK remote-operational-error(3) "));
    EXPECT_THAT(text_of(0x64), HasSubstr(" NAK invalid-rd-request(4) "));
    EXPECT_THAT(text_of(0x7F), HasSubstr(" NAK reserved(31) "));
    EXPECT_THAT(text_of(0x40), HasSubstr(" reserved-syndrome=0x40 "));
}

} // namespace
