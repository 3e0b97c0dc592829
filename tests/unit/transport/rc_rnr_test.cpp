#include "rc_script.hpp"

#include <gtest/gtest.h>

// "Receiver not ready" from both sides. Every script is replayed with each packet lost.

namespace rocio::test {
namespace {

using transport::queue_pair_state;
using namespace std::chrono_literals;

rc_endpoint_options with_rnr_retry(std::uint8_t count) {
    rc_endpoint_options options;
    options.rnr_retry = count;
    return options;
}

// ---- The requester

TEST(rc_rnr_requester, waits_as_long_as_it_is_told_and_sends_again) {
    play(rts_qp()
             .posts_send(1, 10)
             .sends(send_only(0).carrying(1, 0, 10).asking())
             .receives(rnr_nak(0, 14, 0))
             .sends_nothing()
             .waits(1279us)
             .sends_nothing()
             .waits(1us)
             .sends(send_only(0).carrying(1, 0, 10).asking())
             .receives(ack(0, 1))
             .completes(sent(1))
             .has_no_deadline());
}

TEST(rc_rnr_requester, needs_no_deadline_call_to_end_the_wait) {
    auto e = rnr_waiting_endpoint();
    EXPECT_FALSE(e->qp().wants_to_send(e->now() + 1279us));
    const auto later = e->now() + 1280us;
    EXPECT_TRUE(e->qp().wants_to_send(later));
    transport::packet_out out[1];
    ASSERT_EQ(e->qp().next_packets(out, later), 1U);
    e->qp().commit(1, later);
    EXPECT_EQ(e->qp().next_deadline(), later + e->options().timeout.duration());
    e->deliver(rnr_nak(0, 14, 0));
    EXPECT_EQ(e->qp().counters().rnr_naks_received, 2U) << "a new answer, not a second one of the first wait";
}

TEST(rc_rnr_requester, has_the_end_of_the_wait_for_its_only_deadline) {
    auto e = rnr_waiting_endpoint();
    EXPECT_EQ(e->qp().next_deadline(), e->now() + 1280us);
    e->wait_for_deadline();
    EXPECT_EQ(e->qp().next_deadline(), transport::never);
    EXPECT_EQ(e->qp().counters().timeouts, 0U);
    EXPECT_EQ(e->take_packets().size(), 1U);
    EXPECT_EQ(e->qp().next_deadline(), e->now() + e->options().timeout.duration());
}

class rc_rnr_timer : public testing::TestWithParam<int> {};

TEST_P(rc_rnr_timer, is_waited_for_exactly) {
    const auto code = static_cast<std::uint8_t>(GetParam());
    auto e = rts_endpoint();
    e->send(1, 10);
    e->take_packets();
    e->deliver(rnr_nak(0, code, 0));
    const auto start = e->now();
    ASSERT_TRUE(e->wait_for_deadline());
    EXPECT_EQ(e->now() - start, rnr_timer(code).duration());
    EXPECT_GE(e->now() - start, 10us);
    EXPECT_EQ(e->take_packets().size(), 1U);
}

INSTANTIATE_TEST_SUITE_P(all_codes, rc_rnr_timer, testing::Range(0, 32));

TEST(rc_rnr_requester, takes_it_as_acknowledgement_of_everything_before) {
    play(rts_qp()
             .posts_send(1, 10)
             .posts_send(2, 20)
             .sends(send_only(0).carrying(1, 0, 10))
             .sends(send_only(1).carrying(2, 0, 20).asking())
             .receives(rnr_nak(1, 1, 1))
             .completes(sent(1))
             .waits_for_deadline()
             .sends(send_only(1).carrying(2, 0, 20).asking())
             .receives(ack(1, 2))
             .completes(sent(2)));
}

TEST(rc_rnr_requester, resumes_in_mid_message_when_told_so) {
    play(rts_qp()
             .posts_send(1, 600)
             .sends(send_first(0).carrying(1, 0, 256))
             .sends(send_middle(1).carrying(1, 256, 256))
             .sends(send_last(2).carrying(1, 512, 88).asking())
             .receives(rnr_nak(2, 1, 0))
             .waits_for_deadline()
             .sends(send_last(2).carrying(1, 512, 88).asking())
             .receives(ack(2, 1))
             .completes(sent(1)));
}

TEST(rc_rnr_requester, ignores_a_sequence_nak_during_the_wait) {
    play(rts_qp()
             .posts_send(1, 10)
             .posts_send(2, 20)
             .sends(send_only(0).carrying(1, 0, 10))
             .sends(send_only(1).carrying(2, 0, 20).asking())
             .receives(rnr_nak(0, 14, 0))
             .receives(sequence_nak(0, 0))
             .sends_nothing()
             .waits(1279us)
             .sends_nothing()
             .waits(1us)
             .sends(send_only(0).carrying(1, 0, 10).asking())
             .receives(ack(0, 1))
             .completes(sent(1))
             .sends(send_only(1).carrying(2, 0, 20).asking())
             .receives(ack(1, 2))
             .completes(sent(2)));
}

TEST(rc_rnr_requester, does_not_count_a_second_answer_during_the_wait) {
    play(rnr_waiting_qp(with_rnr_retry(1))
             .does([](rc_endpoint& e) { e.deliver(rnr_nak(0, 14, 0)); })
             .is_in(queue_pair_state::ready_to_send)
             .waits(1280us)
             .sends(send_only(0).carrying(1, 0, 10).asking())
             .receives(ack(0, 1))
             .completes(sent(1)));
}

TEST(rc_rnr_requester, ends_the_wait_when_the_packet_turns_out_to_be_acknowledged) {
    play(rnr_waiting_qp()
             .receives(ack(0, 1))
             .completes(sent(1))
             .has_no_deadline()
             .posts_send(2, 20)
             .sends(send_only(1).carrying(2, 0, 20).asking())
             .receives(ack(1, 2))
             .completes(sent(2)));
}

TEST(rc_rnr_requester, holds_back_what_is_posted_during_the_wait) {
    play(rnr_waiting_qp()
             .posts_send(2, 20)
             .sends_nothing()
             .waits(1280us)
             .sends(send_only(0).carrying(1, 0, 10).asking())
             .receives(ack(0, 1))
             .completes(sent(1))
             .sends(send_only(1).carrying(2, 0, 20).asking())
             .receives(ack(1, 2))
             .completes(sent(2)));
}

TEST(rc_rnr_requester, fails_after_its_retries) {
    auto script = rts_qp(with_rnr_retry(2)).posts_send(1, 10).posts_send(2, 10).posts_receive(3, 64);
    script.sends(send_only(0).carrying(1, 0, 10)).sends(send_only(1).carrying(2, 0, 10).asking());
    for (int retry = 0; retry < 2; ++retry)
        script.receives(rnr_nak(0, 1, 0))
            .waits_for_deadline()
            .sends(send_only(0).carrying(1, 0, 10).asking());
    play(script.receives(rnr_nak(0, 1, 0))
             .completes(failed(1, errc::rnr_retry_exceeded))
             .completes(flushed(2))
             .completes(flushed(3))
             .is_in(queue_pair_state::error)
             .sends_nothing()
             .has_no_deadline());
}

TEST(rc_rnr_requester, fails_at_once_without_retries) {
    play(rts_qp(with_rnr_retry(0))
             .posts_send(1, 10)
             .sends(send_only(0).carrying(1, 0, 10).asking())
             .receives(rnr_nak(0, 1, 0))
             .completes(failed(1, errc::rnr_retry_exceeded))
             .is_in(queue_pair_state::error));
}

TEST(rc_rnr_requester, gets_its_retries_back_with_every_progress) {
    auto e = rts_endpoint(with_rnr_retry(1));
    for (std::uint32_t n = 0; n < 20; ++n) {
        e->send(n, 10);
        e->take_packets();
        e->deliver(rnr_nak(n, 1, n));
        e->wait_for_deadline();
        ASSERT_EQ(e->take_packets().size(), 1U);
        e->deliver(ack(n, n + 1));
        ASSERT_EQ(e->poll_all().size(), 1U);
    }
    EXPECT_EQ(e->qp().counters().rnr_naks_received, 20U);
}

TEST(rc_rnr_requester, never_gives_up_with_seven_retries) {
    auto e = rnr_waiting_endpoint(10, with_rnr_retry(7));
    for (int i = 0; i < 1000; ++i) {
        e->wait_for_deadline();
        ASSERT_EQ(e->take_packets().size(), 1U);
        e->deliver(rnr_nak(0, 1, 0));
    }
    EXPECT_EQ(e->qp().state(), queue_pair_state::ready_to_send);
}

TEST(rc_rnr_requester, sends_one_packet_first_and_more_with_every_acknowledgement) {
    rc_endpoint_options options;
    options.timeout = ack_timeout(0);
    auto e = rts_endpoint(options);
    for (std::uint32_t n = 0; n < 20; ++n) e->send(n, 10);
    EXPECT_EQ(e->take_packets().size(), 20U);
    e->deliver(rnr_nak(0, 1, 0));
    e->wait_for_deadline();
    EXPECT_EQ(e->take_packets().size(), 1U);
    e->deliver(ack(0, 1));
    EXPECT_EQ(e->take_packets().size(), 2U);
    e->deliver(ack(2, 3));
    EXPECT_EQ(e->take_packets().size(), 4U);
    e->deliver(ack(6, 7));
    EXPECT_EQ(e->take_packets().size(), 8U);
}

// ---- The responder

TEST(rc_rnr_responder, answers_a_message_without_receive_with_its_timer_and_takes_it_later) {
    rc_endpoint_options options;
    options.min_rnr_timer = rnr_timer(20);
    play(rts_qp(options)
             .receives(send_only(0).carrying(1, 0, 10).asking())
             .sends(rnr_nak(0, 20, 0))
             .completes_nothing()
             .posts_receive(1, 64)
             .receives(send_only(0).carrying(1, 0, 10).asking())
             .sends(ack(0, 1))
             .completes(received(1, 1, 10)));
}

TEST(rc_rnr_responder, answers_every_early_repetition_anew) {
    play(rts_qp()
             .receives(send_only(0).carrying(1, 0, 10).asking())
             .sends(rnr_nak(0, 12, 0))
             .receives(send_only(0).carrying(1, 0, 10).asking())
             .sends(rnr_nak(0, 12, 0))
             .posts_receive(1, 64)
             .receives(send_only(0).carrying(1, 0, 10).asking())
             .sends(ack(0, 1))
             .completes(received(1, 1, 10)));
}

TEST(rc_rnr_responder, is_silent_about_what_follows_the_refused_packet) {
    play(rts_qp()
             .receives(send_first(0).carrying(1, 0, 256))
             .sends(rnr_nak(0, 12, 0))
             .receives(send_middle(1).carrying(1, 256, 256))
             .receives(send_last(2).carrying(1, 512, 88).asking())
             .sends_nothing()
             .posts_receive(1, 600)
             .receives(send_first(0).carrying(1, 0, 256))
             .receives(send_middle(1).carrying(1, 256, 256))
             .receives(send_last(2).carrying(1, 512, 88).asking())
             .sends(ack(2, 1))
             .completes(received(1, 1, 600)));
}

TEST(rc_rnr_responder, acknowledges_what_it_took_before_it_refuses) {
    play(rts_qp()
             .posts_receive(1, 64)
             .receives(send_only(0).carrying(1, 0, 10))
             .receives(send_only(1).carrying(2, 0, 10).asking())
             .sends(ack(0, 1))
             .sends(rnr_nak(1, 12, 1))
             .completes(received(1, 1, 10))
             .posts_receive(2, 64)
             .receives(send_only(1).carrying(2, 0, 10).asking())
             .sends(ack(1, 2))
             .completes(received(2, 2, 10)));
}

TEST(rc_rnr_responder, drops_a_refusal_that_was_overtaken_before_it_was_sent) {
    play(rts_qp()
             .receives(send_only(0).carrying(1, 0, 10).asking())
             .posts_receive(1, 64)
             .receives(send_only(0).carrying(1, 0, 10).asking())
             .sends(ack(0, 1))
             .sends_nothing()
             .completes(received(1, 1, 10)));
}

TEST(rc_rnr_responder, still_acknowledges_duplicates_while_it_is_not_ready) {
    play(rts_qp()
             .posts_receive(1, 64)
             .receives(send_only(0).carrying(1, 0, 10).asking())
             .sends(ack(0, 1))
             .completes(received(1, 1, 10))
             .receives(send_only(1).carrying(2, 0, 10).asking())
             .sends(rnr_nak(1, 12, 1))
             .receives(send_only(0).carrying(1, 0, 10).asking())
             .sends(ack(0, 1))
             .posts_receive(2, 64)
             .receives(send_only(1).carrying(2, 0, 10).asking())
             .sends(ack(1, 2))
             .completes(received(2, 2, 10)));
}

TEST(rc_rnr_responder, keeps_nothing_from_ten_thousand_refused_packets) {
    auto e = rts_endpoint();
    for (int i = 0; i < 10'000; ++i) {
        e->deliver(send_first(0).carrying(1, 0, 256));
        ASSERT_EQ(e->take_packets().size(), 1U);
    }
    EXPECT_EQ(e->qp().counters().rnr_naks_sent, 10'000U);
    e->receive(1, 256);
    e->deliver(send_only(0).carrying(1, 0, 256).asking());
    EXPECT_EQ(e->poll_all().size(), 1U);
}

} // namespace
} // namespace rocio::test
