#include "hex.hpp"
#include "roce_capture.hpp"

#include <rocio/wire/icrc.hpp>
#include <rocio/wire/packet.hpp>

#include <gmock/gmock.h>

#include <string_view>

namespace {

using namespace rocio;
using test::captured_packet;
using test::from_hex;
using test::to_hex;

/// Whole Ethernet frames of rdma_rxe (Linux 6.1), with what they say, written out.
captured_packet packet_in(std::string_view frame) {
    const auto packet = test::roce_in(from_hex(frame));
    EXPECT_TRUE(packet.has_value());
    return packet.value_or(captured_packet{});
}

wire::packet_view view_of(const captured_packet& packet) {
    wire::packet_view view;
    EXPECT_EQ(wire::packet_view::parse(packet.bytes, view), wire::malformed::none);
    return view;
}

void expect_icrc_fits(const captured_packet& packet) {
    const wire::icrc_engine engine{packet.flow};
    EXPECT_TRUE(engine.check_exact(packet.bytes, packet.ip_id.value_or(0)));
    EXPECT_EQ(engine.solve_id(packet.bytes), packet.ip_id.value_or(0));
}

TEST(golden_packet, rc_send_only_of_3_bytes) {
    const auto packet =
        packet_in("020000000002020000000001080045000030d6e0400040114fda0a0000010a000002c2a412b7001c0000"
                  "0410ffff0000001a80000102030a1100643d4f8a");
    const auto view = view_of(packet);
    EXPECT_EQ(view.op(), wire::rc::send_only);
    EXPECT_EQ(view.bth().destination, qpn{0x1a});
    EXPECT_EQ(view.bth().sequence, psn{0x102});
    EXPECT_EQ(view.bth().pkey, 0xFFFF);
    EXPECT_TRUE(view.bth().ack_request);
    EXPECT_EQ(to_hex(view.payload()), "030a11");
    EXPECT_EQ(view.icrc(), 0x8A4F3D64U);
    expect_icrc_fits(packet);
    EXPECT_EQ(to_text(view), "RC_SEND_ONLY qp=0x00001a psn=0x000102 ack len=3 pad=1 icrc=0x8a4f3d64");
}

TEST(golden_packet, its_acknowledgement) {
    const auto packet =
        packet_in("020000000001020000000002080045000030ef584000401137620a0000020a000001c2a412b7001c0000"
                  "1100ffff0000001a000001021f000003a6cfae54");
    const auto view = view_of(packet);
    EXPECT_EQ(view.op(), wire::rc::acknowledge);
    EXPECT_FALSE(view.bth().ack_request);
    EXPECT_EQ(view.aeth(), wire::aeth::ack(3));
    EXPECT_TRUE(view.payload().empty());
    expect_icrc_fits(packet);
}

TEST(golden_packet, rnr_nak_with_timer_code_12) {
    const auto packet =
        packet_in("020000000001020000000002080045000030f1854000401135350a0000020a000001c9c412b7001c0000"
                  "1100ffff000000320000a0002c0000009402eee5");
    const auto view = view_of(packet);
    EXPECT_EQ(view.op(), wire::rc::acknowledge);
    EXPECT_EQ(view.bth().sequence, psn{0xA000});
    EXPECT_EQ(view.aeth(), wire::aeth::rnr(12, 0));
    expect_icrc_fits(packet);
}

TEST(golden_packet, rc_write_only_with_immediate_of_1_byte) {
    const auto packet =
        packet_in("020000000002020000000001080045000044d70a400040114f9c0a0000010a000002c34912b700300000"
                  "0b30ffff0000001d805555010000000020000000000002bd00000001a0b0c0010200000066be5176");
    const auto view = view_of(packet);
    EXPECT_EQ(view.op(), wire::rc::write_only_with_immediate);
    EXPECT_EQ(view.reth(), (wire::reth{0x20000000, rkey{0x2BD}, 1}));
    EXPECT_EQ(view.immediate().value, 0xA0B0C001U);
    EXPECT_EQ(to_hex(view.payload()), "02");
    expect_icrc_fits(packet);
}

TEST(golden_packet, uc_send_only_with_immediate_of_1_byte) {
    const auto packet =
        packet_in("020000000002020000000001080045000034d768400040114f4e0a0000010a000002c40012b700200000"
                  "2530ffff0000002000003001a0b0c001020000006ae5921e");
    const auto view = view_of(packet);
    EXPECT_EQ(view.op().name(), "UC_SEND_ONLY_WITH_IMMEDIATE");
    EXPECT_EQ(view.bth().sequence, psn{0x3001});
    EXPECT_EQ(view.immediate().value, 0xA0B0C001U);
    EXPECT_EQ(to_hex(view.payload()), "02");
    expect_icrc_fits(packet);
}

TEST(golden_packet, rc_read_request_of_1_byte) {
    const auto packet =
        packet_in("02000000000202000000000108004500003cd724400040114f8a0a0000010a000002c38412b700280000"
                  "0c00ffff0000001e807777010000000020010000000002bd000000013d03ccc1");
    const auto view = view_of(packet);
    EXPECT_EQ(view.op(), wire::rc::read_request);
    EXPECT_EQ(view.reth(), (wire::reth{0x20010000, rkey{0x2BD}, 1}));
    expect_icrc_fits(packet);
}

TEST(golden_packet, and_its_response) {
    const auto packet =
        packet_in("020000000001020000000002080045000034efbc4000401136fa0a0000020a000001c38412b700200000"
                  "1030ffff0000001e007777011f00000281000000b14199e2");
    const auto view = view_of(packet);
    EXPECT_EQ(view.op(), wire::rc::read_response_only);
    EXPECT_EQ(view.aeth(), wire::aeth::ack(2));
    EXPECT_EQ(to_hex(view.payload()), "81");
    expect_icrc_fits(packet);
}

TEST(golden_packet, ipv6_rc_send_only_of_1_byte) {
    const auto packet =
        packet_in("02000000000202000000000186dd60000000001c1140fd000000000000000000000000000001fd000000"
                  "000000000000000000000002c12112b7001c00000430ffff00000011800001010200000089c82caf");
    const auto view = view_of(packet);
    EXPECT_EQ(packet.flow.source, gid::parse("fd00::1"));
    EXPECT_EQ(view.op(), wire::rc::send_only);
    EXPECT_EQ(view.bth().destination, qpn{0x11});
    EXPECT_EQ(to_hex(view.payload()), "02");
    expect_icrc_fits(packet);
}

} // namespace
