#include "rc_script.hpp"

#include <gtest/gtest.h>

// What a responder takes and answers. Every script is replayed with each packet lost.

namespace rocio::test {
namespace {

using transport::queue_pair_state;

TEST(rc_responder, takes_a_message_of_one_packet_and_acknowledges_it) {
    play(rts_qp()
             .posts_receive(1, 64)
             .receives(send_only(0).carrying(1, 0, 10).asking())
             .completes(received(1, 1, 10))
             .sends(ack(0, 1))
             .sends_nothing()
             .has_no_deadline());
}

TEST(rc_responder, takes_an_empty_message) {
    play(rts_qp()
             .posts_receive(1, 64)
             .receives(send_only(0).asking())
             .completes(received(1, 1, 0))
             .sends(ack(0, 1)));
}

TEST(rc_responder, takes_an_empty_message_into_an_empty_receive_without_a_region) {
    auto e = rts_endpoint();
    e->post(receive_request{wr(1), {}});
    e->deliver(send_only(0).asking());
    const auto c = e->poll();
    ASSERT_TRUE(c.has_value());
    EXPECT_EQ(c->id, wr(1));
    EXPECT_EQ(error_code(c->status), error_code(errc::success));
    EXPECT_EQ(c->byte_len, 0U);
}

TEST(rc_responder, puts_the_packets_of_a_message_one_behind_the_other) {
    play(rts_qp()
             .posts_receive(1, 1000)
             .receives(send_first(0).carrying(1, 0, 256))
             .receives(send_middle(1).carrying(1, 256, 256))
             .receives(send_last(2).carrying(1, 512, 88).asking())
             .completes(received(1, 1, 600))
             .sends(ack(2, 1)));
}

TEST(rc_responder, fills_a_receive_to_its_last_byte) {
    play(rts_qp()
             .posts_receive(1, 300)
             .receives(send_first(0).carrying(1, 0, 256))
             .receives(send_last(1).carrying(1, 256, 44).asking())
             .completes(received(1, 1, 300))
             .sends(ack(1, 1)));
}

TEST(rc_responder, hands_over_the_immediate) {
    play(rts_qp()
             .posts_receive(1, 300)
             .posts_receive(2, 300)
             .receives(send_first(0).carrying(1, 0, 256))
             .receives(send_last_with_immediate(1, 0x01020304).carrying(1, 256, 44))
             .receives(send_only_with_immediate(2, 0xFFFFFFFF).asking())
             .completes(received(1, 1, 300).with_immediate(0x01020304))
             .completes(received(2, 2, 0).with_immediate(0xFFFFFFFF))
             .sends(ack(2, 2)));
}

TEST(rc_responder, acknowledges_once_per_batch_with_the_newest_packet) {
    play(rts_qp()
             .posts_receive(1, 64)
             .posts_receive(2, 64)
             .posts_receive(3, 64)
             .receives(send_only(0).carrying(1, 0, 10).asking())
             .receives(send_only(1).carrying(2, 0, 10).asking())
             .receives(send_only(2).carrying(3, 0, 10).asking())
             .sends(ack(2, 3))
             .sends_nothing()
             .completes(received(1, 1, 10))
             .completes(received(2, 2, 10))
             .completes(received(3, 3, 10)));
}

TEST(rc_responder, acknowledges_in_mid_message_with_the_old_message_number) {
    play(rts_qp()
             .posts_receive(1, 600)
             .receives(send_first(0).carrying(1, 0, 256))
             .receives(send_middle(1).carrying(1, 256, 256).asking())
             .sends(ack(1, 0))
             .receives(send_last(2).carrying(1, 512, 88).asking())
             .sends(ack(2, 1))
             .completes(received(1, 1, 600)));
}

TEST(rc_responder, does_not_acknowledge_unasked_in_mid_message) {
    play(rts_qp()
             .posts_receive(1, 600)
             .receives(send_first(0).carrying(1, 0, 256))
             .sends_nothing()
             .receives(send_last(1).carrying(1, 256, 88).asking())
             .sends(ack(1, 1))
             .completes(received(1, 1, 344)));
}

TEST(rc_responder, acknowledges_every_message_of_a_peer_that_never_asks) {
    play(rts_qp()
             .posts_receive(1, 64)
             .posts_receive(2, 64)
             .receives(send_only(0).carrying(1, 0, 10))
             .sends(ack(0, 1))
             .receives(send_only(1).carrying(2, 0, 10))
             .sends(ack(1, 2))
             .completes(received(1, 1, 10))
             .completes(received(2, 2, 10)));
}

TEST(rc_responder, waits_to_be_asked_by_a_peer_that_asks) {
    play(rts_qp()
             .posts_receive(1, 64)
             .posts_receive(2, 64)
             .posts_receive(3, 64)
             .receives(send_only(0).carrying(1, 0, 10).asking())
             .sends(ack(0, 1))
             .receives(send_only(1).carrying(2, 0, 10))
             .sends_nothing()
             .receives(send_only(2).carrying(3, 0, 10).asking())
             .sends(ack(2, 3))
             .completes(received(1, 1, 10))
             .completes(received(2, 2, 10))
             .completes(received(3, 3, 10)));
}

TEST(rc_responder, acknowledges_duplicates_with_the_newest_packet_and_does_not_execute_them) {
    play(rts_qp()
             .posts_receive(1, 64)
             .posts_receive(2, 64)
             .posts_receive(3, 64)
             .receives(send_only(0).carrying(1, 0, 10).asking())
             .receives(send_only(1).carrying(2, 0, 10).asking())
             .sends(ack(1, 2))
             .receives(send_only(0).carrying(1, 0, 10))
             .sends(ack(1, 2))
             .receives(send_only(1).carrying(9, 0, 20).asking()) // other contents: still only a duplicate
             .receives(send_only(0).carrying(1, 0, 10).asking())
             .sends(ack(1, 2))
             .does([](rc_endpoint& e) { EXPECT_EQ(e.qp().counters().duplicates_received, 3U); })
             .completes(received(1, 1, 10))
             .completes(received(2, 2, 10))
             .completes_nothing());
}

TEST(rc_responder, takes_the_whole_half_ring_behind_as_duplicates_and_ahead_as_a_gap) {
    auto e = rts_endpoint();
    e->receive(1, 64);
    e->deliver(send_only(0x800000).carrying(1, 0, 10)); // expected - 2^23, which is + 2^23 as well
    EXPECT_EQ(e->qp().counters().duplicates_received, 1U);
    e->deliver(send_only(0xFFFFFF).carrying(1, 0, 10));
    EXPECT_EQ(e->qp().counters().duplicates_received, 2U);
    EXPECT_EQ(e->take_packets().size(), 1U);
    e->deliver(send_only(0x7FFFFF).carrying(1, 0, 10));
    EXPECT_EQ(e->qp().counters().out_of_sequence_received, 1U);
    const auto answers = e->take_packets();
    ASSERT_EQ(answers.size(), 1U);
    EXPECT_EQ(answers[0].text(), sequence_nak(0, 0).text());
    EXPECT_FALSE(e->poll().has_value());
}

TEST(rc_responder, answers_a_gap_with_one_nak_and_again_the_next_gap) {
    auto script = rts_qp();
    for (std::uint32_t n = 1; n <= 6; ++n) script.posts_receive(n, 64);
    play(script.receives(send_only(0).carrying(1, 0, 10))
             .sends(ack(0, 1))
             .receives(send_only(2).carrying(3, 0, 10))
             .sends(sequence_nak(1, 1))
             .receives(send_only(3).carrying(4, 0, 10).asking())
             .receives(send_only(4).carrying(5, 0, 10).asking())
             .sends_nothing()
             .receives(send_only(1).carrying(2, 0, 10).asking())
             .sends(ack(1, 2))
             .receives(send_only(3).carrying(4, 0, 10))
             .sends(sequence_nak(2, 2))
             .receives(send_only(2).carrying(3, 0, 10))
             .receives(send_only(3).carrying(4, 0, 10))
             .receives(send_only(4).carrying(5, 0, 10).asking())
             .sends(ack(4, 5))
             .completes(received(1, 1, 10))
             .completes(received(2, 2, 10))
             .completes(received(3, 3, 10))
             .completes(received(4, 4, 10))
             .completes(received(5, 5, 10)));
}

TEST(rc_responder, still_acknowledges_duplicates_behind_a_gap) {
    play(rts_qp()
             .posts_receive(1, 64)
             .posts_receive(2, 64)
             .posts_receive(3, 64)
             .receives(send_only(0).carrying(1, 0, 10).asking())
             .sends(ack(0, 1))
             .receives(send_only(2).carrying(3, 0, 10).asking())
             .sends(sequence_nak(1, 1))
             .receives(send_only(0).carrying(1, 0, 10).asking())
             .sends(ack(0, 1))
             .receives(send_only(1).carrying(2, 0, 10))
             .receives(send_only(2).carrying(3, 0, 10).asking())
             .sends(ack(2, 3))
             .completes(received(1, 1, 10))
             .completes(received(2, 2, 10))
             .completes(received(3, 3, 10)));
}

TEST(rc_responder, forgets_a_gap_that_closed_within_the_batch) {
    play(rts_qp()
             .posts_receive(1, 64)
             .posts_receive(2, 64)
             .receives(send_only(1).carrying(2, 0, 10))
             .receives(send_only(0).carrying(1, 0, 10))
             .receives(send_only(1).carrying(2, 0, 10).asking())
             .sends(ack(1, 2))
             .sends_nothing()
             .completes(received(1, 1, 10))
             .completes(received(2, 2, 10)));
}

TEST(rc_responder, tells_where_the_gap_is_now_when_packets_of_a_batch_were_swapped) {
    play(rts_qp()
             .posts_receive(1, 64)
             .posts_receive(2, 64)
             .receives(send_only(1).carrying(2, 0, 10).asking())
             .receives(send_only(0).carrying(1, 0, 10))
             .sends(sequence_nak(1, 1))
             .receives(send_only(1).carrying(2, 0, 10).asking())
             .sends(ack(1, 2))
             .completes(received(1, 1, 10))
             .completes(received(2, 2, 10)));
}

TEST(rc_responder, answers_before_it_sends) {
    play(rts_qp()
             .posts_receive(1, 64)
             .posts_send(1, 10)
             .receives(send_only(0).carrying(1, 0, 10).asking())
             .sends(ack(0, 1))
             .sends(send_only(0).carrying(1, 0, 10).asking())
             .completes(received(1, 1, 10))
             .receives(ack(0, 1))
             .completes(sent(1)));
}

TEST(rc_responder, receives_in_rtr_and_takes_no_acknowledgement_there) {
    auto e = rtr_endpoint();
    e->receive(1, 64);
    e->deliver(ack(0, 1));
    e->deliver(send_only(0).carrying(1, 0, 10).asking());
    const auto answers = e->take_packets();
    ASSERT_EQ(answers.size(), 1U);
    EXPECT_EQ(answers[0].text(), ack(0, 1).text());
    ASSERT_TRUE(e->poll().has_value());
    EXPECT_EQ(e->qp().counters().ignored_packets, 1U);
}

TEST(rc_responder, counts_messages_modulo_24_bits_and_what_it_received) {
    auto e = rts_endpoint();
    e->receive(1, 600);
    e->deliver(send_first(0).carrying(1, 0, 256));
    e->deliver(send_last(1).carrying(1, 256, 44).asking());
    e->take_packets();
    const auto& c = e->qp().counters();
    EXPECT_EQ(c.packets_received, 2U);
    EXPECT_EQ(c.bytes_received, 300U);
    EXPECT_EQ(c.messages_received, 1U);
    EXPECT_EQ(c.acks_sent, 1U);
    EXPECT_EQ(c.packets_sent, 1U);
}

TEST(rc_responder, ignores_reserved_bits_and_migration_of_the_header) {
    auto e = rts_endpoint();
    e->receive(1, 64);
    auto bytes = encode(send_only(0).carrying(1, 0, 8).asking(), our_number, e->options().receive_from);
    bytes[1] |= std::byte{0x40};
    bytes[4] = std::byte{0xC0};
    bytes[8] |= std::byte{0x7F};
    wire::packet_view view;
    ASSERT_EQ(wire::packet_view::parse(bytes, view), wire::malformed::none);
    e->deliver(view);
    EXPECT_TRUE(e->poll().has_value());
}

} // namespace
} // namespace rocio::test
