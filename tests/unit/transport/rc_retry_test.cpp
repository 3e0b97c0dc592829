#include "rc_script.hpp"

#include <gtest/gtest.h>

// Acknowledgement timeout and retry count.

namespace rocio::test {
namespace {

using transport::queue_pair_state;
using namespace std::chrono_literals;

rc_endpoint_options with_retries(std::uint8_t count) {
    rc_endpoint_options options;
    options.retry_count = count;
    return options;
}

/// Takes packets and deadlines as they come, without an answer; gives how often the first packet was sent.
int copies_sent_to_a_silent_peer(rc_endpoint& e, int limit = 1000) {
    int copies = 0;
    while (copies < limit) {
        copies += !e.take_packets().empty();
        if (!e.wait_for_deadline()) break;
    }
    return copies;
}

TEST(rc_retry, sends_again_after_the_timeout_and_not_before) {
    play(rts_qp()
             .posts_send(1, 10)
             .sends(send_only(0).carrying(1, 0, 10).asking())
             .waits(67'108'863ns)
             .sends_nothing()
             .waits(1ns)
             .sends(send_only(0).carrying(1, 0, 10).asking())
             .receives(ack(0, 1))
             .completes(sent(1))
             .has_no_deadline());
}

TEST(rc_retry, resumes_in_mid_message_after_the_last_acknowledged_packet) {
    play(rts_qp()
             .posts_send(1, 600)
             .sends(send_first(0).carrying(1, 0, 256))
             .sends(send_middle(1).carrying(1, 256, 256))
             .sends(send_last(2).carrying(1, 512, 88).asking())
             .receives(ack(0, 0))
             .waits_for_deadline()
             .sends(send_middle(1).carrying(1, 256, 256).asking())
             .receives(ack(1, 0))
             .sends(send_last(2).carrying(1, 512, 88).asking())
             .receives(ack(2, 1))
             .completes(sent(1)));
}

TEST(rc_retry, learns_from_one_repeated_packet_that_only_the_acknowledgement_was_lost) {
    play(rts_qp()
             .posts_send(1, 10)
             .posts_send(2, 10)
             .posts_send(3, 10)
             .sends(send_only(0).carrying(1, 0, 10))
             .sends(send_only(1).carrying(2, 0, 10))
             .sends(send_only(2).carrying(3, 0, 10).asking())
             .waits_for_deadline()
             .sends(send_only(0).carrying(1, 0, 10).asking())
             .sends_nothing()
             .receives(ack(2, 3))
             .completes(sent(1))
             .completes(sent(2))
             .completes(sent(3)));
}

TEST(rc_retry, starts_the_timer_anew_with_every_progress) {
    auto e = rts_endpoint();
    e->send(1, 10);
    e->send(2, 10);
    e->take_packets();
    e->wait(60ms);
    e->deliver(ack(0, 1));
    EXPECT_EQ(e->qp().next_deadline(), e->now() + e->options().timeout.duration());
    e->wait(60ms);
    EXPECT_EQ(e->qp().counters().timeouts, 0U);
    e->deliver(ack(1, 2));
    EXPECT_EQ(e->qp().next_deadline(), transport::never);
}

TEST(rc_retry, does_not_start_the_timer_anew_when_more_is_sent) {
    auto e = rts_endpoint();
    e->send(1, 10);
    e->take_packets();
    const auto deadline = e->qp().next_deadline();
    e->wait(30ms);
    e->send(2, 10);
    e->take_packets();
    EXPECT_EQ(e->qp().next_deadline(), deadline);
}

TEST(rc_retry, has_no_timer_for_what_the_link_did_not_take) {
    auto e = rts_endpoint();
    e->send(1, 10);
    EXPECT_EQ(e->qp().next_deadline(), transport::never);
}

TEST(rc_retry, waits_for_ever_with_timeout_code_0) {
    rc_endpoint_options options;
    options.timeout = ack_timeout(0);
    auto e = rts_endpoint(options);
    e->send(1, 10);
    e->take_packets();
    EXPECT_EQ(e->qp().next_deadline(), transport::never);
    e->wait(1h);
    EXPECT_TRUE(e->take_packets().empty());
}

TEST(rc_retry, does_nothing_when_its_deadline_is_called_early) {
    auto e = rts_endpoint();
    e->send(1, 10);
    e->take_packets();
    e->qp().on_deadline(e->now());
    EXPECT_EQ(e->qp().counters().timeouts, 0U);
    EXPECT_TRUE(e->take_packets().empty());
}

class rc_retry_count : public testing::TestWithParam<int> {};

TEST_P(rc_retry_count, means_so_many_repetitions_after_the_first_copy) {
    const int retries = GetParam();
    auto e = rts_endpoint(with_retries(static_cast<std::uint8_t>(retries)));
    e->send(1, 10);
    e->send(2, 10);
    e->receive(3, 10);
    EXPECT_EQ(copies_sent_to_a_silent_peer(*e), retries + 1);
    EXPECT_EQ(e->qp().state(), queue_pair_state::error);
    const auto completions = e->poll_all();
    ASSERT_EQ(completions.size(), 3U);
    EXPECT_EQ(error_code(completions[0].status), error_code(errc::retry_exceeded));
    EXPECT_EQ(error_code(completions[1].status), error_code(errc::work_request_flushed));
    EXPECT_EQ(error_code(completions[2].status), error_code(errc::work_request_flushed));
    EXPECT_EQ(e->qp().counters().timeouts, static_cast<std::uint64_t>(retries) + 1);
}

INSTANTIATE_TEST_SUITE_P(counts, rc_retry_count, testing::Range(0, 8)); // 7 means seven, not "for ever"

TEST(rc_retry, fails_in_a_script_with_a_dead_peer) {
    play(rts_qp(with_retries(1))
             .with_dead_peer()
             .posts_send(1, 300)
             .sends(send_first(0).carrying(1, 0, 256))
             .sends(send_last(1).carrying(1, 256, 44).asking())
             .waits_for_deadline()
             .sends(send_first(0).carrying(1, 0, 256).asking())
             .waits_for_deadline()
             .completes(failed(1, errc::retry_exceeded))
             .is_in(queue_pair_state::error)
             .sends_nothing()
             .has_no_deadline());
}

TEST(rc_retry, gets_its_retries_back_with_every_progress) {
    auto e = rts_endpoint(with_retries(1));
    for (std::uint32_t n = 0; n < 20; ++n) {
        e->send(n, 10);
        e->take_packets();
        ASSERT_TRUE(e->wait_for_deadline());
        ASSERT_EQ(e->take_packets().size(), 1U);
        e->deliver(ack(n, n + 1));
        ASSERT_EQ(e->poll_all().size(), 1U);
    }
    EXPECT_EQ(e->qp().counters().timeouts, 20U);
}

TEST(rc_retry, counts_a_repetition_after_a_sequence_nak) {
    play(rts_qp(with_retries(1))
             .with_dead_peer()
             .posts_send(1, 10)
             .sends(send_only(0).carrying(1, 0, 10).asking())
             .does([](rc_endpoint& e) { e.deliver(sequence_nak(0, 0)); })
             .sends(send_only(0).carrying(1, 0, 10).asking())
             .waits_for_deadline()
             .completes(failed(1, errc::retry_exceeded)));
}

TEST(rc_retry, fails_at_once_at_a_sequence_nak_without_retries) {
    auto e = rts_endpoint(with_retries(0));
    e->send(1, 10);
    e->take_packets();
    e->deliver(sequence_nak(0, 0));
    EXPECT_EQ(e->qp().state(), queue_pair_state::error);
    ASSERT_TRUE(e->qp().has_completions());
    EXPECT_EQ(error_code(e->poll()->status), error_code(errc::retry_exceeded));
}

TEST(rc_retry, takes_no_retry_for_a_sequence_nak_that_crossed_the_timeout) {
    for (const bool sent_again : {false, true}) {
        auto e = rts_endpoint(with_retries(1));
        e->send(1, 10);
        e->send(2, 10);
        e->take_packets();
        e->wait_for_deadline();
        if (sent_again) e->take_packets();
        e->deliver(sequence_nak(0, 0));
        EXPECT_EQ(e->qp().state(), queue_pair_state::ready_to_send);
        EXPECT_EQ(e->take_packets().size(), sent_again ? 0U : 1U);
    }
}

TEST(rc_retry, never_gives_up_when_unlimited) {
    rc_endpoint_options options = with_retries(0);
    options.rnr_retry = 0;
    options.unlimited_retry = true;
    auto e = rts_endpoint(options);
    e->send(1, 10);
    EXPECT_EQ(copies_sent_to_a_silent_peer(*e, 500), 500);
    e->take_packets();
    e->deliver(rnr_nak(0, 1, 0));
    EXPECT_EQ(e->qp().state(), queue_pair_state::ready_to_send);
}

} // namespace
} // namespace rocio::test
