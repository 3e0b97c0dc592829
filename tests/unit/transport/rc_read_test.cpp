#include "model_peer.hpp"
#include "rc_script.hpp"

#include <gtest/gtest.h>

// RDMA READ as requester. Scripts are replayed with each packet lost.

namespace rocio::test {
namespace {

using transport::queue_pair_state;
using wire::nak_code;

constexpr auto read = opcode::rdma_read;
constexpr std::uint64_t there = 5000; ///< In the peer's memory.

test_packet response(wire::opcode op, std::uint32_t index, std::uint64_t offset, std::uint32_t length) {
    return read_response(op, index, 1).carrying(model_peer::memory_seed, there + offset, length);
}
test_packet first(std::uint32_t index, std::uint64_t offset) {
    return response(wire::rc::read_response_first, index, offset, 256);
}
test_packet middle(std::uint32_t index, std::uint64_t offset) {
    return response(wire::rc::read_response_middle, index, offset, 256);
}
test_packet last(std::uint32_t index, std::uint64_t offset, std::uint32_t length) {
    return response(wire::rc::read_response_last, index, offset, length);
}
test_packet only(std::uint32_t index, std::uint64_t offset, std::uint32_t length) {
    return response(wire::rc::read_response_only, index, offset, length);
}
test_packet request(std::uint32_t index, std::uint64_t offset, std::uint32_t length) {
    return read_request(index).at(there + offset, peer_key, length);
}

TEST(rc_read_out, of_one_packet_is_done_by_its_response) {
    play(rts_qp()
             .posts_rdma(read, 101, 10, there)
             .sends(request(0, 0, 10))
             .completes_nothing()
             .receives(only(0, 0, 10))
             .completes(has_read(101, there, 10))
             .has_no_deadline());
}

TEST(rc_read_out, of_nothing_has_a_response_too) {
    play(rts_qp()
             .posts_rdma(read, 101, 0, 0)
             .sends(read_request(0).at(0, peer_key, 0))
             .receives(read_response(wire::rc::read_response_only, 0, 1))
             .completes(has_read(101, 0, 0)));
}

TEST(rc_read_out, takes_as_many_numbers_as_it_has_responses) {
    play(rts_qp()
             .posts_rdma(read, 101, 700, there)
             .posts_send(1, 10)
             .sends(request(0, 0, 700))
             .sends(send_only(3).carrying(1, 0, 10).asking())
             .receives(first(0, 0))
             .receives(middle(1, 256))
             .completes_nothing()
             .receives(last(2, 512, 188))
             .completes(has_read(101, there, 700))
             .completes_nothing()
             .receives(ack(3, 2))
             .completes(sent(1)));
}

TEST(rc_read_out, response_acknowledges_all_before) {
    play(rts_qp()
             .posts_send(1, 10)
             .posts_rdma(read, 101, 10, there)
             .sends(send_only(0).carrying(1, 0, 10))
             .sends(request(1, 0, 10))
             .receives(only(1, 0, 10))
             .completes(sent(1))
             .completes(has_read(101, there, 10)));
}

TEST(rc_read_out, acknowledgement_from_behind_it_asks_for_it_again) {
    play(rts_qp()
             .posts_rdma(read, 101, 10, there)
             .posts_send(1, 10)
             .sends(request(0, 0, 10))
             .sends(send_only(1).carrying(1, 0, 10).asking())
             .receives(ack(1, 2))
             .completes_nothing()
             .sends(request(0, 0, 10))
             .sends(send_only(1).carrying(1, 0, 10).asking())
             .receives(only(0, 0, 10))
             .receives(ack(1, 2))
             .completes(has_read(101, there, 10))
             .completes(sent(1)));
}

TEST(rc_read_out, asks_for_the_missing_rest_when_a_later_response_comes) {
    play(rts_qp()
             .posts_rdma(read, 101, 1000, there)
             .sends(request(0, 0, 1000))
             .receives(first(0, 0))
             .receives(middle(2, 512))
             .sends(request(1, 256, 744))
             .receives(last(3, 768, 232)) // of the first answer: crossed the second request
             .sends_nothing()
             .receives(first(1, 256))
             .receives(middle(2, 512))
             .receives(last(3, 768, 232))
             .completes(has_read(101, there, 1000)));
}

TEST(rc_read_out, asks_for_the_missing_rest_at_its_timeout_and_takes_an_answer_that_resumes) {
    play(rts_qp()
             .posts_rdma(read, 101, 700, there)
             .sends(request(0, 0, 700))
             .receives(first(0, 0))
             .waits_for_deadline()
             .sends(request(1, 256, 444))
             .receives(middle(1, 256)) // as rxe answers
             .receives(last(2, 512, 188))
             .completes(has_read(101, there, 700)));
}

TEST(rc_read_out, takes_one_rest_packet_as_only_or_as_last) {
    for (const bool as_only : {true, false})
        play(rts_qp()
                 .posts_rdma(read, 101, 300, there)
                 .sends(request(0, 0, 300))
                 .receives(first(0, 0))
                 .waits_for_deadline()
                 .sends(request(1, 256, 44))
                 .receives(as_only ? only(1, 256, 44) : last(1, 256, 44))
                 .completes(has_read(101, there, 300)));
}

TEST(rc_read_out, goes_back_to_its_request_at_a_sequence_nak) {
    play(rts_qp()
             .posts_rdma(read, 101, 300, there)
             .posts_rdma(read, 102, 10, there)
             .sends(request(0, 0, 300))
             .sends(request(2, 0, 10))
             .receives(sequence_nak(0, 0))
             .sends(request(0, 0, 300))
             .sends(request(2, 0, 10))
             .receives(first(0, 0))
             .receives(last(1, 256, 44))
             .receives(only(2, 0, 10))
             .completes(has_read(101, there, 300))
             .completes(has_read(102, there, 10)));
}

TEST(rc_read_out, keeps_no_more_requests_waiting_than_the_depth) {
    rc_endpoint_options options;
    options.initiator_depth = 2;
    play(rts_qp(options)
             .posts_rdma(read, 101, 10, there)
             .posts_rdma(read, 102, 10, there)
             .posts_rdma(read, 103, 10, there)
             .posts_send(1, 10) // waits behind them
             .sends(request(0, 0, 10))
             .sends(request(1, 0, 10))
             .sends_nothing()
             .receives(only(0, 0, 10))
             .completes(has_read(101, there, 10))
             .sends(request(2, 0, 10))
             .sends(send_only(3).carrying(1, 0, 10).asking())
             .receives(only(1, 0, 10))
             .receives(only(2, 0, 10))
             .receives(ack(3, 4))
             .completes(has_read(102, there, 10))
             .completes(has_read(103, there, 10))
             .completes(sent(1)));
}

rc_endpoint_options with_response_window(std::uint32_t packets) {
    rc_endpoint_options options;
    options.response_window.max_packets = packets;
    return options;
}

TEST(rc_read_out, asks_piece_by_piece_for_what_is_longer_than_the_response_window) {
    play(rts_qp(with_response_window(8)) // pieces of two packets
             .posts_rdma(read, 101, 11 * 256 + 5, there)
             .sends(request(0, 0, 512))
             .sends(request(2, 512, 512))
             .sends(request(4, 1024, 512))
             .sends(request(6, 1536, 512))
             .sends_nothing()
             .receives(first(0, 0))
             .sends_nothing()
             .receives(last(1, 256, 256))
             .sends(request(8, 2048, 512))
             .receives(first(2, 512))
             .receives(last(3, 768, 256))
             .sends(request(10, 2560, 261))
             .receives(first(4, 1024))
             .receives(last(5, 1280, 256))
             .receives(first(6, 1536))
             .receives(last(7, 1792, 256))
             .receives(first(8, 2048))
             .receives(last(9, 2304, 256))
             .receives(first(10, 2560))
             .receives(last(11, 2816, 5))
             .completes(has_read(101, there, 11 * 256 + 5)));
}

TEST(rc_read_out, bounds_the_responses_by_what_they_cost_the_own_socket) {
    rc_endpoint_options options;
    options.response_window = {4'000, [](std::uint32_t datagram) { return datagram + 224; }, 128}; // 500 each
    auto e = rts_endpoint(options);
    e->post(e->make_rdma(read, 1, 20 * 256, there, peer_key));
    const auto requests = e->take_packets();
    ASSERT_EQ(requests.size(), 4U);
    for (const test_packet& p : requests) EXPECT_EQ(p.remote.length, 512U);
}

TEST(rc_read_out, a_piece_that_is_asked_for_again_stays_within_itself) {
    play(rts_qp(with_response_window(8))
             .posts_rdma(read, 101, 1024, there)
             .sends(request(0, 0, 512))
             .sends(request(2, 512, 512))
             .receives(first(0, 0))
             .receives(first(2, 512))
             .sends(request(1, 256, 256))
             .sends(request(2, 512, 512))
             .receives(only(1, 256, 256))
             .receives(first(2, 512))
             .receives(last(3, 768, 256))
             .completes(has_read(101, there, 1024)));
}

TEST(rc_read_out, tries_again_until_its_retries_are_used_up) {
    rc_endpoint_options options;
    options.retry_count = 2;
    play(rts_qp(options)
             .posts_rdma(read, 101, 10, there)
             .sends(request(0, 0, 10))
             .waits_for_deadline()
             .sends(request(0, 0, 10))
             .waits_for_deadline()
             .sends(request(0, 0, 10))
             .waits_for_deadline()
             .completes(failed(101, errc::retry_exceeded))
             .with_dead_peer());
}

TEST(rc_read_out, fails_with_what_the_peer_refuses) {
    play(rts_qp()
             .posts_rdma(read, 101, 1000, there)
             .sends(request(0, 0, 1000))
             .receives(nak(0, nak_code::remote_access_error, 0))
             .completes(failed_by_peer(101, errc::remote_access_error))
             .is_in(queue_pair_state::error));
}

TEST(rc_read_out, needs_a_buffer_that_may_be_written) {
    auto e = rts_endpoint();
    registered_memory readable(e->regions(), 64, memory_access::local_read);
    send_request r;
    r.id = wr(1);
    r.op = read;
    r.buffer = readable.take(64);
    ASSERT_EQ(e->post(r).accepted, 1U);
    EXPECT_FALSE(e->take_packet().has_value());
    const auto c = e->poll();
    ASSERT_TRUE(c.has_value());
    EXPECT_EQ(error_code(c->status), error_code(errc::local_protection_error));
}

TEST(rc_read_out, fails_when_its_buffer_goes_before_the_response) {
    auto e = rts_endpoint();
    e->post(e->make_rdma(read, 1, 10, there, peer_key));
    e->take_packets();
    e->memory().deregister();
    e->deliver(only(0, 0, 10));
    const auto c = e->poll();
    ASSERT_TRUE(c.has_value());
    EXPECT_EQ(error_code(c->status), error_code(errc::local_protection_error));
    EXPECT_EQ(e->sent(1)[0], std::byte{0});
}

TEST(rc_read_out, counts_its_requests_and_responses) {
    auto e = rts_endpoint();
    e->post(e->make_rdma(read, 1, 300, there, peer_key));
    e->take_packets();
    e->wait_for_deadline();
    e->take_packets();
    e->deliver(first(0, 0));
    e->deliver(last(1, 256, 44));
    const auto& c = e->qp().counters();
    EXPECT_EQ(c.packets_sent, 2U);
    EXPECT_EQ(c.retransmitted_packets, 1U);
    EXPECT_EQ(c.bytes_sent, 0U);
    EXPECT_EQ(c.bytes_received, 300U);
    EXPECT_EQ(c.read_responses_received, 2U);
    EXPECT_EQ(c.messages_sent, 1U);
}

struct bad_answer {
    const char* name;
    test_packet packet;
};

void PrintTo(const bad_answer& r, std::ostream* out) {
    *out << r.name;
}

/// Answers to a READ of 600 bytes, when its first packet is here.
class rc_read_answer : public testing::TestWithParam<bad_answer> {};

TEST_P(rc_read_answer, that_does_not_fit_ends_the_connection_and_writes_nothing) {
    auto e = rts_endpoint();
    e->post(e->make_rdma(read, 1, 600, there, peer_key));
    e->take_packets();
    e->deliver(first(0, 0));
    e->deliver(GetParam().packet);
    const auto c = e->poll();
    ASSERT_TRUE(c.has_value()) << "no success with a part of the bytes, and no silence";
    EXPECT_EQ(error_code(c->status), error_code(errc::bad_response));
    EXPECT_EQ(e->qp().state(), queue_pair_state::error);
    for (const std::byte b : e->sent(1).subspan(256)) ASSERT_EQ(b, std::byte{0});
}

test_packet with_syndrome(test_packet p, std::uint8_t syndrome) {
    p.answer.syndrome = syndrome;
    return p;
}

INSTANTIATE_TEST_SUITE_P(
    answers, rc_read_answer,
    testing::Values(bad_answer{"first_unasked", first(1, 256)}, bad_answer{"only_unasked", only(1, 256, 256)},
                    bad_answer{"ends_too_early", last(1, 256, 256)},
                    bad_answer{"short_middle", response(wire::rc::read_response_middle, 1, 256, 255)},
                    bad_answer{"long_middle", response(wire::rc::read_response_middle, 1, 256, 257)},
                    bad_answer{"longer_than_the_buffer",
                               response(wire::rc::read_response_middle, 1, 256, 4096)},
                    bad_answer{"empty_middle", response(wire::rc::read_response_middle, 1, 256, 0)}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(rc_read_answer_end, must_have_the_length_asked_for) {
    for (const std::uint32_t length : {0U, 43U, 45U, 256U}) {
        auto e = rts_endpoint();
        e->post(e->make_rdma(read, 1, 300, there, peer_key));
        e->take_packets();
        e->deliver(first(0, 0));
        e->deliver(last(1, 256, length));
        const auto c = e->poll();
        ASSERT_TRUE(c.has_value());
        EXPECT_EQ(error_code(c->status), error_code(errc::bad_response)) << length;
    }
}

TEST(rc_read_answer_end, must_not_be_open) {
    auto e = rts_endpoint();
    e->post(e->make_rdma(read, 1, 256, there, peer_key));
    e->take_packets();
    e->deliver(first(0, 0));
    EXPECT_EQ(error_code(e->poll()->status), error_code(errc::bad_response));
}

TEST(rc_read_answer_begin, must_not_be_in_the_middle_nor_a_refusal) {
    for (const auto& p : {middle(0, 0), last(0, 0, 256), with_syndrome(first(0, 0), 0x62)}) {
        auto e = rts_endpoint();
        e->post(e->make_rdma(read, 1, 600, there, peer_key));
        e->take_packets();
        e->deliver(p);
        EXPECT_EQ(error_code(e->poll()->status), error_code(errc::bad_response)) << p.text();
    }
}

TEST(rc_read_answer_stray, to_a_send_ends_the_connection_and_beyond_what_was_sent_is_ignored) {
    auto e = rts_endpoint();
    e->send(1, 10);
    e->take_packets();
    e->deliver(only(1, 0, 10));
    EXPECT_EQ(e->qp().counters().ignored_packets, 1U);
    e->deliver(only(0, 0, 10));
    EXPECT_EQ(error_code(e->poll()->status), error_code(errc::bad_response));
}

TEST(rc_read_answer_stray, before_the_request_left_or_twice_changes_nothing) {
    auto e = rts_endpoint();
    e->post(e->make_rdma(read, 1, 300, there, peer_key));
    e->deliver(first(0, 0));
    EXPECT_EQ(e->qp().counters().ignored_packets, 1U);
    e->take_packets();
    for (int i = 0; i < 3; ++i) e->deliver(first(0, 0));
    for (int i = 0; i < 3; ++i) e->deliver(last(1, 256, 44));
    EXPECT_EQ(e->poll_all().size(), 1U);
    EXPECT_EQ(e->qp().state(), queue_pair_state::ready_to_send);
}

} // namespace
} // namespace rocio::test
