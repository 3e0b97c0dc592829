#include "hex.hpp"

#include <rocio/rpc/request_header.hpp>
#include <rocio/rpc/response_header.hpp>

#include <gtest/gtest.h>

#include <array>

namespace rocio::rpc {
namespace {

using test::from_hex;
using test::to_hex;

constexpr const char* golden_request = "52515543" // magic
                                       "1e906c5a" // addThem
                                       "10000000" // 16 bytes of arguments
                                       "2a000000" // request 42
                                       "8877665544332211";

constexpr const char* golden_response = "53515543" // magic
                                        "feffffff" // status -2
                                        "08000000" // 8 bytes of results
                                        "2a000000" // request 42
                                        "8877665544332211";

template <class Header>
std::string encoded(const Header& header) {
    std::array<std::byte, 24> bytes{};
    EXPECT_TRUE(header.encode(bytes));
    return to_hex(bytes);
}

TEST(request_header_test, encodes_the_bytes_of_the_original) {
    EXPECT_EQ(encoded(request_header{0x5a6c901e, 16, 42, 0x1122334455667788}), golden_request);
}

TEST(request_header_test, decodes_the_bytes_of_the_original) {
    const auto header = request_header::decode(from_hex(golden_request));
    ASSERT_TRUE(header);
    EXPECT_EQ(*header, (request_header{0x5a6c901e, 16, 42, 0x1122334455667788}));
}

TEST(request_header_test, keeps_every_field_in_its_own_place) {
    EXPECT_EQ(encoded(request_header{0xFFFFFFFF, 0, 0, 0}),
              "52515543ffffffff00000000000000000000000000000000");
    EXPECT_EQ(encoded(request_header{0, 0xFFFFFFFF, 0, 0}),
              "5251554300000000ffffffff000000000000000000000000");
    EXPECT_EQ(encoded(request_header{0, 0, 0xFFFFFFFF, 0}),
              "525155430000000000000000ffffffff0000000000000000");
    EXPECT_EQ(encoded(request_header{0, 0, 0, ~0ULL}), "52515543000000000000000000000000ffffffffffffffff");
}

TEST(request_header_test, looks_at_24_bytes_and_no_more) {
    auto bytes = from_hex(golden_request);
    bytes.resize(4096, std::byte{0xEE});
    EXPECT_EQ(request_header::decode(bytes)->timestamp, 0x1122334455667788U);
    for (std::size_t n = 0; n < 24; ++n) {
        EXPECT_FALSE(request_header::decode(std::span(bytes).first(n))) << n;
    }
}

TEST(request_header_test, refuses_every_flipped_bit_of_the_magic) {
    for (unsigned bit = 0; bit < 32; ++bit) {
        auto bytes = from_hex(golden_request);
        bytes[bit / 8] ^= std::byte{1} << (bit % 8);
        EXPECT_FALSE(request_header::decode(bytes)) << bit;
    }
}

TEST(request_header_test, writes_nothing_where_it_does_not_fit) {
    std::array<std::byte, 23> bytes{};
    EXPECT_FALSE((request_header{1, 2, 3, 4}.encode(bytes)));
    EXPECT_EQ(bytes, (std::array<std::byte, 23>{}));
}

TEST(request_header_test, leaves_what_follows_alone) {
    std::array<std::byte, 26> bytes{};
    bytes.fill(std::byte{0xAB});
    ASSERT_TRUE((request_header{1, 2, 3, 4}.encode(bytes)));
    EXPECT_EQ(to_hex(std::span(bytes).subspan(24)), "abab");
}

TEST(request_header_test, takes_bytes_at_any_alignment) {
    auto bytes = from_hex(golden_request);
    for (int shift = 1; shift < 8; ++shift) {
        bytes.insert(bytes.begin(), std::byte{0});
        const auto header = request_header::decode(std::span(bytes).subspan(static_cast<std::size_t>(shift)));
        ASSERT_TRUE(header) << shift;
        EXPECT_EQ(header->request_id, 42U);
    }
}

TEST(request_header_test, works_at_compile_time) {
    constexpr auto there_and_back = [] {
        std::array<std::byte, 24> bytes{};
        const bool fits = request_header{1, 2, 3, 4}.encode(bytes);
        return fits && request_header::decode(bytes) == request_header{1, 2, 3, 4};
    }();
    static_assert(there_and_back);
    EXPECT_TRUE(there_and_back);
}

TEST(response_header_test, encodes_the_bytes_of_the_original) {
    EXPECT_EQ(encoded(response_header{-2, 8, 42, 0x1122334455667788}), golden_response);
}

TEST(response_header_test, decodes_the_bytes_of_the_original) {
    const auto header = response_header::decode(from_hex(golden_response));
    ASSERT_TRUE(header);
    EXPECT_EQ(*header, (response_header{-2, 8, 42, 0x1122334455667788}));
}

TEST(response_header_test, keeps_every_field_in_its_own_place) {
    EXPECT_EQ(encoded(response_header{-1, 0, 0, 0}), "53515543ffffffff00000000000000000000000000000000");
    EXPECT_EQ(encoded(response_header{0, 0xFFFFFFFF, 0, 0}),
              "5351554300000000ffffffff000000000000000000000000");
    EXPECT_EQ(encoded(response_header{0, 0, 0xFFFFFFFF, 0}),
              "535155430000000000000000ffffffff0000000000000000");
    EXPECT_EQ(encoded(response_header{0, 0, 0, ~0ULL}), "53515543000000000000000000000000ffffffffffffffff");
}

TEST(response_header_test, carries_every_status) {
    for (const std::int32_t status : {0, 1, -1, -4, 0x7FFFFFFF, -0x7FFFFFFF - 1}) {
        std::array<std::byte, 24> bytes{};
        ASSERT_TRUE((response_header{.status = status}.encode(bytes)));
        EXPECT_EQ(response_header::decode(bytes)->status, status);
    }
}

TEST(response_header_test, refuses_short_bytes_and_other_magics) {
    auto bytes = from_hex(golden_response);
    for (std::size_t n = 0; n < 24; ++n) {
        EXPECT_FALSE(response_header::decode(std::span(bytes).first(n))) << n;
    }
    for (unsigned bit = 0; bit < 32; ++bit) {
        auto damaged = bytes;
        damaged[bit / 8] ^= std::byte{1} << (bit % 8);
        EXPECT_FALSE(response_header::decode(damaged)) << bit;
    }
}

TEST(response_header_test, is_no_request_and_no_request_is_one) {
    EXPECT_FALSE(request_header::decode(from_hex(golden_response)));
    EXPECT_FALSE(response_header::decode(from_hex(golden_request)));
}

TEST(response_header_test, writes_nothing_where_it_does_not_fit) {
    std::array<std::byte, 23> bytes{};
    EXPECT_FALSE((response_header{1, 2, 3, 4}.encode(bytes)));
    EXPECT_EQ(bytes, (std::array<std::byte, 23>{}));
}

} // namespace
} // namespace rocio::rpc
