#include "rc_endpoint.hpp"

#include <gtest/gtest.h>

// Which packets leave together, when an acknowledgement is asked for, and what they cost the peer's socket.

namespace rocio::test {
namespace {

std::uint32_t thousand(std::uint32_t) {
    return 1000;
}
std::uint32_t hundred(std::uint32_t) {
    return 100;
}

/// Three trains of four fill the window: the first of each costs 1,000, the others 100.
rc_endpoint_options with_trains(std::uint32_t longest = 4, std::uint32_t capacity = 3 * 1300) {
    rc_endpoint_options options;
    options.window = {capacity, thousand, 128, longest, hundred};
    options.send_depth = 512;
    return options;
}

void post_many(rc_endpoint& e, std::uint32_t first, std::uint32_t count, std::size_t length = 16) {
    for (std::uint32_t n = first; n < first + count; ++n) ASSERT_EQ(e.send(n, length).accepted, 1U);
}

/// Everything the queue pair gives in one go, committed: "0123" is a train of four, '!' asks.
std::string take(rc_endpoint& e, std::size_t committed = 64) {
    std::array<transport::packet_out, 64> out;
    const std::size_t n = e.qp().next_packets(out, e.now());
    std::string text;
    for (std::size_t i = 0; i < std::min(n, committed); ++i) {
        text += std::to_string(out[i].segment);
        const bool asks = (std::to_integer<unsigned>(out[i].header.bytes()[8]) & 0x80U) != 0;
        if (asks) text += '!';
    }
    e.qp().commit(std::min(n, committed), e.now());
    return text;
}

TEST(rc_train, fills_the_window_with_whole_trains_and_asks_at_the_end_of_each) {
    auto e = rts_endpoint(with_trains());
    post_many(*e, 0, 40);
    EXPECT_EQ(take(*e), "0123!0123!0123!");
    EXPECT_EQ(take(*e), "");
}

TEST(rc_train, lets_a_whole_train_follow_an_acknowledged_one_and_no_part_of_one) {
    auto e = rts_endpoint(with_trains());
    post_many(*e, 0, 40);
    take(*e);
    e->deliver(ack(1, 2));
    EXPECT_EQ(take(*e), "") << "half a train is free";
    e->deliver(ack(3, 4));
    EXPECT_EQ(take(*e), "0123!");
    e->deliver(ack(11, 12));
    EXPECT_EQ(take(*e), "0123!0123!");
}

TEST(rc_train, sends_the_last_few_without_waiting_for_more) {
    auto e = rts_endpoint(with_trains());
    post_many(*e, 0, 6);
    EXPECT_EQ(take(*e), "0123!01!");
    post_many(*e, 6, 1);
    EXPECT_EQ(take(*e), "0!");
}

TEST(rc_train, gives_back_all_that_it_cost) {
    auto e = rts_endpoint(with_trains());
    post_many(*e, 0, 400);
    std::uint32_t sent = 0;
    for (int round = 0; round < 30; ++round) {
        ASSERT_EQ(take(*e), "0123!0123!0123!") << "round " << round;
        sent += 12;
        e->deliver(ack(sent - 7, sent - 6)); // within the second train
        ASSERT_EQ(take(*e), "0123!");
        sent += 4;
        e->deliver(ack(sent - 1, sent));
        if (sent + 16 > 400) break;
    }
}

TEST(rc_train, keeps_the_first_packet_of_a_write_apart) {
    auto e = rts_endpoint(with_trains(8, 100'000));
    // FIRST carries 16 bytes more than MIDDLE; LAST is shorter.
    e->post(e->make_rdma(opcode::rdma_write, 1, 4 * 256 + 10, remote_base, 77));
    EXPECT_EQ(take(*e), "01012!") << "FIRST and a shorter MIDDLE, then two MIDDLEs and LAST";
}

TEST(rc_train, goes_back_and_begins_again_with_small_trains) {
    auto e = rts_endpoint(with_trains());
    post_many(*e, 0, 40);
    take(*e);
    e->wait_for_deadline();
    EXPECT_EQ(take(*e), "0!") << "one packet after a timeout";
    e->deliver(ack(0, 1));
    EXPECT_EQ(take(*e).substr(0, 1), "0");
}

TEST(rc_train, repeats_what_was_lost_and_has_the_whole_window_again) {
    auto e = rts_endpoint(with_trains());
    post_many(*e, 0, 40);
    take(*e);
    e->deliver(sequence_nak(5, 5));
    EXPECT_EQ(take(*e), "0123!0123!0123!");
    e->deliver(ack(16, 17));
    EXPECT_EQ(take(*e), "0123!0123!0123!");
}

TEST(rc_train, counts_only_what_the_link_took) {
    auto e = rts_endpoint(with_trains());
    post_many(*e, 0, 40);
    EXPECT_EQ(take(*e, 4), "0123!");
    EXPECT_EQ(take(*e), "0123!0123!");
    EXPECT_EQ(take(*e), "");
}

TEST(rc_train, ends_when_the_link_cannot_carry_them) {
    auto e = rts_endpoint(with_trains(4, 100'000));
    post_many(*e, 0, 3);
    e->qp().end_trains();
    EXPECT_EQ(take(*e), "000!");
}

TEST(rc_train, is_of_any_length_without_a_known_socket) {
    rc_endpoint_options options;
    options.window = {0, nullptr, 128, 15, nullptr};
    options.send_depth = 256;
    auto e = rts_endpoint(options);
    post_many(*e, 0, 20);
    EXPECT_EQ(take(*e), "0123456789101112131401234!");
}

TEST(rc_train, an_unreliable_burst_leaves_in_trains_too) {
    auto e = rts_endpoint(unreliable(with_trains(4, 100'000)));
    post_many(*e, 0, 6);
    EXPECT_EQ(take(*e), "012301");
    post_many(*e, 6, 2);
    e->qp().end_trains();
    EXPECT_EQ(take(*e), "00");
}

TEST(rc_train, an_acknowledgement_is_no_part_of_one) {
    auto e = rts_endpoint(with_trains(4, 100'000));
    e->receive(1, 64);
    post_many(*e, 2, 3);
    e->deliver(send_only(0).carrying(1, 0, 16).asking());
    EXPECT_EQ(take(*e).substr(0, 1), "0");
    post_many(*e, 5, 2);
    EXPECT_EQ(take(*e), "01!");
}

} // namespace
} // namespace rocio::test
