#include <rocio/types/gid.hpp>

#include <gmock/gmock.h>

#include <string>

namespace {

using namespace rocio;

gid of(std::string_view text) {
    const auto value = gid::parse(text);
    EXPECT_TRUE(value.has_value()) << text;
    return value.value_or(gid{});
}

TEST(gid, of_an_ipv4_address_is_ten_zeros_ffff_and_the_address) {
    const gid::bytes_type expected = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 0xC0, 0xA8, 0x01, 0x64};
    EXPECT_EQ(of("192.168.1.100").bytes(), expected);
    EXPECT_EQ(gid::from_v4({192, 168, 1, 100}).bytes(), expected);
}

TEST(gid, text_is_eight_groups_of_four_lower_case_digits) {
    const auto text = of("10.0.0.1").to_string();
    EXPECT_EQ(text, "0000:0000:0000:0000:0000:ffff:0a00:0001");
    EXPECT_EQ(text.size(), 39U);
    EXPECT_EQ(of("fe80::ABCD").to_string(), "fe80:0000:0000:0000:0000:0000:0000:abcd");
    EXPECT_EQ(gid{}.to_string(), "0000:0000:0000:0000:0000:0000:0000:0000");
}

TEST(gid, of_the_extreme_ipv4_addresses_keeps_the_marker) {
    EXPECT_EQ(of("0.0.0.0").to_string(), "0000:0000:0000:0000:0000:ffff:0000:0000");
    EXPECT_EQ(of("255.255.255.255").to_string(), "0000:0000:0000:0000:0000:ffff:ffff:ffff");
    EXPECT_FALSE(of("0.0.0.0").is_zero());
    EXPECT_TRUE(of("0.0.0.0").is_v4_mapped());
}

TEST(gid, parses_every_usual_spelling) {
    EXPECT_EQ(of("::ffff:10.0.0.1"), of("10.0.0.1"));
    EXPECT_EQ(of("::FFFF:0a00:0001"), of("10.0.0.1"));
    EXPECT_EQ(of("0000:0000:0000:0000:0000:ffff:0a00:0001"), of("10.0.0.1"));
    EXPECT_EQ(of("fd00::1").bytes()[0], 0xFD);
    EXPECT_EQ(of("fd00::1").bytes()[15], 0x01);
    EXPECT_TRUE(of("::").is_zero());
}

TEST(gid, other_text_is_none) {
    for (const auto* text : {"", "not-an-ip", "10.0.0", "10.0.0.256", "10.0.0.1.2", "10.0.0.1 ", " 10.0.0.1",
                             "10.0.0.1:4791", "[::1]", "fe80::1%eth0", "fe80::1::2", "12345::",
                             "0:0:0:0:0:0:0", "0:0:0:0:0:0:0:0:0", "::ffff:10.0.0.999", "0x0a000001",
                             "0000:0000:0000:0000:0000:ffff:0a00:0001:0000:0000:0000:0000:0000"}) {
        EXPECT_EQ(gid::parse(text), std::nullopt) << text;
    }
}

TEST(gid, text_with_a_zero_byte_inside_is_none) {
    EXPECT_EQ(gid::parse(std::string_view("10.0.0.1\0x", 10)), std::nullopt);
    EXPECT_EQ(gid::parse(std::string_view("10.0.0.1\0", 9)), std::nullopt);
}

TEST(gid, its_own_text_parses_back) {
    for (const auto* text : {"10.0.0.1", "fd00::1", "fe80::ff:fe00:1", "::", "::1", "2001:db8::1:0:0:1"}) {
        EXPECT_EQ(gid::parse(of(text).to_string()), of(text)) << text;
        EXPECT_EQ(gid::parse(of(text).to_address_string()), of(text)) << text;
    }
}

TEST(gid, address_text_is_that_of_the_ip_address) {
    EXPECT_EQ(of("::ffff:10.0.0.1").to_address_string(), "10.0.0.1");
    EXPECT_EQ(of("255.255.255.255").to_address_string(), "255.255.255.255");
    EXPECT_EQ(of("fd00:0000::0001").to_address_string(), "fd00::1");
}

TEST(gid, ipv4_address_is_there_only_for_mapped_ones) {
    EXPECT_EQ(of("10.1.2.3").v4(), (gid::v4_bytes{10, 1, 2, 3}));
    EXPECT_EQ(of("fd00::1").v4(), std::nullopt);
    EXPECT_EQ(of("::10.1.2.3").v4(), std::nullopt);
    EXPECT_EQ(of("1::ffff:a01:203").v4(), std::nullopt);
    EXPECT_EQ(of("::fffe:a01:203").v4(), std::nullopt);
}

TEST(gid, link_local_is_fe80_with_ten_bits) {
    EXPECT_TRUE(of("fe80::1").is_link_local());
    EXPECT_TRUE(of("febf:ffff::1").is_link_local());
    EXPECT_FALSE(of("fec0::1").is_link_local());
    EXPECT_FALSE(of("fd80::1").is_link_local());
    EXPECT_FALSE(of("169.254.1.1").is_link_local());
}

TEST(gid, prefixes_are_compared_bit_by_bit) {
    EXPECT_TRUE(of("10.0.2.10").shares_prefix(of("10.0.2.50"), 96 + 24));
    EXPECT_FALSE(of("10.0.2.10").shares_prefix(of("10.0.3.50"), 96 + 24));
    EXPECT_TRUE(of("10.0.2.10").shares_prefix(of("10.0.3.50"), 96 + 23));
    EXPECT_TRUE(of("fd00::1").shares_prefix(of("fd00::2"), 126));
    EXPECT_FALSE(of("fd00::1").shares_prefix(of("fd00::2"), 127));
    EXPECT_TRUE(of("fd00::1").shares_prefix(of("10.0.0.1"), 0));
    EXPECT_TRUE(of("fd00::1").shares_prefix(of("fd00::1"), 128));
    EXPECT_FALSE(of("fd00::1").shares_prefix(of("fd00::0"), 128));
    EXPECT_TRUE(of("fd00::1").shares_prefix(of("fd00::1"), 1000));
}

TEST(host_ip_from_gid_text, gives_the_address_back) {
    for (const auto* address : {"10.0.0.1", "192.168.3.7", "255.255.255.255", "0.0.0.0"}) {
        EXPECT_EQ(host_ip_from_gid_text(of(address).to_string()), address);
    }
    EXPECT_EQ(host_ip_from_gid_text("0000:0000:0000:0000:0000:FFFF:0A00:0001"), "10.0.0.1");
}

TEST(host_ip_from_gid_text, is_empty_for_anything_else) {
    for (const auto* text : {
             "fe80:0000:0000:0000:0202:c9ff:fe00:0001", // link-local
             "0000:0000:0000:0000:0000:fffe:0a00:0001", // group 6 is not ffff
             "0001:0000:0000:0000:0000:ffff:0a00:0001", // more than the IPv4 part
             "0000:0000:0000:0000:ffff:0a00:0001",      // 7 groups
             "0000:0000:0000:0000:0000:0000:ffff:0a00:0001",
             "",
             "zzzz:0000:0000:0000:0000:ffff:0a00:0001",
             "0000:0000:0000:0000:0000:ffff:0a00:000g",
             "::ffff:0a00:0001", // not eight groups
             "::ffff:10.0.0.1",
             "10.0.0.1",
             ":::::::",
         }) {
        EXPECT_EQ(host_ip_from_gid_text(text), "") << text;
    }
}

} // namespace
