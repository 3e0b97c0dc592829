#include "hsb_announcements.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace rocio::fpga {
namespace {

using test::announcement_bytes;
using test::broken_promise_of_announcement;
using test::raw_announcement;
using ::testing::ElementsAre;

hsb_announcement read(const raw_announcement& raw) {
    return std::get<hsb_announcement>(parse_announcement(raw.view()));
}

hsb_announcement_defect defect(std::span<const std::byte> bytes) {
    return std::get<hsb_announcement_defect>(parse_announcement(bytes));
}

raw_announcement second_format() {
    raw_announcement raw(2);
    raw.put_vendor(8, {0x34, 0x12});
    raw.put_vendor(
        10, {0x16, 0xAF, 0x13, 0x9B, 0x9D, 0x14, 0x48, 0x2F, 0x98, 0x05, 0x3F, 0xEB, 0x72, 0xAE, 0x0C, 0xEC});
    raw.put_vendor(26, {0x01, 0x02, 0x03, 0x00});
    raw.put_vendor(30, {0x03, 0x01, 0x04, 0x01, 0x05, 0x09, 0x03});
    raw.put_vendor(37, {0x06, 0x26, 0xA5, 0x5A});
    raw.put_vendor(45, {0, 0, 0x65, 0x43, 0x21, 0x00, 0x3B, 0x9A, 0xC9, 0xFF, 0x12, 0x34, 0x07});
    return raw;
}

TEST(HsbAnnouncement, the_second_format_is_read_field_by_field) {
    const auto a = read(second_format());
    EXPECT_EQ(a.address_text(), "192.168.0.2");
    EXPECT_EQ(a.mac_text(), "48:b0:2d:01:02:03");
    EXPECT_EQ(a.host_port, 1);
    EXPECT_EQ(a.data_plane, 1);
    EXPECT_EQ(a.format, 2);
    EXPECT_EQ(a.board_id, 0x1234);
    EXPECT_EQ(a.uuid_text(), "16af139b-9d14-482f-9805-3feb72ae0cec");
    EXPECT_EQ(a.packets_sent, 0x010203U);
    EXPECT_EQ(a.serial_text(), "03010401050903");
    EXPECT_EQ(a.ip_version, 0x2606);
    EXPECT_EQ(a.fpga_crc, 0x5AA5);
    EXPECT_EQ(a.ptp_seconds, 0x65432100U);
    EXPECT_EQ(a.ptp_nanoseconds, 999'999'999U);
    EXPECT_EQ(a.sequence, 0x1234);
    EXPECT_EQ(a.ptp_status, 7);
    EXPECT_EQ(a.board_name(), "HSB board");
}

TEST(HsbAnnouncement, the_first_format_has_a_board_number_and_a_text_instead) {
    raw_announcement raw(1);
    raw.put_vendor(8, {4, 0});
    raw.put_vendor(10, {'r', 'e', 'v', '1'});
    raw.put_vendor(30, {0x0A});
    raw.put_vendor(37, {0x10, 0x25, 1, 0});
    const auto a = read(raw);
    EXPECT_EQ(a.board_id, 4);
    EXPECT_EQ(a.board_name(), "Microchip PolarFire");
    EXPECT_EQ(a.board_text[3], '1');
    EXPECT_EQ(a.uuid_text(), "");
    EXPECT_EQ(a.serial_text(), "0a000000000000");
    EXPECT_EQ(a.ip_version, 0x2510);
    EXPECT_EQ(a.sequence, 0);
}

TEST(HsbAnnouncement, what_is_written_stands_where_the_vendor_has_it) {
    const auto raw = second_format();
    announcement_bytes out{};
    encode_announcement(read(raw), out);
    EXPECT_EQ(out, raw.bytes);
}

TEST(HsbAnnouncement, boards_known_by_number_say_how_many_interfaces_a_sensor_has) {
    hsb_announcement a;
    a.format = 1;
    std::vector<int> interfaces;
    for (const std::uint16_t id : {2, 3, 4, 5, 7, 10, 99}) {
        a.board_id = id;
        interfaces.push_back(a.sifs_per_sensor());
    }
    EXPECT_THAT(interfaces, ElementsAre(2, 2, 1, 2, 1, 1, 2));
    a.format = 2; // the number is another kind of number there
    a.board_id = 4;
    EXPECT_EQ(a.sifs_per_sensor(), 2);
}

TEST(HsbAnnouncement, addresses_of_registers_are_derived_as_the_vendors_host_does) {
    hsb_announcement a;
    a.data_plane = 1;
    const auto path = hsb_data_path::of(a.sensor());
    EXPECT_EQ(path.hif_address, 0x02010300U);
    EXPECT_EQ(path.vp_address, 0x1080U);
    EXPECT_EQ(path.sif_address, 0x01010000U);
    EXPECT_EQ(path.vp_mask, 4U);
    EXPECT_EQ(hsb_data_path::of(a.sensor(0)), (hsb_data_path{0x02010300, 0x1000, 0x01000000, 1}));
    EXPECT_EQ(hsb_data_path::of({}), hsb_data_path{});
    EXPECT_TRUE((hsb_sensor{0, 15, 2}.exists()));
    EXPECT_FALSE((hsb_sensor{0, 16, 2}.exists()));
}

TEST(HsbAnnouncement, the_length_byte_does_not_matter_as_the_vendors_emulator_writes_another) {
    auto raw = second_format();
    raw.put_vendor(1, {0x04});
    EXPECT_EQ(read(raw).ip_version, 0x2606);
}

TEST(HsbAnnouncement, what_lies_behind_the_datagrams_end_is_zero) {
    const auto raw = second_format();
    const auto a = std::get<hsb_announcement>(parse_announcement(raw.view(236 + 41)));
    EXPECT_EQ(a.fpga_crc, 0x5AA5);
    EXPECT_EQ(a.ptp_seconds, 0U);
    EXPECT_EQ(a.sequence, 0);
}

TEST(HsbAnnouncement, each_defect_has_its_name) {
    EXPECT_EQ(defect(second_format().view(236 + 40)), hsb_announcement_defect::too_short);
    EXPECT_EQ(defect({}), hsb_announcement_defect::too_short);
    auto reply = second_format();
    reply.put(0, {2});
    EXPECT_EQ(defect(reply.view()), hsb_announcement_defect::not_a_request);
    auto other = second_format();
    other.put_vendor(5, {'B'});
    EXPECT_EQ(defect(other.view()), hsb_announcement_defect::other_vendor);
    auto tag = second_format();
    tag.put_vendor(0, {0xFF});
    EXPECT_EQ(defect(tag.view()), hsb_announcement_defect::other_vendor);
    for (const int format : {0, 3, 255}) {
        auto unknown = second_format();
        unknown.put_vendor(7, {format});
        EXPECT_EQ(defect(unknown.view()), hsb_announcement_defect::unknown_version) << format;
    }
}

TEST(HsbAnnouncement, every_shorter_datagram_is_read_or_refused_in_order) {
    for (const std::uint8_t format : {std::uint8_t{1}, std::uint8_t{2}}) {
        auto raw = second_format();
        raw.put_vendor(7, {format});
        for (std::size_t n = 0; n <= raw.bytes.size(); ++n) {
            const auto broken = broken_promise_of_announcement(raw.view(n));
            ASSERT_FALSE(broken) << *broken << " at " << n;
        }
    }
}

TEST(HsbAnnouncement, random_damage_breaks_no_promise) {
    std::mt19937 random(46);
    std::uniform_int_distribution<std::size_t> where(0, hsb_announcement_bytes - 1), length(0, 400);
    std::uniform_int_distribution<int> value(0, 255);
    for (int round = 0; round < 20'000; ++round) {
        auto raw = second_format();
        for (int flips = value(random) % 8; flips > 0; --flips) raw.put(where(random), {value(random)});
        raw.put_vendor(7, {value(random) % 4});
        const auto broken = broken_promise_of_announcement(raw.view());
        ASSERT_FALSE(broken) << *broken << " in round " << round;
    }
    for (int round = 0; round < 2'000; ++round) {
        std::vector<std::byte> noise(length(random));
        for (auto& b : noise) b = static_cast<std::byte>(value(random));
        ASSERT_FALSE(broken_promise_of_announcement(noise));
    }
}

} // namespace
} // namespace rocio::fpga
