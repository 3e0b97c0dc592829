#include "rc_script.hpp"

#include <gtest/gtest.h>

// What a requester sends and what it makes of acknowledgements. Every script is replayed with each packet
// lost.

namespace rocio::test {
namespace {

using transport::queue_pair_state;
using namespace std::chrono_literals;

void with_immediate(send_request& r) {
    r.op = opcode::send_with_immediate;
    r.immediate = 0xA0B0C001;
}

TEST(rc_requester, sends_a_short_message_as_only_and_completes_on_its_acknowledgement) {
    play(rts_qp()
             .posts_send(1, 10)
             .sends(send_only(0).carrying(1, 0, 10).asking())
             .completes_nothing()
             .receives(ack(0, 1))
             .completes(sent(1))
             .sends_nothing()
             .has_no_deadline());
}

TEST(rc_requester, sends_an_empty_message_as_one_packet) {
    play(rts_qp().posts_send(1, 0).sends(send_only(0).asking()).receives(ack(0, 1)).completes(sent(1)));
}

TEST(rc_requester, cuts_a_message_into_first_middle_last) {
    play(rts_qp()
             .posts_send(1, 600)
             .sends(send_first(0).carrying(1, 0, 256))
             .sends(send_middle(1).carrying(1, 256, 256))
             .sends(send_last(2).carrying(1, 512, 88).asking())
             .receives(ack(2, 1))
             .completes(sent(1)));
}

TEST(rc_requester, ends_a_multiple_of_the_mtu_with_a_full_last) {
    play(rts_qp()
             .posts_send(1, 512)
             .sends(send_first(0).carrying(1, 0, 256))
             .sends(send_last(1).carrying(1, 256, 256).asking())
             .receives(ack(1, 1))
             .completes(sent(1)));
}

TEST(rc_requester, puts_the_immediate_on_the_last_packet_only) {
    play(rts_qp()
             .posts_send(1, 300, with_immediate)
             .posts_send(2, 4, with_immediate)
             .sends(send_first(0).carrying(1, 0, 256))
             .sends(send_last_with_immediate(1, 0xA0B0C001).carrying(1, 256, 44))
             .sends(send_only_with_immediate(2, 0xA0B0C001).carrying(2, 0, 4).asking())
             .receives(ack(2, 2))
             .completes(sent(1))
             .completes(sent(2)));
}

TEST(rc_requester, sets_the_solicited_event_on_the_last_packet_only) {
    play(rts_qp()
             .posts_send(1, 300, [](send_request& r) { r.solicited = true; })
             .sends(send_first(0).carrying(1, 0, 256))
             .sends(send_last(1).carrying(1, 256, 44).asking().soliciting())
             .receives(ack(1, 1))
             .completes(sent(1)));
}

TEST(rc_requester, asks_on_the_last_packet_of_a_burst_and_one_acknowledgement_completes_all) {
    play(rts_qp()
             .posts_send(1, 10)
             .posts_send(2, 300)
             .posts_send(3, 20)
             .sends(send_only(0).carrying(1, 0, 10))
             .sends(send_first(1).carrying(2, 0, 256))
             .sends(send_last(2).carrying(2, 256, 44))
             .sends(send_only(3).carrying(3, 0, 20).asking())
             .receives(ack(3, 3))
             .completes(sent(1))
             .completes(sent(2))
             .completes(sent(3)));
}

TEST(rc_requester, asks_again_for_what_is_posted_after_a_burst) {
    play(rts_qp()
             .posts_send(1, 10)
             .sends(send_only(0).carrying(1, 0, 10).asking())
             .posts_send(2, 10)
             .sends(send_only(1).carrying(2, 0, 10).asking())
             .receives(ack(0, 1))
             .completes(sent(1))
             .completes_nothing()
             .receives(ack(1, 2))
             .completes(sent(2)));
}

TEST(rc_requester, completes_unsignalled_sends_silently) {
    play(rts_qp()
             .posts_send(1, 10, [](send_request& r) { r.signalled = false; })
             .posts_send(2, 10)
             .sends(send_only(0).carrying(1, 0, 10))
             .sends(send_only(1).carrying(2, 0, 10).asking())
             .receives(ack(1, 2))
             .completes(sent(2)));
}

TEST(rc_requester, sends_inlined_bytes_as_they_were_when_posted) {
    auto copied = message_bytes(1, 0, 64);
    play(rts_qp()
             .does([&](rc_endpoint&) { copied = message_bytes(1, 0, 64); })
             .posts_send(1, 0,
                         [&](send_request& r) {
                             copied = message_bytes(1, 0, 64);
                             r.inlined = true;
                             r.inline_data = copied;
                         })
             .does([&](rc_endpoint&) { std::fill(copied.begin(), copied.end(), std::byte{0xEE}); })
             .sends(send_only(0).carrying(1, 0, 64).asking())
             .receives(ack(0, 1))
             .completes(sent(1)));
}

TEST(rc_requester, needs_no_region_for_an_empty_or_an_inlined_send) {
    static const auto text = message_bytes(1, 0, 8);
    play(rts_qp()
             .posts_send(1, 0,
                         [](send_request& r) {
                             r.inlined = true;
                             r.inline_data = text;
                         })
             .posts_send(2, 0, [](send_request& r) { r.buffer = {}; })
             .sends(send_only(0).carrying(1, 0, 8))
             .sends(send_only(1).asking())
             .receives(ack(1, 2))
             .completes(sent(1))
             .completes(sent(2)));
}

TEST(rc_requester, takes_an_acknowledgement_in_mid_message_as_progress_but_completes_nothing) {
    play(rts_qp()
             .posts_send(1, 600)
             .sends(send_first(0).carrying(1, 0, 256))
             .sends(send_middle(1).carrying(1, 256, 256))
             .sends(send_last(2).carrying(1, 512, 88).asking())
             .receives(ack(1, 0))
             .completes_nothing()
             .receives(ack(2, 1))
             .completes(sent(1)));
}

TEST(rc_requester, goes_back_to_the_packet_of_a_sequence_nak_without_a_new_first) {
    play(rts_qp()
             .posts_send(1, 600)
             .sends(send_first(0).carrying(1, 0, 256))
             .sends(send_middle(1).carrying(1, 256, 256))
             .sends(send_last(2).carrying(1, 512, 88).asking())
             .receives(sequence_nak(1, 0))
             .sends(send_middle(1).carrying(1, 256, 256))
             .sends(send_last(2).carrying(1, 512, 88).asking())
             .receives(ack(2, 1))
             .completes(sent(1)));
}

TEST(rc_requester, takes_a_sequence_nak_as_acknowledgement_of_everything_before) {
    play(rts_qp()
             .posts_send(1, 10)
             .posts_send(2, 20)
             .posts_send(3, 30)
             .sends(send_only(0).carrying(1, 0, 10))
             .sends(send_only(1).carrying(2, 0, 20))
             .sends(send_only(2).carrying(3, 0, 30).asking())
             .receives(sequence_nak(2, 2))
             .completes(sent(1))
             .completes(sent(2))
             .sends(send_only(2).carrying(3, 0, 30).asking())
             .receives(ack(2, 3))
             .completes(sent(3)));
}

TEST(rc_requester, goes_back_once_for_repeated_sequence_naks) {
    play(rts_qp()
             .posts_send(1, 10)
             .posts_send(2, 20)
             .sends(send_only(0).carrying(1, 0, 10))
             .sends(send_only(1).carrying(2, 0, 20).asking())
             .receives(sequence_nak(0, 0))
             .sends(send_only(0).carrying(1, 0, 10))
             .sends(send_only(1).carrying(2, 0, 20).asking())
             .receives(sequence_nak(0, 0))
             .sends_nothing()
             .receives(ack(1, 2))
             .completes(sent(1))
             .completes(sent(2)));
}

TEST(rc_requester, goes_back_again_for_a_sequence_nak_after_progress) {
    play(rts_qp()
             .posts_send(1, 10)
             .posts_send(2, 20)
             .sends(send_only(0).carrying(1, 0, 10))
             .sends(send_only(1).carrying(2, 0, 20).asking())
             .receives(sequence_nak(0, 0))
             .sends(send_only(0).carrying(1, 0, 10))
             .sends(send_only(1).carrying(2, 0, 20).asking())
             .receives(sequence_nak(1, 1))
             .completes(sent(1))
             .sends(send_only(1).carrying(2, 0, 20).asking())
             .receives(ack(1, 2))
             .completes(sent(2)));
}

TEST(rc_requester, skips_what_an_acknowledgement_covers_while_it_goes_back) {
    play(rts_qp()
             .posts_send(1, 10)
             .posts_send(2, 20)
             .posts_send(3, 30)
             .sends(send_only(0).carrying(1, 0, 10))
             .sends(send_only(1).carrying(2, 0, 20))
             .sends(send_only(2).carrying(3, 0, 30).asking())
             .receives(sequence_nak(0, 0))
             .sends(send_only(0).carrying(1, 0, 10))
             .receives(ack(1, 2))
             .completes(sent(1))
             .completes(sent(2))
             .sends(send_only(2).carrying(3, 0, 30).asking())
             .receives(ack(2, 3))
             .completes(sent(3)));
}

TEST(rc_requester, ignores_credits_and_message_sequence_numbers) {
    play(rts_qp()
             .posts_send(1, 10)
             .sends(send_only(0).carrying(1, 0, 10).asking())
             .receives(answer(0, {0x00, 0xABCDEF}))
             .completes(sent(1)));
}

TEST(rc_requester, ignores_an_acknowledgement_of_a_packet_that_was_never_sent) {
    play(rts_qp()
             .posts_send(1, 10)
             .sends(send_only(0).carrying(1, 0, 10).asking())
             .receives(ack(1, 2))
             .receives(sequence_nak(1, 1))
             .completes_nothing()
             .does([](rc_endpoint& e) { EXPECT_EQ(e.qp().counters().ignored_packets, 2U); })
             .receives(ack(0, 1))
             .completes(sent(1)));
}

TEST(rc_requester, ignores_acknowledgements_it_has_had_and_older_ones) {
    play(rts_qp()
             .posts_send(1, 10)
             .sends(send_only(0).carrying(1, 0, 10).asking())
             .receives(ack(0, 1))
             .completes(sent(1))
             .receives(ack(0, 1))
             .receives(ack(0xFFFFF0, 1))
             .receives(nak(0, wire::nak_code::remote_access_error, 1))
             .is_in(queue_pair_state::ready_to_send)
             .does([](rc_endpoint& e) { EXPECT_EQ(e.qp().counters().ignored_packets, 3U); })
             .posts_send(2, 10)
             .sends(send_only(1).carrying(2, 0, 10).asking())
             .receives(ack(1, 2))
             .completes(sent(2)));
}

TEST(rc_requester, ignores_reserved_syndromes) {
    auto script = rts_qp().posts_send(1, 10).sends(send_only(0).carrying(1, 0, 10).asking());
    for (const std::uint8_t syndrome : {0x40, 0x5F, 0x65, 0x7F, 0x80, 0xA0, 0xC0, 0xFF})
        script.receives(answer(0, {syndrome, 1}));
    play(script.completes_nothing()
             .is_in(queue_pair_state::ready_to_send)
             .does([](rc_endpoint& e) { EXPECT_EQ(e.qp().counters().ignored_packets, 8U); })
             .receives(ack(0, 1))
             .completes(sent(1)));
}

TEST(rc_requester, offers_the_same_packets_until_the_link_took_them) {
    auto e = rts_endpoint();
    e->send(1, 600);
    transport::packet_out out[8];
    for (int i = 0; i < 3; ++i) {
        ASSERT_EQ(e->qp().next_packets(out, e->now()), 3U);
        EXPECT_EQ(encode(out[0])[0], std::byte{wire::rc::send_first.value()});
        e->qp().commit(0, e->now());
    }
    EXPECT_EQ(e->qp().counters().packets_sent, 0U);
    EXPECT_EQ(e->qp().next_deadline(), transport::never);
    ASSERT_EQ(e->qp().next_packets(out, e->now()), 3U);
    e->qp().commit(1, e->now());
    const auto rest = e->take_packets();
    ASSERT_EQ(rest.size(), 2U);
    EXPECT_EQ(rest[0].text(), send_middle(1).carrying(1, 256, 256).text());
    EXPECT_EQ(rest[1].text(), send_last(2).carrying(1, 512, 88).asking().text());
}

TEST(rc_requester, cannot_commit_an_offer_that_a_packet_has_overtaken) {
    auto e = rts_endpoint();
    e->send(1, 10);
    e->take_packets();
    e->send(2, 10);
    transport::packet_out out[8];
    ASSERT_EQ(e->qp().next_packets(out, e->now()), 1U);
    e->deliver(ack(0, 1));
    e->qp().commit(1, e->now());
    const auto again = e->take_packets();
    ASSERT_EQ(again.size(), 1U);
    EXPECT_EQ(again[0].text(), send_only(1).carrying(2, 0, 10).asking().text());
}

TEST(rc_requester, gives_no_packets_into_no_room) {
    auto e = rts_endpoint();
    e->send(1, 10);
    EXPECT_EQ(e->qp().next_packets({}, e->now()), 0U);
    EXPECT_TRUE(e->qp().wants_to_send(e->now()));
}

TEST(rc_requester, counts_what_it_sends) {
    auto e = rts_endpoint();
    e->send(1, 600);
    e->take_packets();
    e->deliver(sequence_nak(1, 0));
    e->take_packets();
    e->deliver(ack(2, 1));
    const auto& c = e->qp().counters();
    EXPECT_EQ(c.packets_sent, 5U);
    EXPECT_EQ(c.bytes_sent, 600U + 256 + 88);
    EXPECT_EQ(c.retransmitted_packets, 2U);
    EXPECT_EQ(c.messages_sent, 1U);
    EXPECT_EQ(c.acks_received, 1U);
    EXPECT_EQ(c.sequence_naks_received, 1U);
    EXPECT_EQ(c.timeouts, 0U);
}

struct cut {
    mtu path_mtu;
    std::uint32_t length;
    std::size_t packets;
};

class rc_requester_cut : public testing::TestWithParam<cut> {};

TEST_P(rc_requester_cut, covers_the_message_without_gap_or_overlap) {
    rc_endpoint_options options;
    options.path_mtu = GetParam().path_mtu;
    auto e = rts_endpoint(options);
    ASSERT_EQ(e->send(1, GetParam().length).accepted, 1U);
    const auto packets = e->take_packets();
    ASSERT_EQ(packets.size(), GetParam().packets);
    std::vector<std::byte> all;
    for (const test_packet& p : packets) {
        EXPECT_EQ(p.op.starts(), &p == &packets.front());
        EXPECT_EQ(p.op.ends(), &p == &packets.back());
        EXPECT_TRUE(p.op.ends() || p.payload.size() == bytes(options.path_mtu));
        all.insert(all.end(), p.payload.begin(), p.payload.end());
    }
    EXPECT_EQ(all, message_bytes(1, 0, GetParam().length));
}

INSTANTIATE_TEST_SUITE_P(lengths, rc_requester_cut,
                         testing::Values(cut{mtu::b256, 0, 1}, cut{mtu::b256, 1, 1}, cut{mtu::b256, 255, 1},
                                         cut{mtu::b256, 256, 1}, cut{mtu::b256, 257, 2},
                                         cut{mtu::b512, 512, 1}, cut{mtu::b512, 1023, 2},
                                         cut{mtu::b512, 1024, 2}, cut{mtu::b512, 1025, 3},
                                         cut{mtu::b1024, 1024, 1}, cut{mtu::b1024, 5000, 5},
                                         cut{mtu::b2048, 2049, 2}, cut{mtu::b4096, 4095, 1},
                                         cut{mtu::b4096, 4096, 1}, cut{mtu::b4096, 4097, 2},
                                         cut{mtu::b4096, 40'960, 10}));

} // namespace
} // namespace rocio::test
