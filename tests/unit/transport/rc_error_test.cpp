#include "rc_script.hpp"

#include <gtest/gtest.h>

// Everything that ends in the error state: what the peer is told, what completes how, and in which order.

namespace rocio::test {
namespace {

using transport::queue_pair_state;
using wire::nak_code;

std::vector<std::uint32_t> ids(const std::vector<work_completion>& completions) {
    std::vector<std::uint32_t> all;
    for (const work_completion& c : completions) all.push_back(c.id.slot);
    return all;
}

struct told {
    nak_code code;
    errc status;
};

class rc_error_told : public testing::TestWithParam<told> {};

TEST_P(rc_error_told, fails_its_work_request_and_flushes_the_rest_in_order) {
    play(rts_qp()
             .posts_receive(4, 64)
             .posts_receive(5, 64)
             .posts_send(1, 10)
             .posts_send(2, 300)
             .posts_send(3, 10)
             .sends(send_only(0).carrying(1, 0, 10))
             .sends(send_first(1).carrying(2, 0, 256))
             .sends(send_last(2).carrying(2, 256, 44))
             .sends(send_only(3).carrying(3, 0, 10).asking())
             .receives(ack(0, 1))
             .completes(sent(1))
             .receives(nak(1, GetParam().code, 1))
             .completes(failed_by_peer(2, GetParam().status))
             .completes(flushed(3))
             .completes(flushed(4))
             .completes(flushed(5))
             .is_in(queue_pair_state::error)
             .sends_nothing()
             .has_no_deadline());
}

INSTANTIATE_TEST_SUITE_P(codes, rc_error_told,
                         testing::Values(told{nak_code::invalid_request, errc::remote_invalid_request},
                                         told{nak_code::remote_access_error, errc::remote_access_error},
                                         told{nak_code::remote_operational_error,
                                              errc::remote_operation_error},
                                         told{nak_code::invalid_rd_request, errc::remote_operation_error}));

TEST_P(rc_error_told, acknowledges_everything_before) {
    auto e = rts_endpoint();
    e->send(1, 10);
    e->send(2, 600);
    e->take_packets();
    e->deliver(nak(3, GetParam().code, 1));
    const auto completions = e->poll_all();
    ASSERT_EQ(ids(completions), (std::vector<std::uint32_t>{1, 2}));
    EXPECT_EQ(error_code(completions[0].status), error_code(errc::success));
    EXPECT_EQ(error_code(completions[1].status), error_code(GetParam().status));
    EXPECT_EQ(e->qp().counters().other_naks_received, 1U);
}

TEST(rc_error, fails_an_unsignalled_send_aloud) {
    play(rts_qp()
             .posts_send(1, 10, [](send_request& r) { r.signalled = false; })
             .posts_send(2, 10, [](send_request& r) { r.signalled = false; })
             .sends(send_only(0).carrying(1, 0, 10))
             .sends(send_only(1).carrying(2, 0, 10).asking())
             .receives(nak(0, nak_code::remote_operational_error, 0))
             .completes(failed_by_peer(1, errc::remote_operation_error))
             .completes(flushed(2)));
}

// ---- A message that does not fit its receive

TEST(rc_error, refuses_an_only_longer_than_the_receive) {
    play(rts_qp()
             .posts_receive(1, 9)
             .posts_receive(2, 64)
             .receives(send_only(0).carrying(1, 0, 10).asking())
             .sends(nak(0, nak_code::invalid_request, 0))
             .completes(failed(1, errc::local_length_error))
             .completes(flushed(2))
             .is_in(queue_pair_state::error)
             .sends_nothing());
}

TEST(rc_error, refuses_the_packet_with_which_a_message_outgrows_the_receive) {
    play(rts_qp()
             .posts_receive(1, 299)
             .receives(send_first(0).carrying(1, 0, 256).asking())
             .sends(ack(0, 0))
             .receives(send_last(1).carrying(1, 256, 44).asking())
             .sends(nak(1, nak_code::invalid_request, 0))
             .completes(failed(1, errc::local_length_error))
             .is_in(queue_pair_state::error));
}

TEST(rc_error, writes_nothing_of_a_packet_that_does_not_fit) {
    auto e = rts_endpoint();
    const registered_buffer buffer = e->memory().take(64);
    e->post(receive_request{wr(1), buffer.first(9)});
    e->deliver(send_only(0).carrying(1, 0, 10).asking());
    for (const std::byte b : buffer.bytes()) EXPECT_EQ(b, std::byte{0});
}

TEST(rc_error, writes_nothing_behind_the_receive_in_an_endless_message) {
    auto e = rts_endpoint();
    const registered_buffer buffer = e->memory().take(1024);
    e->post(receive_request{wr(1), buffer.first(512)});
    e->deliver(send_first(0).carrying(1, 0, 256));
    for (std::uint32_t i = 1; i < 100; ++i) e->deliver(send_middle(i).carrying(1, 0, 256));
    for (std::size_t i = 512; i < buffer.size; ++i) ASSERT_EQ(buffer.data[i], std::byte{0});
    EXPECT_EQ(e->qp().state(), queue_pair_state::error);
}

// ---- Buffers that may not be used

struct bad_buffer {
    const char* what;
    registered_buffer (*make)(rc_endpoint&);
};

registered_buffer outside_every_region(rc_endpoint& e) {
    static std::byte elsewhere[64];
    return {elsewhere, sizeof elsewhere, e.memory().take(1).key};
}
registered_buffer beyond_its_region(rc_endpoint& e) {
    registered_buffer b = e.memory().take(16);
    b.size = static_cast<std::uint32_t>(e.options().memory) + 1;
    return b;
}
registered_buffer unknown_key(rc_endpoint& e) {
    registered_buffer b = e.memory().take(64);
    ++b.key.value;
    return b;
}
registered_buffer read_only(rc_endpoint& e) {
    static std::byte constants[64];
    std::uint32_t key = 0;
    EXPECT_EQ(e.regions().add({constants, sizeof constants, 0, memory_access::local_read}, key),
              errc::success);
    return {constants, sizeof constants, lkey{key}};
}

class rc_error_bad_receive : public testing::TestWithParam<bad_buffer> {};

TEST_P(rc_error_bad_receive, is_found_when_the_message_comes_and_told_as_our_fault) {
    auto e = rts_endpoint();
    e->post(receive_request{wr(1), GetParam().make(*e)});
    e->receive(2, 64);
    EXPECT_EQ(e->qp().state(), queue_pair_state::ready_to_send);
    e->deliver(send_only(0).carrying(1, 0, 10).asking());
    EXPECT_EQ(e->qp().state(), queue_pair_state::error);
    const auto answers = e->take_packets();
    ASSERT_EQ(answers.size(), 1U);
    EXPECT_EQ(answers[0].text(), nak(0, nak_code::remote_operational_error, 0).text());
    const auto completions = e->poll_all();
    ASSERT_EQ(ids(completions), (std::vector<std::uint32_t>{1, 2}));
    EXPECT_EQ(error_code(completions[0].status), error_code(errc::local_protection_error));
    EXPECT_EQ(error_code(completions[1].status), error_code(errc::work_request_flushed));
}

INSTANTIATE_TEST_SUITE_P(buffers, rc_error_bad_receive,
                         testing::Values(bad_buffer{"outside", outside_every_region},
                                         bad_buffer{"beyond", beyond_its_region},
                                         bad_buffer{"unknown_key", unknown_key},
                                         bad_buffer{"read_only", read_only}),
                         [](const auto& test) { return std::string(test.param.what); });

TEST(rc_error, notices_that_the_region_of_a_receive_went_away_in_mid_message) {
    auto e = receiving_endpoint();
    e->memory().deregister();
    e->deliver(send_last(1).carrying(1, 256, 10).asking());
    EXPECT_EQ(e->take_packets().back().text(), nak(1, nak_code::remote_operational_error, 0).text());
    EXPECT_EQ(error_code(e->poll()->status), error_code(errc::local_protection_error));
    EXPECT_EQ(first_difference(e->received(1), 1), 256U);
}

TEST(rc_error, sends_from_a_read_only_region) {
    auto e = rts_endpoint();
    send_request r = e->make_send(1, 10);
    r.buffer = read_only(*e);
    e->post(r);
    EXPECT_EQ(e->take_packets().size(), 1U);
}

class rc_error_bad_send : public testing::TestWithParam<bad_buffer> {};

TEST_P(rc_error_bad_send, fails_when_everything_before_it_is_acknowledged) {
    auto e = rts_endpoint();
    e->send(1, 10);
    e->send(2, 10);
    send_request bad = e->make_send(3, 10);
    bad.buffer = GetParam().make(*e);
    e->post(bad);
    e->send(4, 10);
    e->receive(5, 10);

    const auto packets = e->take_packets();
    ASSERT_EQ(packets.size(), 2U);
    EXPECT_EQ(packets[1].text(), send_only(1).carrying(2, 0, 10).asking().text())
        << "else nothing would complete";
    EXPECT_EQ(e->qp().state(), queue_pair_state::ready_to_send);
    EXPECT_FALSE(e->qp().wants_to_send(e->now())) << "a driver would spin";
    e->deliver(ack(0, 1));
    EXPECT_TRUE(e->take_packets().empty());
    EXPECT_EQ(e->qp().state(), queue_pair_state::ready_to_send);
    e->deliver(ack(1, 2));
    EXPECT_TRUE(e->qp().wants_to_send(e->now()));
    EXPECT_TRUE(e->take_packets().empty());

    EXPECT_EQ(e->qp().state(), queue_pair_state::error);
    const auto completions = e->poll_all();
    ASSERT_EQ(ids(completions), (std::vector<std::uint32_t>{1, 2, 3, 4, 5}));
    EXPECT_EQ(error_code(completions[1].status), error_code(errc::success));
    EXPECT_EQ(error_code(completions[2].status), error_code(errc::local_protection_error));
    EXPECT_EQ(error_code(completions[3].status), error_code(errc::work_request_flushed));
}

INSTANTIATE_TEST_SUITE_P(buffers, rc_error_bad_send,
                         testing::Values(bad_buffer{"outside", outside_every_region},
                                         bad_buffer{"beyond", beyond_its_region},
                                         bad_buffer{"unknown_key", unknown_key}),
                         [](const auto& test) { return std::string(test.param.what); });

TEST(rc_error, does_not_repeat_from_a_region_that_went_away) {
    auto e = rts_endpoint();
    e->send(1, 300);
    EXPECT_EQ(e->take_packets().size(), 2U);
    e->memory().deregister();
    e->deliver(sequence_nak(1, 0));
    EXPECT_TRUE(e->take_packets().empty());
    EXPECT_EQ(error_code(e->poll()->status), error_code(errc::local_protection_error));
}

// ---- The error state

TEST(rc_error, flushes_sends_first_then_the_receive_in_use_then_the_others) {
    auto e = receiving_endpoint();
    e->receive(2, 64);
    e->send(3, 10);
    e->send(4, 10);
    e->take_packets();
    e->qp().to_error();
    const auto completions = e->poll_all();
    EXPECT_EQ(ids(completions), (std::vector<std::uint32_t>{3, 4, 1, 2}));
    for (const work_completion& c : completions) {
        EXPECT_EQ(error_code(c.status), error_code(errc::work_request_flushed));
        EXPECT_EQ(c.byte_len, 0U);
    }
    EXPECT_EQ(e->qp().next_deadline(), transport::never);
}

TEST(rc_error, keeps_completions_that_were_not_taken_yet) {
    auto e = rts_endpoint();
    e->send(1, 10);
    e->send(2, 10);
    e->take_packets();
    e->deliver(ack(0, 1));
    e->qp().to_error();
    const auto completions = e->poll_all();
    ASSERT_EQ(completions.size(), 2U);
    EXPECT_EQ(error_code(completions[0].status), error_code(errc::success));
    EXPECT_EQ(error_code(completions[1].status), error_code(errc::work_request_flushed));
}

TEST(rc_error, accepts_and_flushes_what_is_posted_afterwards) {
    auto e = rts_endpoint();
    e->send(1, 10);
    e->take_packets();
    e->deliver(nak(0, nak_code::remote_access_error, 0));
    for (std::uint32_t n = 2; n <= 6; ++n) {
        EXPECT_EQ(e->send(n, 10).accepted, 1U);
        EXPECT_EQ(e->receive(n + 10, 10).accepted, 1U);
    }
    EXPECT_EQ(ids(e->poll_all()), (std::vector<std::uint32_t>{1, 2, 12, 3, 13, 4, 14, 5, 15, 6, 16}));
}

TEST(rc_error, keeps_its_depths_in_the_error_state) {
    rc_endpoint_options options;
    options.send_depth = options.receive_depth = 2;
    auto e = error_endpoint(options);
    for (std::uint32_t n = 0; n < 2; ++n) {
        EXPECT_EQ(e->send(n, 1).accepted, 1U);
        EXPECT_EQ(e->receive(n, 1).accepted, 1U);
    }
    EXPECT_EQ(e->send(2, 1).reason, errc::queue_full);
    EXPECT_EQ(e->receive(2, 1).reason, errc::queue_full);
    EXPECT_EQ(e->poll_all().size(), 4U);
    EXPECT_EQ(e->send(2, 1).accepted, 1U);
}

TEST(rc_error, is_silent_to_everything) {
    auto e = error_endpoint();
    e->receive(1, 64);
    e->deliver(send_only(0).carrying(1, 0, 10).asking());
    e->deliver(send_only(5).carrying(1, 0, 10).asking());
    e->deliver(ack(0, 1));
    EXPECT_TRUE(e->take_packets().empty());
    EXPECT_EQ(e->qp().counters().ignored_packets, 3U);
    EXPECT_EQ(e->qp().counters().messages_received, 0U);
}

TEST(rc_error, is_deaf_to_acknowledgements_that_come_too_late) {
    auto e = rts_endpoint();
    e->send(1, 600);
    e->take_packets();
    e->qp().to_error();
    EXPECT_EQ(e->poll_all().size(), 1U);
    e->deliver(ack(1, 0));
    e->deliver(ack(2, 1));
    EXPECT_EQ(e->qp().counters().acks_received, 0U);
    EXPECT_EQ(e->qp().counters().ignored_packets, 2U);
    EXPECT_FALSE(e->qp().has_completions());
    EXPECT_EQ(e->qp().next_deadline(), transport::never);
}

TEST(rc_error, still_acknowledges_what_it_took_before) {
    auto e = rts_endpoint();
    e->receive(1, 64);
    e->deliver(send_only(0).carrying(1, 0, 10).asking());
    e->qp().to_error();
    EXPECT_TRUE(e->qp().wants_to_send(e->now()));
    const auto answers = e->take_packets();
    ASSERT_EQ(answers.size(), 1U);
    EXPECT_EQ(answers[0].text(), ack(0, 1).text());
    EXPECT_FALSE(e->qp().wants_to_send(e->now()));
}

TEST(rc_error, cannot_commit_what_was_offered_before) {
    auto e = rts_endpoint();
    e->send(1, 10);
    transport::packet_out out[4];
    ASSERT_EQ(e->qp().next_packets(out, e->now()), 1U);
    e->qp().to_error();
    e->qp().commit(1, e->now());
    EXPECT_EQ(e->qp().counters().packets_sent, 0U);
    EXPECT_EQ(e->qp().next_deadline(), transport::never);
}

} // namespace
} // namespace rocio::test
