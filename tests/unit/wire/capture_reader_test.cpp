#include "hex.hpp"
#include "roce_capture.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <string>

/// The reader that the other tests take their captures from.
namespace {

using namespace rocio;
using test::from_hex;
using test::to_hex;

class capture_reader : public testing::Test {
  protected:
    std::filesystem::path file_of(std::string_view hex) {
        const auto bytes = from_hex(hex);
        std::ofstream out(path_, std::ios::binary);
        for (const std::byte b : bytes) out.put(static_cast<char>(b));
        return path_;
    }
    ~capture_reader() override {
        std::error_code ignored;
        std::filesystem::remove(path_, ignored);
    }

  private:
    std::filesystem::path path_ = std::filesystem::temp_directory_path() /
                                  (std::string("rocio_capture_reader_") +
                                   testing::UnitTest::GetInstance()->current_test_info()->name() + ".pcap");
};

constexpr std::string_view nanosecond_header = "4d3cb2a1 0200 0400 00000000 00000000 ffff0000 01000000";
constexpr std::string_view microsecond_header = "d4c3b2a1 0200 0400 00000000 00000000 ffff0000 01000000";
constexpr std::string_view record_of_3 = "00000000 00000000 03000000 03000000 aabbcc";
constexpr std::string_view record_of_1 = "00000000 00000000 01000000 01000000 dd";

std::string joined(std::string_view a, std::string_view b, std::string_view c = "") {
    return std::string(a) + std::string(b) + std::string(c);
}

TEST_F(capture_reader, reads_both_time_stamp_kinds) {
    for (const auto header : {nanosecond_header, microsecond_header}) {
        const auto frames = test::read_pcap(file_of(joined(header, record_of_3, record_of_1)));
        ASSERT_EQ(frames.size(), 2U);
        EXPECT_EQ(to_hex(frames[0]), "aabbcc");
        EXPECT_EQ(to_hex(frames[1]), "dd");
    }
}

TEST_F(capture_reader, a_capture_may_be_empty) {
    EXPECT_TRUE(test::read_pcap(file_of(nanosecond_header)).empty());
}

TEST_F(capture_reader, refuses_what_it_cannot_read) {
    const std::string bad[] = {
        "",
        "4d3cb2a1",
        "0a0d0d0a 0200 0400 00000000 00000000 ffff0000 01000000",              // pcapng
        "a1b23c4d 0002 0004 00000000 00000000 0000ffff 00000001",              // big-endian
        "4d3cb2a1 0200 0400 00000000 00000000 ffff0000 71000000",              // Linux cooked
        joined(nanosecond_header, "00000000"),                                 // cut record header
        joined(nanosecond_header, "00000000 00000000 03000000 03000000 aabb"), // cut frame
        joined(nanosecond_header, "00000000 00000000 02000000 03000000 aabb"), // cut when captured
    };
    for (const auto& hex : bad) EXPECT_THROW(test::read_pcap(file_of(hex)), std::runtime_error) << hex;
    EXPECT_THROW(test::read_pcap("/no/such/file.pcap"), std::runtime_error);
}

constexpr std::string_view ethernet_v4 = "020000000002 020000000001 0800";

TEST(roce_in_frame, takes_addresses_ports_id_and_bytes) {
    const auto packet = test::roce_in(from_hex(joined(ethernet_v4,
                                                      "4500 0030 d6e0 4000 40 11 4fda 0a000001 0a000002"
                                                      "c2a4 12b7 001c 0000",
                                                      "0410ffff0000001a80000102030a1100643d4f8a")));
    ASSERT_TRUE(packet.has_value());
    EXPECT_EQ(packet->flow.source, gid::from_v4({10, 0, 0, 1}));
    EXPECT_EQ(packet->flow.destination, gid::from_v4({10, 0, 0, 2}));
    EXPECT_EQ(packet->flow.source_port, 0xC2A4);
    EXPECT_EQ(packet->flow.destination_port, 4791);
    EXPECT_EQ(packet->ip_id, 0xD6E0);
    EXPECT_EQ(to_hex(packet->bytes), "0410ffff0000001a80000102030a1100643d4f8a");
}

TEST(roce_in_frame, leaves_ethernet_padding_out) {
    const auto packet = test::roce_in(from_hex(joined(ethernet_v4,
                                                      "4500 0020 0000 4000 40 11 0000 0a000001 0a000002"
                                                      "12b7 12b7 000c 0000 01020304",
                                                      "000000000000000000000000")));
    ASSERT_TRUE(packet.has_value());
    EXPECT_EQ(to_hex(packet->bytes), "01020304");
}

TEST(roce_in_frame, skips_other_traffic) {
    const std::string others[] = {
        joined("ffffffffffff 020000000001 0806",
               "0001 0800 06 04 0001 020000000001 0a000001 000000000000 0a000002"),
        joined(ethernet_v4, "4500 001c 0000 4000 40 01 0000 0a000001 0a000002 0303000000000000"), // ICMP
        joined(ethernet_v4,
               "4500 0020 0000 4000 40 11 0000 0a000001 0a000002 0035 0035 000c 0000 01020304"), // DNS
    };
    for (const auto& hex : others) EXPECT_EQ(test::roce_in(from_hex(hex)), std::nullopt) << hex;
}

TEST(hex, reads_what_it_writes_and_refuses_anything_else) {
    EXPECT_EQ(to_hex(from_hex("00 7f80 ff")), "007f80ff");
    EXPECT_TRUE(from_hex("").empty());
    EXPECT_THROW(from_hex("0"), std::invalid_argument);
    EXPECT_THROW(from_hex("0g"), std::invalid_argument);
    EXPECT_THROW(from_hex("0A"), std::invalid_argument);
}

} // namespace
