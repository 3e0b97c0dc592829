#include "hex.hpp"
#include "reference_icrc.hpp"
#include "wire/crc_ring.hpp"
#include "wire/ip_id_solver.hpp"

#include <rocio/wire/icrc.hpp>
#include <rocio/wire/packet.hpp>

#include <gmock/gmock.h>

#include <algorithm>
#include <random>
#include <span>
#include <vector>

namespace {

using namespace rocio;
using test::from_hex;
using test::reference_icrc;
using wire::icrc_engine;
using wire::icrc_flow;

std::vector<std::byte> random_bytes(std::mt19937& random, std::size_t size) {
    std::vector<std::byte> bytes(size);
    for (auto& b : bytes) b = static_cast<std::byte>(random());
    return bytes;
}

icrc_flow random_v4_flow(std::mt19937& random) {
    const auto octet = [&] { return static_cast<std::uint8_t>(random()); };
    return {gid::from_v4({octet(), octet(), octet(), octet()}),
            gid::from_v4({octet(), octet(), octet(), octet()}), static_cast<std::uint16_t>(random()),
            static_cast<std::uint16_t>(random())};
}

icrc_flow random_v6_flow(std::mt19937& random) {
    gid::bytes_type source{0xFD};
    gid::bytes_type destination{0x20};
    for (std::size_t i = 1; i < 16; ++i) {
        source[i] = static_cast<std::uint8_t>(random());
        destination[i] = static_cast<std::uint8_t>(random());
    }
    return {gid{source}, gid{destination}, static_cast<std::uint16_t>(random()),
            static_cast<std::uint16_t>(random())};
}

void store_icrc(std::span<std::byte> packet, std::uint32_t value) {
    for (std::size_t i = 0; i < 4; ++i)
        packet[packet.size() - 4 + i] = static_cast<std::byte>(value >> (8 * i));
}

const icrc_flow v4_flow{gid::from_v4({10, 0, 0, 1}), gid::from_v4({10, 0, 0, 2}), 0xC2A4, 4791};
const icrc_flow v6_flow{gid::parse("fd00::1").value(), gid::parse("fd00::2").value(), 0xC121, 4791};

TEST(icrc, of_a_packet_is_what_the_rule_says_bit_by_bit) {
    std::mt19937 random{2};
    for (int round = 0; round < 400; ++round) {
        const auto flow = round % 2 == 0 ? random_v4_flow(random) : random_v6_flow(random);
        const auto packet = random_bytes(random, 16 + 4 * (random() % 300));
        const auto id = static_cast<std::uint16_t>(random());
        EXPECT_EQ(icrc_engine{flow}.of_packet(packet, id), reference_icrc(flow, packet, id)) << packet.size();
    }
}

TEST(icrc, of_the_largest_packet_is_what_the_rule_says) {
    std::mt19937 random{3};
    const auto packet = random_bytes(random, 9216);
    for (const auto& flow : {v4_flow, v6_flow}) {
        EXPECT_EQ(icrc_engine{flow}.of_packet(packet, 0xBEEF), reference_icrc(flow, packet, 0xBEEF));
    }
}

TEST(icrc, of_a_flow_with_one_ipv4_address_only_is_that_of_ipv6) {
    std::mt19937 random{4};
    const icrc_flow mixed{v4_flow.source, v6_flow.destination, 1, 2};
    const auto packet = random_bytes(random, 64);
    EXPECT_EQ(icrc_engine{mixed}.of_packet(packet, 7), reference_icrc(mixed, packet, 7));
}

/// The sender's packet in pieces: any payload length, its pad made of zeros.
TEST(icrc, computed_from_headers_and_payload_equals_that_of_the_whole_packet) {
    std::mt19937 random{5};
    for (const std::size_t headers_size : {12, 16, 20, 24, 28, 32, 40}) {
        for (std::size_t payload_size = 0; payload_size < 160; ++payload_size) {
            const auto headers = random_bytes(random, headers_size);
            const auto payload = random_bytes(random, payload_size);
            auto packet = headers;
            packet.insert(packet.end(), payload.begin(), payload.end());
            packet.insert(packet.end(), wire::pad_of(payload_size) + wire::icrc_size, std::byte{0});
            for (const auto& flow : {v4_flow, v6_flow}) {
                const icrc_engine engine{flow};
                ASSERT_EQ(engine.compute(headers, payload, 0x1234), engine.of_packet(packet, 0x1234))
                    << headers_size << " " << payload_size;
            }
        }
    }
}

TEST(icrc, a_default_id_is_0) {
    const auto packet = from_hex("0410ffff0000001a80000102030a110000000000");
    const icrc_engine engine{v4_flow};
    EXPECT_EQ(engine.of_packet(packet), engine.of_packet(packet, 0));
    EXPECT_NE(engine.of_packet(packet), engine.of_packet(packet, 1));
}

TEST(icrc, an_ipv6_packet_has_no_id) {
    const auto packet = from_hex("0410ffff0000001a80000102030a110000000000");
    const icrc_engine engine{v6_flow};
    EXPECT_EQ(engine.of_packet(packet, 0), engine.of_packet(packet, 0xFFFF));
}

TEST(icrc, covers_addresses_and_ports) {
    const auto packet = from_hex("0410ffff0000001a80000102030a110000000000");
    const auto base = icrc_engine{v4_flow}.of_packet(packet);
    const auto changed = [&](auto change) {
        auto flow = v4_flow;
        change(flow);
        return icrc_engine{flow}.of_packet(packet);
    };
    EXPECT_NE(base, changed([](icrc_flow& f) { f.source = gid::from_v4({10, 0, 0, 3}); }));
    EXPECT_NE(base, changed([](icrc_flow& f) { f.destination = gid::from_v4({10, 0, 0, 3}); }));
    EXPECT_NE(base, changed([](icrc_flow& f) { ++f.source_port; }));
    EXPECT_NE(base, changed([](icrc_flow& f) { ++f.destination_port; }));
}

TEST(icrc, every_id_is_solved_for) {
    std::mt19937 random{6};
    const icrc_engine engine{v4_flow};
    auto packet = random_bytes(random, 48);
    for (unsigned id = 0; id <= 0xFFFF; ++id) {
        store_icrc(packet, engine.of_packet(packet, static_cast<std::uint16_t>(id)));
        ASSERT_EQ(engine.solve_id(packet), id);
    }
}

TEST(icrc, an_id_is_solved_for_in_packets_of_every_size) {
    std::mt19937 random{7};
    const icrc_engine engine{v4_flow};
    for (std::size_t size = 16; size <= 9216; size += 4) {
        auto packet = random_bytes(random, size);
        const auto id = static_cast<std::uint16_t>(random());
        store_icrc(packet, engine.of_packet(packet, id));
        ASSERT_EQ(engine.solve_id(packet), id) << size;
        ASSERT_TRUE(engine.check_exact(packet, id)) << size;
        ASSERT_FALSE(engine.check_exact(packet, id ^ 1)) << size;
    }
}

TEST(icrc, sizes_that_no_packet_has_are_refused) {
    for (const auto& flow : {v4_flow, v6_flow}) {
        const icrc_engine engine{flow};
        for (const std::size_t size : {0, 1, 4, 12, 15, 17, 18, 19, 9217, 9220, 65504, 65507}) {
            std::vector<std::byte> packet(size);
            if (size >= 16) store_icrc(packet, reference_icrc(flow, packet, 0));
            EXPECT_FALSE(engine.check_exact(packet)) << size;
            EXPECT_EQ(engine.solve_id(packet), std::nullopt) << size;
        }
    }
}

TEST(ip_id_solver, agrees_with_the_bit_by_bit_product) {
    std::mt19937 random{8};
    const auto by_bits = [](std::uint32_t difference,
                            std::size_t packet_size) -> std::optional<std::uint16_t> {
        std::uint32_t v = difference;
        for (std::size_t i = 0; i < 8 * (22 + packet_size); ++i) v = wire::crc_ring::over_x(v);
        if ((v & 0xFFFF) != 0) return std::nullopt;
        return static_cast<std::uint16_t>((v >> 16 & 0xFF) << 8 | v >> 24);
    };
    for (int round = 0; round < 500; ++round) {
        const std::size_t size = 16 + 4 * (random() % 100);
        const auto difference = static_cast<std::uint32_t>(random());
        EXPECT_EQ(wire::solve_ip_id(difference, size), by_bits(difference, size));
    }
}

TEST(ip_id_solver, the_portable_product_agrees_with_the_cpus) {
    std::mt19937 random{9};
    for (int round = 0; round < 100000; ++round) {
        const auto a = static_cast<std::uint32_t>(random());
        const auto b = static_cast<std::uint32_t>(random());
        ASSERT_EQ(wire::crc_ring::fast_product(a, b), wire::crc_ring::product(a, b));
    }
}

TEST(crc_ring, x_has_an_inverse_and_one_is_neutral) {
    std::mt19937 random{10};
    using namespace wire::crc_ring;
    for (int round = 0; round < 1000; ++round) {
        const auto v = static_cast<std::uint32_t>(random());
        const auto w = static_cast<std::uint32_t>(random());
        EXPECT_EQ(over_x(times_x(v)), v);
        EXPECT_EQ(product(v, one), v);
        EXPECT_EQ(product(v, w), product(w, v));
        EXPECT_EQ(product(v, times_x(one)), times_x(v));
        EXPECT_EQ(times_x32(v), times_x8(times_x8(times_x8(times_x8(v)))));
    }
}

} // namespace
