#include "hsb_fixture.hpp"

#include <rocio/fpga/hsb_channel_config.hpp>
#include <rocio/types/hsb_immediate.hpp>

namespace rocio::fpga {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

class HsbLimits : public hsb_programs {
  protected:
    hsb_stream_config c = stream();
    std::string refused(std::uint16_t version = 0x2606) const {
        const auto e = validate(c, version);
        if (!e) return "taken";
        EXPECT_EQ(e.code, errc::invalid_argument);
        return e.text;
    }
};

TEST_F(HsbLimits, a_version_below_0x2510_is_not_supported) {
    EXPECT_EQ(validate(c, 0x250F).code, errc::not_supported);
    EXPECT_THAT(validate(c, 0x250F).text, HasSubstr("0x250f, supported are 0x2510"));
    EXPECT_FALSE(validate(c, 0x2510));
    EXPECT_EQ(hsb_layout_of(0x250F), std::nullopt);
    EXPECT_EQ(hsb_layout_of(0x2510), hsb_layout::four_buffers);
    EXPECT_EQ(hsb_layout_of(0x2601), hsb_layout::four_buffers);
    EXPECT_EQ(hsb_layout_of(0x2602), hsb_layout::paged);
    EXPECT_EQ(hsb_layout_of(0xFFFF), hsb_layout::paged);
}

TEST_F(HsbLimits, memory_and_pages_are_multiples_of_128) {
    c.frame_memory = 64;
    EXPECT_THAT(refused(), HasSubstr("frame_memory is 0x0000000000000040, allowed is a multiple of 128"));
    c.frame_memory = 128;
    EXPECT_EQ(refused(), "taken");
    c.page_size += 64;
    EXPECT_THAT(refused(), HasSubstr("page_size is 1216, allowed is a multiple of 128"));
}

TEST_F(HsbLimits, a_page_holds_frame_and_metadata) {
    c.page_size = 1024;
    EXPECT_THAT(refused(), HasSubstr("page_size is 1024, allowed is 1152 or more for frames of 1000 bytes"));
    c.frame_size = 1024;
    c.page_size = 1152;
    EXPECT_EQ(refused(), "taken");
    c.frame_size = 1025;
    EXPECT_THAT(refused(), HasSubstr("1280 or more"));
    c.frame_size = 128; // so the vendor's rule has it
    c.page_size = 128;
    EXPECT_EQ(refused(), "taken");
    c.frame_size = 129;
    EXPECT_THAT(refused(), HasSubstr("384 or more"));
    c.frame_size = 0;
    EXPECT_THAT(refused(), HasSubstr("frame_size is 0"));
}

TEST_F(HsbLimits, pages_are_1_to_4096_or_4) {
    for (const std::uint32_t pages : {1U, 4096U}) {
        c.pages = pages;
        EXPECT_EQ(refused(), "taken") << pages;
    }
    for (const std::uint32_t pages : {0U, 4097U}) {
        c.pages = pages;
        EXPECT_THAT(refused(), HasSubstr("pages is " + std::to_string(pages) + ", allowed is 1 to 4096"));
    }
    c.pages = 4;
    EXPECT_EQ(refused(0x2601), "taken");
    c.pages = 5;
    EXPECT_THAT(refused(0x2601), HasSubstr("pages is 5, allowed is 1 to 4 (4096 from IP version 0x2602"));
}

TEST_F(HsbLimits, the_end_of_the_pages_lies_below_512_gib) {
    const std::uint64_t end = std::uint64_t{1} << 39;
    c.frame_memory = end - 128 - std::uint64_t{c.page_size} * c.pages;
    EXPECT_EQ(refused(), "taken");
    c.frame_memory += 128;
    EXPECT_THAT(refused(), HasSubstr("0x0000008000000000, allowed is below"));
    c.frame_memory = ~std::uint64_t{127}; // beyond 64 bits
    EXPECT_THAT(refused(), HasSubstr("512 GiB"));
}

TEST_F(HsbLimits, pages_cross_no_multiple_of_8_gib) {
    const std::uint64_t border = std::uint64_t{1} << 33;
    c.frame_memory = border - std::uint64_t{c.page_size} * c.pages;
    EXPECT_EQ(refused(), "taken");
    c.frame_memory += 128;
    EXPECT_THAT(refused(), HasSubstr("crosses no multiple of 8 GiB"));
    EXPECT_EQ(refused(0x2510), "taken"); // each buffer has an address of its own there
    c.frame_memory = border;
    EXPECT_EQ(refused(), "taken");
}

TEST_F(HsbLimits, packets_are_whole_units_within_the_mtu) {
    const auto payload = [](std::uint32_t mtu) { return hsb_packet_payload(hsb_layout::paged, mtu); };
    EXPECT_EQ(payload(1500), 1408U);
    EXPECT_EQ(payload(4096), 3968U);
    EXPECT_EQ(payload(9000), 8832U);
    EXPECT_EQ(payload(74 + 128), 0U); // it must exceed that
    EXPECT_EQ(payload(74 + 129), 128U);
    EXPECT_EQ(payload(0), 0U);
    EXPECT_EQ(hsb_packet_payload(hsb_layout::four_buffers, 78 + 128), 0U);
    EXPECT_EQ(hsb_packet_payload(hsb_layout::four_buffers, 78 + 129), 128U);
    EXPECT_EQ(hsb_packet_payload(hsb_layout::paged, 9000, 4096), 4096U);
    EXPECT_EQ(hsb_packet_payload(hsb_layout::paged, 1500, 4096), 1408U);
    EXPECT_EQ(hsb_packet_payload(hsb_layout::paged, 1500, 1000), 896U);
}

TEST_F(HsbLimits, an_mtu_that_leaves_no_room_is_refused_with_the_least) {
    c.mtu = 202;
    EXPECT_THAT(refused(), HasSubstr("mtu is 202, allowed is more than 202"));
    EXPECT_THAT(refused(0x2510), HasSubstr("more than 206"));
    c.mtu = 203;
    EXPECT_EQ(refused(), "taken");
    c.longest_packet = 127;
    EXPECT_THAT(refused(), HasSubstr("longest_packet is 127, allowed is 0, or 128 or more"));
    c.longest_packet = 128;
    EXPECT_EQ(refused(), "taken");
}

TEST_F(HsbLimits, the_host_has_an_address_a_port_and_a_queue_pair) {
    c.host = {};
    EXPECT_THAT(refused(), HasSubstr("the host's address is 0.0.0.0"));
    c = stream();
    c.udp_port = 0;
    EXPECT_THAT(refused(), HasSubstr("udp_port is 0"));
    c = stream();
    c.queue_pair = 0x1000000; // bit 24 switches another protocol on
    EXPECT_THAT(refused(), HasSubstr("queue_pair is 16777216"));
    c.queue_pair = 0xFFFFFF;
    EXPECT_EQ(refused(), "taken");
    c.queue_pair = 0;
    EXPECT_THAT(refused(), HasSubstr("queue_pair is 0"));
}

// ---- What a channel makes of its configuration and our side's numbers

class HsbChannelConfig : public ::testing::Test {
  protected:
    HsbChannelConfig() {
        c.fpga = *gid::parse("192.168.0.2");
        c.frame_size = 1000;
        local.address = *gid::parse("192.168.0.101");
        local.queue_pair = qpn{0x1234};
        local.region = {0, 1 << 20, rkey{0x99}};
        local.path_mtu = mtu::b1024;
        local.udp_port = 4791;
    }
    hsb_stream_config made() {
        hsb_stream_config out;
        EXPECT_FALSE(make_stream(c, local, out));
        return out;
    }
    hsb_channel_config c;
    local_parameters local;
};

TEST_F(HsbChannelConfig, our_numbers_complete_it) {
    const auto s = made();
    EXPECT_EQ(s.queue_pair, 0x1234U);
    EXPECT_EQ(s.remote_key, 0x99U);
    EXPECT_EQ(s.host, (std::array<std::uint8_t, 4>{192, 168, 0, 101}));
    EXPECT_EQ(s.longest_packet, 1024U); // no packet may exceed our path MTU
    EXPECT_EQ(s.pages, 2U);
    EXPECT_EQ(s.page_size, 1152U);
    EXPECT_EQ(s.mac, (std::array<std::uint8_t, 6>{}));
}

TEST_F(HsbChannelConfig, pages_are_those_of_the_receiving_side_unless_given) {
    local.depth = 16;
    local.max_payload = 2048;
    EXPECT_EQ(made().pages, 16U);
    EXPECT_EQ(made().page_size, 2048U);
    c.pages = 3;
    c.page_size = 1280;
    EXPECT_EQ(made().pages, 3U);
    EXPECT_EQ(made().page_size, 1280U);
}

TEST_F(HsbChannelConfig, pages_beyond_our_region_are_refused) {
    local.region.length = 2 * 1152 - 1;
    hsb_stream_config out;
    const auto e = make_stream(c, local, out);
    EXPECT_EQ(e.code, errc::not_in_region);
    EXPECT_THAT(e.text, HasSubstr("2 pages of 1152 bytes need 2304 bytes, the registered region has 2303"));
}

TEST_F(HsbChannelConfig, the_mac_is_given_or_asked) {
    c.find_mac = [](const local_parameters& l) {
        EXPECT_EQ(l.queue_pair.value(), 0x1234U);
        return std::optional(std::array<std::uint8_t, 6>{1, 2, 3, 4, 5, 6});
    };
    EXPECT_EQ(made().mac[5], 6);
    c.mac = {9, 9, 9, 9, 9, 9};
    EXPECT_EQ(made().mac[5], 9);
}

TEST_F(HsbChannelConfig, an_fpga_sends_to_ipv4_only) {
    local.address = *gid::parse("fd00::1");
    hsb_stream_config out;
    EXPECT_EQ(make_stream(c, local, out).code, errc::invalid_argument);
    c.host = {10, 0, 0, 1};
    EXPECT_EQ(made().host[0], 10);
}

TEST_F(HsbChannelConfig, what_makes_no_sense_is_refused) {
    EXPECT_FALSE(validate(c));
    const auto refused = [&](auto change) {
        auto bad = c;
        change(bad);
        const auto e = validate(bad);
        EXPECT_EQ(e.code, errc::invalid_argument);
        return e.text;
    };
    EXPECT_THAT(refused([](auto& x) { x.fpga = {}; }), HasSubstr("the FPGA's address"));
    EXPECT_THAT(refused([](auto& x) { x.fpga = *gid::parse("fd00::2"); }), HasSubstr("fd00::2"));
    EXPECT_THAT(refused([](auto& x) { x.frame_size = 0; }), HasSubstr("frame_size"));
    EXPECT_THAT(refused([](auto& x) { x.step_deadline = 0ms; }), HasSubstr("step_deadline is 0 ms"));
    EXPECT_THAT(refused([](auto& x) { x.watch_interval = 2h; }), HasSubstr("watch_interval is 7200000 ms"));
    EXPECT_THAT(refused([](auto& x) { x.watch_failures = 0; }), HasSubstr("watch_failures"));
}

} // namespace
} // namespace rocio::fpga
