#include "test_packet.hpp"
#include "transport/segmentation.hpp"

#include <gtest/gtest.h>

namespace rocio::transport {
namespace {

class segmentation_test : public testing::Test {
  protected:
    send_entry entry(std::uint32_t length, opcode op = opcode::send) {
        bytes = test::message_bytes(1, 0, length);
        send_entry e;
        e.op = op;
        e.buffer = {bytes.data(), length, {}};
        e.packets = cutter.packets_of(length);
        return e;
    }
    wire::bth cut(const send_entry& e, std::uint32_t packet, bool ask = false) {
        cutter.cut(e, packet, psn{0xFFFFFE}, ask, out);
        return wire::bth::parse(out.header.bytes().first<wire::bth::size>());
    }

    std::vector<std::byte> bytes;
    segmentation cutter{qpn{0x1234}, mtu::b512};
    packet_out out;
};

TEST_F(segmentation_test, counts_packets) {
    EXPECT_EQ(cutter.path_mtu(), 512U);
    EXPECT_EQ(cutter.packets_of(0), 1U);
    EXPECT_EQ(cutter.packets_of(1), 1U);
    EXPECT_EQ(cutter.packets_of(512), 1U);
    EXPECT_EQ(cutter.packets_of(513), 2U);
    EXPECT_EQ(cutter.packets_of(1024), 2U);
    EXPECT_EQ(cutter.packets_of(std::size_t{1} << 31), 1U << 22);
    EXPECT_EQ(segmentation(qpn{}, mtu::b256).packets_of(std::size_t{1} << 31), 1U << 23);
}

TEST_F(segmentation_test, fills_the_header) {
    const wire::bth h = cut(entry(13), 0, true);
    EXPECT_EQ(h.op, wire::rc::send_only);
    EXPECT_EQ(h.destination, qpn{0x1234});
    EXPECT_EQ(h.sequence, psn{0xFFFFFE});
    EXPECT_EQ(h.pad, 3);
    EXPECT_EQ(h.pkey, 0xFFFF);
    EXPECT_TRUE(h.ack_request);
    EXPECT_FALSE(h.solicited);
    EXPECT_EQ(out.header.size(), wire::bth::size);
    EXPECT_EQ(out.payload.data(), bytes.data());
    EXPECT_EQ(out.payload.size(), 13U);
}

TEST_F(segmentation_test, cuts_any_packet_at_any_time) {
    const send_entry e = entry(1100);
    EXPECT_EQ(cut(e, 2).op, wire::rc::send_last);
    EXPECT_EQ(out.payload.data(), bytes.data() + 1024);
    EXPECT_EQ(out.payload.size(), 76U);
    EXPECT_EQ(cut(e, 1).op, wire::rc::send_middle);
    EXPECT_EQ(out.payload.data(), bytes.data() + 512);
    EXPECT_EQ(cut(e, 0).op, wire::rc::send_first);
    EXPECT_EQ(out.payload.size(), 512U);
}

TEST_F(segmentation_test, puts_immediate_and_solicited_event_on_the_last_packet) {
    send_entry e = entry(600, opcode::send_with_immediate);
    e.immediate = 0x01020304;
    e.solicited = true;
    EXPECT_EQ(cut(e, 0).op, wire::rc::send_first);
    EXPECT_FALSE(cut(e, 0).solicited);
    EXPECT_EQ(cut(e, 1).op, wire::rc::send_last_with_immediate);
    EXPECT_TRUE(cut(e, 1).solicited);
    ASSERT_EQ(out.header.size(), wire::bth::size + wire::immediate::size);
    EXPECT_EQ(
        wire::immediate::parse(out.header.bytes().subspan<wire::bth::size, wire::immediate::size>()).value,
        0x01020304U);
    EXPECT_EQ(cut(entry(4, opcode::send_with_immediate), 0).op, wire::rc::send_only_with_immediate);
}

TEST_F(segmentation_test, knows_the_size_of_each_datagram) {
    const send_entry e = entry(601, opcode::send_with_immediate);
    for (std::uint32_t packet = 0; packet < 2; ++packet) {
        cut(e, packet);
        EXPECT_EQ(cutter.datagram_bytes(e, packet), test::encode(out).size());
        EXPECT_EQ(cutter.payload_bytes(e, packet), out.payload.size());
    }
}

} // namespace
} // namespace rocio::transport
