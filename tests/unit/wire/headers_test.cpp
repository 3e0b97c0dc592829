#include "hex.hpp"

#include <rocio/wire/headers.hpp>

#include <gmock/gmock.h>

#include <array>
#include <random>
#include <string>

namespace {

using namespace rocio;
using test::from_hex;
using test::to_hex;

template <class Header>
std::string emitted(const Header& h) {
    std::array<std::byte, Header::size> out{};
    h.emit(out);
    return to_hex(out);
}

template <class Header>
Header parsed(std::string_view hex) {
    const auto bytes = from_hex(hex);
    EXPECT_EQ(bytes.size(), Header::size);
    return Header::parse(std::span<const std::byte>(bytes).first<Header::size>());
}

template <class Header>
void expect_both_ways(const Header& h, std::string_view hex) {
    EXPECT_EQ(emitted(h), hex);
    EXPECT_EQ(parsed<Header>(hex), h);
}

TEST(bth, of_an_ordinary_request) {
    wire::bth h;
    h.op = wire::rc::send_only;
    h.pad = 1;
    h.destination = qpn{0x1a};
    h.ack_request = true;
    h.sequence = psn{0x102};
    expect_both_ways(h, "0410ffff0000001a80000102");
}

TEST(bth, each_field_has_its_bits) {
    struct part {
        wire::bth value;
        std::string_view hex;
    };
    const auto with = [](auto set) {
        wire::bth h;
        h.pkey = 0;
        set(h);
        return h;
    };
    const part parts[] = {
        {with([](wire::bth& h) { h.op = wire::opcode{0xFF}; }), "ff0000000000000000000000"},
        {with([](wire::bth& h) { h.solicited = true; }), "008000000000000000000000"},
        {with([](wire::bth& h) { h.migration = true; }), "004000000000000000000000"},
        {with([](wire::bth& h) { h.pad = 3; }), "003000000000000000000000"},
        {with([](wire::bth& h) { h.version = 15; }), "000f00000000000000000000"},
        {with([](wire::bth& h) { h.pkey = 0x1234; }), "000012340000000000000000"},
        {with([](wire::bth& h) { h.reserved8a = 0xA5; }), "00000000a500000000000000"},
        {with([](wire::bth& h) { h.destination = qpn{0xABCDEF}; }), "0000000000abcdef00000000"},
        {with([](wire::bth& h) { h.ack_request = true; }), "000000000000000080000000"},
        {with([](wire::bth& h) { h.reserved7 = 0x7F; }), "00000000000000007f000000"},
        {with([](wire::bth& h) { h.sequence = psn{0x123456}; }), "000000000000000000123456"},
    };
    for (const auto& p : parts) expect_both_ways(p.value, p.hex);
}

TEST(bth, emit_cuts_values_that_are_wider_than_their_field) {
    wire::bth h;
    h.pkey = 0;
    h.pad = 0xFF;
    h.version = 0xFF;
    h.reserved7 = 0xFF;
    EXPECT_EQ(emitted(h), "003f0000000000007f000000");
}

TEST(reth, is_address_key_and_length_of_the_whole_message) {
    expect_both_ways(wire::reth{0x1122334455667788, rkey{0x99AABBCC}, 0xDDEEFF01},
                     "112233445566778899aabbccddeeff01");
}

TEST(aeth, is_syndrome_and_msn) {
    expect_both_ways(wire::aeth{0x1F, 3}, "1f000003");
    expect_both_ways(wire::aeth{0x62, 0xFFFFFF}, "62ffffff");
}

TEST(aeth, emit_masks_the_msn_to_24_bits) {
    EXPECT_EQ(emitted(wire::aeth{0x1F, 0x01000002}), "1f000002");
}

TEST(aeth, ack_carries_no_credit_information) {
    EXPECT_EQ(wire::aeth::ack(7), (wire::aeth{0x1F, 7}));
}

TEST(aeth, nak_codes_have_the_syndromes_of_the_standard) {
    using wire::nak_code;
    EXPECT_EQ(wire::aeth::nak(nak_code::psn_sequence_error, 1).syndrome, 0x60);
    EXPECT_EQ(wire::aeth::nak(nak_code::invalid_request, 1).syndrome, 0x61);
    EXPECT_EQ(wire::aeth::nak(nak_code::remote_access_error, 1).syndrome, 0x62);
    EXPECT_EQ(wire::aeth::nak(nak_code::remote_operational_error, 1).syndrome, 0x63);
    EXPECT_EQ(wire::aeth::nak(nak_code::invalid_rd_request, 1).syndrome, 0x64);
    EXPECT_EQ(wire::aeth::nak(nak_code::invalid_request, 0x77).msn, 0x77U);
}

TEST(aeth, rnr_nak_carries_every_timer_code) {
    for (std::uint8_t code = 0; code < 32; ++code) {
        const auto h = wire::aeth::rnr(code, 9);
        EXPECT_EQ(h.syndrome, 0x20 + code);
        EXPECT_EQ(h.kind(), wire::aeth_kind::rnr_nak);
        EXPECT_EQ(h.value(), code);
        EXPECT_EQ(h.msn, 9U);
    }
}

TEST(aeth, all_256_syndromes_have_a_kind) {
    for (unsigned syndrome = 0; syndrome < 256; ++syndrome) {
        const wire::aeth h{static_cast<std::uint8_t>(syndrome), 0};
        const auto expected = syndrome < 0x20   ? wire::aeth_kind::ack
                              : syndrome < 0x40 ? wire::aeth_kind::rnr_nak
                              : syndrome < 0x60 ? wire::aeth_kind::reserved
                              : syndrome < 0x80 ? wire::aeth_kind::nak
                                                : wire::aeth_kind::reserved;
        EXPECT_EQ(h.kind(), expected) << syndrome;
        EXPECT_EQ(h.value(), syndrome & 31) << syndrome;
    }
}

TEST(immediate, is_big_endian_on_the_wire) {
    expect_both_ways(wire::immediate{0xA0B0C001}, "a0b0c001");
}

TEST(deth, is_qkey_reserved_byte_and_source) {
    expect_both_ways(wire::deth{0x80010000, qpn{0x1}, 0}, "8001000000000001");
    expect_both_ways(wire::deth{0x11223344, qpn{0xABCDEF}, 0x5A}, "112233445aabcdef");
}

TEST(atomic_eth, is_address_key_swap_and_compare) {
    expect_both_ways(wire::atomic_eth{0x20001000, rkey{0x2BD}, 0xAABBCCDDEEFF0011, 0x1122334455667788},
                     "0000000020001000000002bdaabbccddeeff00111122334455667788");
}

TEST(atomic_ack_eth, is_the_original_value) {
    expect_both_ways(wire::atomic_ack_eth{0x1122334455667788}, "1122334455667788");
}

TEST(ieth, is_a_key) {
    expect_both_ways(wire::ieth{rkey{0xCAFEF00D}}, "cafef00d");
}

template <class Header>
void expect_any_bytes_to_survive(std::mt19937& random) {
    for (int i = 0; i < 1000; ++i) {
        std::array<std::byte, Header::size> in{};
        for (auto& b : in) b = static_cast<std::byte>(random());
        EXPECT_EQ(emitted(Header::parse(in)), to_hex(in));
    }
}

TEST(headers, any_bytes_survive_parse_and_emit) {
    std::mt19937 random{1};
    expect_any_bytes_to_survive<wire::bth>(random);
    expect_any_bytes_to_survive<wire::reth>(random);
    expect_any_bytes_to_survive<wire::aeth>(random);
    expect_any_bytes_to_survive<wire::immediate>(random);
    expect_any_bytes_to_survive<wire::deth>(random);
    expect_any_bytes_to_survive<wire::atomic_eth>(random);
    expect_any_bytes_to_survive<wire::atomic_ack_eth>(random);
    expect_any_bytes_to_survive<wire::ieth>(random);
}

} // namespace
