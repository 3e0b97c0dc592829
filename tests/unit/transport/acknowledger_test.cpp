#include "test_packet.hpp"
#include "transport/acknowledger.hpp"

#include <gtest/gtest.h>

namespace rocio::transport {
namespace {

using test::ack;
using test::nak;
using test::rnr_nak;
using test::sequence_nak;
using texts = std::vector<std::string>;

class acknowledger_test : public testing::Test {
  protected:
    acknowledger_test() { answers.connect({qpn{9}, mtu::b1024, first, rnr_timer(20)}); }

    void take(bool ask, bool ends = true) { answers.accepted(ask, ends); }

    /// Everything owed, taken.
    texts owed(std::size_t room = 4) {
        std::vector<packet_out> out(room);
        const std::size_t n = answers.fill(out);
        answers.commit(n, counters);
        texts all;
        for (std::size_t i = 0; i < n; ++i) {
            const auto bytes = test::encode(out[i]);
            wire::packet_view view;
            EXPECT_EQ(wire::packet_view::parse(bytes, view), wire::malformed::none);
            EXPECT_EQ(view.bth().destination, qpn{9});
            EXPECT_FALSE(view.bth().ack_request);
            all.push_back(test::decode(view, first).text());
        }
        return all;
    }

    static constexpr psn first{0xFFFFFD};
    acknowledger answers;
    queue_pair_counters counters;
};

TEST_F(acknowledger_test, owes_nothing_at_first) {
    EXPECT_FALSE(answers.owes());
    EXPECT_EQ(owed(), texts{});
}

TEST_F(acknowledger_test, acknowledges_the_newest_of_many_once) {
    for (int i = 0; i < 10; ++i) take(true);
    EXPECT_TRUE(answers.owes());
    EXPECT_EQ(owed(), (texts{ack(9, 10).text()}));
    EXPECT_FALSE(answers.owes());
    EXPECT_EQ(counters.acks_sent, 1U);
}

TEST_F(acknowledger_test, keeps_what_was_not_taken) {
    take(true);
    EXPECT_EQ(owed(0), texts{});
    EXPECT_TRUE(answers.owes());
    take(true);
    EXPECT_EQ(owed(), (texts{ack(1, 2).text()}));
}

TEST_F(acknowledger_test, counts_completed_messages_not_packets) {
    take(false, false);
    take(false, false);
    take(true, true);
    EXPECT_EQ(owed(), (texts{ack(2, 1).text()}));
    take(true, false);
    EXPECT_EQ(owed(), (texts{ack(3, 1).text()}));
}

TEST_F(acknowledger_test, volunteers_only_for_a_peer_that_has_never_asked) {
    take(false);
    EXPECT_TRUE(answers.owes());
    owed();
    take(true);
    owed();
    take(false);
    EXPECT_FALSE(answers.owes());
}

TEST_F(acknowledger_test, tells_a_gap_once_until_it_closes) {
    take(true);
    owed();
    answers.gap_before(first + 3);
    EXPECT_EQ(owed(), (texts{sequence_nak(1, 1).text()}));
    answers.gap_before(first + 4);
    answers.gap_before(first + 3);
    EXPECT_FALSE(answers.owes());
    take(true);
    EXPECT_EQ(owed(), (texts{ack(1, 2).text()}));
    answers.gap_before(first + 5);
    EXPECT_EQ(owed(), (texts{sequence_nak(2, 2).text()}));
    EXPECT_EQ(counters.sequence_naks_sent, 2U);
}

TEST_F(acknowledger_test, lets_the_sequence_nak_stand_for_the_acknowledgement) {
    take(true);
    answers.gap_before(first + 2);
    EXPECT_EQ(owed(), (texts{sequence_nak(1, 1).text()}));
    EXPECT_FALSE(answers.owes());
}

TEST_F(acknowledger_test,
       moves_an_unsent_sequence_nak_with_the_gap_and_drops_it_with_the_last_missing_packet) {
    answers.gap_before(first + 1);
    answers.gap_before(first + 2);
    take(false, false);
    EXPECT_EQ(owed(), (texts{sequence_nak(1, 0).text()}));
    answers.gap_before(first + 2);
    EXPECT_FALSE(answers.owes()) << "told already";
    take(true, false); // 1
    take(true, false); // 2
    EXPECT_EQ(owed(), (texts{ack(2, 0).text()}));

    answers.gap_before(first + 4);
    take(false, false); // 3
    take(true, false);  // 4
    EXPECT_EQ(owed(), (texts{ack(4, 0).text()}));
}

TEST_F(acknowledger_test, remembers_the_farthest_packet_behind_an_unsent_gap) {
    answers.gap_before(first + 1);
    answers.gap_before(first + 3);
    answers.gap_before(first + 2);
    take(false, false);
    take(false, false);
    take(false, false);
    EXPECT_EQ(owed(), (texts{sequence_nak(3, 0).text()}));
}

TEST_F(acknowledger_test, sends_the_acknowledgement_along_with_not_ready) {
    take(false, false);
    answers.receiver_not_ready();
    EXPECT_EQ(owed(), (texts{ack(0, 0).text(), rnr_nak(1, 20, 0).text()}));
    answers.receiver_not_ready();
    EXPECT_EQ(owed(), (texts{rnr_nak(1, 20, 0).text()})) << "the rest is acknowledged already";
    EXPECT_EQ(counters.rnr_naks_sent, 2U);
}

TEST_F(acknowledger_test, is_silent_about_gaps_behind_a_refused_packet) {
    answers.receiver_not_ready();
    owed();
    answers.gap_before(first + 1);
    EXPECT_FALSE(answers.owes());
    take(true);
    EXPECT_EQ(owed(), (texts{ack(0, 1).text()}));
}

TEST_F(acknowledger_test, drops_not_ready_when_the_packet_was_taken_after_all) {
    answers.receiver_not_ready();
    take(true);
    EXPECT_EQ(owed(), (texts{ack(0, 1).text()}));
}

TEST_F(acknowledger_test, repeats_the_newest_acknowledgement_for_a_duplicate) {
    take(true);
    take(true);
    owed();
    answers.repeated();
    EXPECT_EQ(owed(), (texts{ack(1, 2).text()}));
}

TEST_F(acknowledger_test, refuses_after_acknowledging_what_was_asked_for) {
    take(true);
    answers.refuse(wire::nak_code::remote_operational_error);
    EXPECT_EQ(owed(), (texts{ack(0, 1).text(), nak(1, wire::nak_code::remote_operational_error, 1).text()}));
    EXPECT_EQ(counters.other_naks_sent, 1U);
}

TEST_F(acknowledger_test, gives_its_two_answers_one_at_a_time_where_there_is_room_for_one) {
    take(true);
    answers.refuse(wire::nak_code::invalid_request);
    EXPECT_EQ(owed(1), (texts{ack(0, 1).text()}));
    EXPECT_EQ(owed(1), (texts{nak(1, wire::nak_code::invalid_request, 1).text()}));
    EXPECT_EQ(owed(1), texts{});
}

TEST_F(acknowledger_test, wraps_the_message_number_at_24_bits) {
    for (std::uint32_t i = 0; i < (1U << 24); ++i) take(false);
    EXPECT_EQ(answers.completed_messages(), 0U);
    take(false);
    EXPECT_EQ(answers.completed_messages(), 1U);
}

} // namespace
} // namespace rocio::transport
