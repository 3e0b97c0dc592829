#include "rc_endpoint.hpp"

#include <gtest/gtest.h>

// How much is on its way, and when the requester asks for an acknowledgement.

namespace rocio::test {
namespace {

rc_endpoint_options with_window(transport::flow_window window) {
    rc_endpoint_options options;
    options.window = window;
    options.send_depth = 1024;
    return options;
}

std::vector<std::uint32_t> asking(const std::vector<test_packet>& packets) {
    std::vector<std::uint32_t> all;
    for (const test_packet& p : packets)
        if (p.ask) all.push_back(p.index);
    return all;
}

void post_many(rc_endpoint& e, std::uint32_t count, std::size_t length = 16) {
    for (std::uint32_t n = 0; n < count; ++n) ASSERT_EQ(e.send(n, length).accepted, 1U);
}

TEST(rc_window, stops_at_its_packets_and_asks_every_quarter) {
    auto e = rts_endpoint(with_window({}));
    post_many(*e, 300);
    const auto packets = e->take_packets();
    EXPECT_EQ(packets.size(), 128U);
    EXPECT_EQ(asking(packets), (std::vector<std::uint32_t>{31, 63, 95, 127}));
}

TEST(rc_window, lets_as_many_follow_as_are_acknowledged) {
    auto e = rts_endpoint(with_window({}));
    post_many(*e, 300);
    e->take_packets();
    e->deliver(ack(31, 32));
    const auto more = e->take_packets();
    EXPECT_EQ(more.size(), 32U);
    EXPECT_EQ(asking(more), (std::vector<std::uint32_t>{159}));
}

TEST(rc_window, counts_packets_of_one_long_message) {
    auto e = rts_endpoint(with_window({0, nullptr, 8}));
    e->send(1, 20 * 256);
    EXPECT_EQ(asking(e->take_packets()), (std::vector<std::uint32_t>{1, 3, 5, 7}));
    e->deliver(ack(3, 0));
    const auto more = e->take_packets();
    ASSERT_EQ(more.size(), 4U);
    EXPECT_EQ(more[0].text(), send_middle(8).carrying(1, 8 * 256, 256).text());
}

TEST(rc_window, works_with_one_packet) {
    auto e = rts_endpoint(with_window({0, nullptr, 1}));
    e->send(1, 600);
    for (std::uint32_t i = 0; i < 3; ++i) {
        const auto packets = e->take_packets();
        ASSERT_EQ(packets.size(), 1U);
        EXPECT_TRUE(packets[0].ask);
        e->deliver(ack(i, 0));
    }
    EXPECT_TRUE(e->poll().has_value());
}

std::uint32_t thousand_each(std::uint32_t) {
    return 1000;
}
std::uint32_t datagram_size(std::uint32_t datagram_bytes) {
    return datagram_bytes;
}

TEST(rc_window, stops_at_its_capacity_and_asks_every_quarter_of_it) {
    auto e = rts_endpoint(with_window({8000, thousand_each, 128}));
    post_many(*e, 20);
    const auto packets = e->take_packets();
    EXPECT_EQ(packets.size(), 8U);
    EXPECT_EQ(asking(packets), (std::vector<std::uint32_t>{1, 3, 5, 7}));
    e->deliver(ack(1, 2));
    EXPECT_EQ(e->take_packets().size(), 2U);
    e->deliver(ack(9, 10));
    EXPECT_EQ(e->take_packets().size(), 8U);
}

TEST(rc_window, costs_the_whole_datagram_and_gets_all_of_it_back) {
    // FIRST and MIDDLE 12 + 256 + 4, LAST 12 + 88 + 4: 648 a message.
    auto e = rts_endpoint(with_window({2 * 648, datagram_size, 128}));
    post_many(*e, 80, 600);
    for (std::uint32_t round = 0; round < 20; ++round) {
        const auto packets = e->take_packets();
        ASSERT_EQ(packets.size(), 6U) << "round " << round;
        e->deliver(ack(packets[1].index, 0)); // in mid-message
        ASSERT_EQ(e->take_packets().size(), 2U);
        e->deliver(ack(packets[5].index, 0));
        ASSERT_EQ(e->take_packets().size(), 4U);
        e->deliver(ack(packets[5].index + 6, 0));
    }
}

TEST(rc_window, counts_immediate_and_padding) {
    // 12 + 4 + 5 + 3 + 4
    auto e = rts_endpoint(with_window({3 * 28, datagram_size, 128}));
    for (std::uint32_t n = 0; n < 5; ++n) {
        send_request r = e->make_send(n, 5);
        r.op = opcode::send_with_immediate;
        e->post(r);
    }
    EXPECT_EQ(e->take_packets().size(), 3U);
}

TEST(rc_window, always_lets_one_packet_pass) {
    auto e = rts_endpoint(with_window({10, datagram_size, 128}));
    e->send(1, 600);
    for (std::uint32_t i = 0; i < 3; ++i) {
        ASSERT_EQ(e->take_packets().size(), 1U);
        e->deliver(ack(i, 0));
    }
    EXPECT_TRUE(e->poll().has_value());
}

TEST(rc_window, is_empty_again_after_going_back) {
    auto e = rts_endpoint(with_window({8000, thousand_each, 128}));
    post_many(*e, 20);
    e->take_packets();
    e->deliver(sequence_nak(3, 3));
    const auto again = e->take_packets();
    ASSERT_EQ(again.size(), 8U);
    EXPECT_EQ(again[0].index, 3U);
    e->deliver(ack(10, 11));
    EXPECT_EQ(e->take_packets().size(), 8U);
}

TEST(rc_window, counts_the_quarter_anew_after_going_back) {
    auto e = rts_endpoint(with_window({}));
    post_many(*e, 300);
    for (int i = 0; i < 10; ++i) e->take_packet();
    e->deliver(sequence_nak(0, 0));
    EXPECT_EQ(asking(e->take_packets()), (std::vector<std::uint32_t>{31, 63, 95, 127}));
}

TEST(rc_window, asks_for_what_the_link_left_over) {
    auto e = rts_endpoint(with_window({}));
    post_many(*e, 4);
    transport::packet_out out[8];
    ASSERT_EQ(e->qp().next_packets(out, e->now()), 4U);
    e->qp().commit(2, e->now());
    EXPECT_EQ(asking(e->take_packets()), (std::vector<std::uint32_t>{3}));
}

TEST(rc_window, gives_long_bursts_in_pieces_without_asking_in_between) {
    rc_endpoint_options options = with_window({0, nullptr, 4096});
    auto e = rts_endpoint(options);
    post_many(*e, 200);
    transport::packet_out out[256];
    std::size_t total = 0;
    while (const std::size_t n = e->qp().next_packets(out, e->now())) {
        EXPECT_LE(n, 64U);
        for (std::size_t i = 0; i < n; ++i) {
            const bool ask = (out[i].header.bytes()[8] & std::byte{0x80}) != std::byte{0};
            EXPECT_EQ(ask, total + i == 199);
        }
        e->qp().commit(n, e->now());
        total += n;
    }
    EXPECT_EQ(total, 200U);
}

} // namespace
} // namespace rocio::test
