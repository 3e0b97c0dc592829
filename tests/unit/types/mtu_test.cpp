#include <rocio/types/mtu.hpp>

#include <gmock/gmock.h>

#include <iterator>

namespace {

using namespace rocio;

struct step {
    mtu value;
    std::uint32_t code;
    std::uint32_t bytes;
};
constexpr step steps[] = {
    {mtu::b256, 1, 256},   {mtu::b512, 2, 512},   {mtu::b1024, 3, 1024},
    {mtu::b2048, 4, 2048}, {mtu::b4096, 5, 4096},
};

TEST(mtu, code_and_bytes_belong_together) {
    for (const auto& s : steps) {
        EXPECT_EQ(code(s.value), s.code);
        EXPECT_EQ(bytes(s.value), s.bytes);
        EXPECT_EQ(mtu_from_code(s.code), s.value);
        EXPECT_EQ(mtu_from_bytes(s.bytes), s.value);
        EXPECT_EQ(to_string(s.value), std::to_string(s.bytes));
    }
}

TEST(mtu, other_codes_are_none) {
    for (const std::uint32_t code : {0U, 6U, 7U, 100U, 255U, 256U, 4096U, 0xFFFFFFFFU}) {
        EXPECT_EQ(mtu_from_code(code), std::nullopt) << code;
    }
}

TEST(mtu, other_sizes_are_none) {
    for (const std::uint32_t n : {0U, 1U, 5U, 128U, 255U, 257U, 1500U, 4095U, 4097U, 8192U, 0xFFFFFFFFU}) {
        EXPECT_EQ(mtu_from_bytes(n), std::nullopt) << n;
    }
}

TEST(mtu, text_may_be_code_or_bytes) {
    for (const auto& s : steps) {
        EXPECT_EQ(parse_mtu(std::to_string(s.code)), s.value);
        EXPECT_EQ(parse_mtu(std::to_string(s.bytes)), s.value);
    }
}

TEST(mtu, other_text_is_none) {
    for (const auto* text :
         {"", " ", "0", "6", "-1", "+5", " 5", "5 ", "4096B", "0x5", "1500", "99999999999999999999"}) {
        EXPECT_EQ(parse_mtu(text), std::nullopt) << text;
    }
}

/// rdma_rxe: 1500 gives 1024, 9000 gives 4096; 4096 needs 4176.
TEST(mtu, of_a_network_interface_leaves_80_bytes_for_headers) {
    EXPECT_EQ(mtu_of_netdev(0), std::nullopt);
    EXPECT_EQ(mtu_of_netdev(335), std::nullopt);
    EXPECT_EQ(mtu_of_netdev(336), mtu::b256);
    EXPECT_EQ(mtu_of_netdev(591), mtu::b256);
    EXPECT_EQ(mtu_of_netdev(592), mtu::b512);
    EXPECT_EQ(mtu_of_netdev(1500), mtu::b1024);
    EXPECT_EQ(mtu_of_netdev(2127), mtu::b1024);
    EXPECT_EQ(mtu_of_netdev(2128), mtu::b2048);
    EXPECT_EQ(mtu_of_netdev(4175), mtu::b2048);
    EXPECT_EQ(mtu_of_netdev(4176), mtu::b4096);
    EXPECT_EQ(mtu_of_netdev(9000), mtu::b4096);
    EXPECT_EQ(mtu_of_netdev(65536), mtu::b4096);
}

} // namespace
