#include "rc_script.hpp"

#include <gtest/gtest.h>

// RDMA WRITE over a reliable connection. Every script is replayed with each packet lost.

namespace rocio::test {
namespace {

using transport::queue_pair_state;
using wire::nak_code;

constexpr auto write = opcode::rdma_write;
constexpr auto write_immediate = opcode::rdma_write_with_immediate;

// ---- As requester

TEST(rc_write_out, of_one_packet_carries_the_address) {
    play(rts_qp()
             .posts_rdma(write, 1, 10, 0x1234567890)
             .sends(write_only(0).at(0x1234567890, peer_key, 10).carrying(1, 0, 10).asking())
             .completes_nothing()
             .receives(ack(0, 1))
             .completes(wrote(1))
             .has_no_deadline());
}

TEST(rc_write_out, of_nothing_is_one_packet) {
    play(rts_qp()
             .posts_rdma(write, 1, 0, 0)
             .sends(write_only(0).at(0, peer_key, 0).asking())
             .receives(ack(0, 1))
             .completes(wrote(1)));
}

TEST(rc_write_out, names_the_whole_message_in_its_first_packet_only) {
    play(rts_qp()
             .posts_rdma(write, 1, 600, 5000)
             .sends(write_first(0).at(5000, peer_key, 600).carrying(1, 0, 256))
             .sends(write_middle(1).carrying(1, 256, 256))
             .sends(write_last(2).carrying(1, 512, 88).asking())
             .receives(ack(2, 1))
             .completes(wrote(1)));
}

TEST(rc_write_out, carries_the_immediate_and_the_solicited_event_in_its_last_packet) {
    const auto with_immediate = [](send_request& r) {
        r.immediate = 0x80000001;
        r.solicited = true;
    };
    play(rts_qp()
             .posts_rdma(write_immediate, 1, 300, 5000, with_immediate)
             .posts_rdma(write_immediate, 2, 3, 7000, with_immediate)
             .sends(write_first(0).at(5000, peer_key, 300).carrying(1, 0, 256))
             .sends(write_last_with_immediate(1, 0x80000001).carrying(1, 256, 44).soliciting())
             .sends(write_only_with_immediate(2, 0x80000001)
                        .at(7000, peer_key, 3)
                        .carrying(2, 0, 3)
                        .soliciting()
                        .asking())
             .receives(ack(2, 2))
             .completes(wrote(1))
             .completes(wrote(2)));
}

TEST(rc_write_out, does_not_solicit_where_nothing_completes) {
    play(rts_qp()
             .posts_rdma(write, 1, 3, 7000, [](send_request& r) { r.solicited = true; })
             .sends(write_only(0).at(7000, peer_key, 3).carrying(1, 0, 3).asking())
             .receives(ack(0, 1))
             .completes(wrote(1)));
}

TEST(rc_write_out, resumes_in_the_middle_without_a_second_address) {
    play(rts_qp()
             .posts_rdma(write, 1, 1000, 5000)
             .sends(write_first(0).at(5000, peer_key, 1000).carrying(1, 0, 256))
             .sends(write_middle(1).carrying(1, 256, 256))
             .sends(write_middle(2).carrying(1, 512, 256))
             .sends(write_last(3).carrying(1, 768, 232).asking())
             .receives(sequence_nak(2, 0))
             .sends(write_middle(2).carrying(1, 512, 256))
             .sends(write_last(3).carrying(1, 768, 232).asking())
             .receives(ack(3, 1))
             .completes(wrote(1)));
}

TEST(rc_write_out, takes_inlined_bytes) {
    auto e = rts_endpoint();
    auto bytes = message_bytes(4, 0, 20);
    send_request r;
    r.id = wr(4);
    r.op = write;
    r.inlined = true;
    r.inline_data = bytes;
    r.remote_address = 99;
    r.remote_key = rkey{peer_key};
    ASSERT_EQ(e->post(r).accepted, 1U);
    bytes.assign(20, std::byte{0});
    const auto p = e->take_packet();
    ASSERT_TRUE(p.has_value());
    EXPECT_EQ(p->text(), write_only(0).at(99, peer_key, 20).carrying(4, 0, 20).asking().text());
}

TEST(rc_write_out, fails_with_what_the_peer_refuses) {
    play(rts_qp()
             .posts_rdma(write, 1, 10, 5000)
             .posts_rdma(write, 2, 10, 6000)
             .sends(write_only(0).at(5000, peer_key, 10).carrying(1, 0, 10))
             .sends(write_only(1).at(6000, peer_key, 10).carrying(2, 0, 10).asking())
             .receives(nak(0, nak_code::remote_access_error, 0))
             .completes(failed_by_peer(1, errc::remote_access_error))
             .completes(flushed(2))
             .is_in(queue_pair_state::error));
}

// ---- As responder

/// Key of the endpoint's remote region: the same in every endpoint of one script.
std::uint32_t our_key() {
    static const std::uint32_t key = rts_endpoint(open_to_peer())->key();
    return key;
}

TEST(rc_write_in, puts_bytes_where_the_address_says_and_completes_nothing) {
    play(rts_qp(open_to_peer())
             .posts_receive(1, 64)
             .receives(write_only(0).at(remote_base + 100, our_key(), 10).carrying(1, 0, 10).asking())
             .sends(ack(0, 1))
             .completes_nothing()
             .does([](rc_endpoint& e) {
                 EXPECT_EQ(first_difference(e.remote_at(remote_base + 100, 10), 1), 10U);
                 EXPECT_EQ(e.remote_at(remote_base + 99, 1)[0], std::byte{0});
                 EXPECT_EQ(e.remote_at(remote_base + 110, 1)[0], std::byte{0});
                 EXPECT_EQ(e.qp().counters().messages_received, 1U);
                 EXPECT_EQ(e.qp().counters().bytes_received, 10U);
             }));
}

TEST(rc_write_in, with_immediate_takes_a_receive_and_leaves_its_buffer_alone) {
    play(rts_qp(open_to_peer())
             .posts_receive(1, 64)
             .posts_receive(2, 64)
             .posts_receive(3, 64)
             .receives(write_first(0).at(remote_base, our_key(), 300).carrying(1, 0, 256))
             .completes_nothing()
             .receives(write_last_with_immediate(1, 0x01020304).carrying(1, 256, 44))
             .receives(write_only_with_immediate(2, 7).at(remote_base + 500, our_key(), 5).carrying(2, 0, 5))
             .receives(write_only_with_immediate(3, 8).at(0, 0, 0).asking())
             .completes(was_written(1, 1, 300, remote_base, 0x01020304))
             .completes(was_written(2, 2, 5, remote_base + 500, 7))
             .completes(was_written(3, 3, 0, remote_base, 8))
             .sends(ack(3, 3)));
}

TEST(rc_write_in, needs_no_buffer_in_the_receive) {
    auto e = rts_endpoint(open_to_peer());
    e->post(receive_request{wr(9), {}});
    e->deliver(write_only_with_immediate(0, 3).at(remote_base, e->key(), 4).carrying(1, 0, 4));
    const auto c = e->poll();
    ASSERT_TRUE(c.has_value());
    EXPECT_EQ(c->id, wr(9));
    EXPECT_EQ(c->byte_len, 4U);
}

TEST(rc_write_in, without_a_receive_writes_no_byte_of_the_packet_that_needs_one) {
    auto e = rts_endpoint(open_to_peer());
    e->deliver(write_first(0).at(remote_base, e->key(), 300).carrying(1, 0, 256));
    e->deliver(write_last_with_immediate(1, 5).carrying(1, 256, 44).asking());
    EXPECT_EQ(first_difference(e->remote_at(remote_base, 300), 1), 256U) << "the packet before is there";
    EXPECT_EQ(e->remote_at(remote_base + 256, 1)[0], std::byte{0});
    const auto answers = e->take_packets();
    ASSERT_EQ(answers.size(), 2U);
    EXPECT_EQ(answers[0].text(), ack(0, 0).text());
    EXPECT_EQ(answers[1].text(), rnr_nak(1, 12, 0).text());
    e->receive(1, 64);
    e->deliver(write_last_with_immediate(1, 5).carrying(1, 256, 44).asking());
    EXPECT_EQ(first_difference(e->remote_at(remote_base, 300), 1), 300U);
    const auto c = e->poll();
    ASSERT_TRUE(c.has_value());
    EXPECT_EQ(c->byte_len, 300U);
    EXPECT_EQ(c->immediate, 5U);
}

TEST(rc_write_in, an_only_with_immediate_is_told_not_ready_ten_thousand_times_without_effect) {
    auto e = rts_endpoint(open_to_peer());
    const auto p = write_only_with_immediate(0, 5).at(remote_base, e->key(), 4).carrying(1, 0, 4).asking();
    for (int i = 0; i < 10'000; ++i) {
        e->deliver(p);
        ASSERT_EQ(e->take_packets().size(), 1U);
    }
    EXPECT_EQ(e->remote_at(remote_base, 1)[0], std::byte{0});
    EXPECT_EQ(e->qp().counters().rnr_naks_sent, 10'000U);
    e->receive(1, 0);
    e->deliver(p);
    EXPECT_EQ(first_difference(e->remote_at(remote_base, 4), 1), 4U);
}

TEST(rc_write_in, is_not_done_again_when_it_comes_again) {
    auto e = rts_endpoint(open_to_peer());
    e->deliver(write_only(0).at(remote_base, e->key(), 4).carrying(1, 0, 4).asking());
    fill_message(e->remote_at(remote_base, 4), 9);
    e->deliver(write_only(0).at(remote_base, e->key(), 4).carrying(1, 0, 4).asking());
    EXPECT_EQ(first_difference(e->remote_at(remote_base, 4), 9), 4U);
    EXPECT_EQ(e->qp().counters().duplicates_received, 1U);
}

TEST(rc_write_in, and_sends_of_one_stream_keep_their_order) {
    play(
        rts_qp(open_to_peer())
            .posts_receive(1, 64)
            .posts_receive(2, 64)
            .receives(write_only(0).at(remote_base, our_key(), 10).carrying(1, 0, 10))
            .receives(send_only(1).carrying(2, 0, 10))
            .receives(
                write_only_with_immediate(2, 3).at(remote_base + 50, our_key(), 9).carrying(3, 0, 9).asking())
            .sends(ack(2, 3))
            .completes(received(1, 2, 10))
            .completes(was_written(2, 3, 9, remote_base + 50, 3)));
}

// ---- What is refused

struct bad_write {
    const char* name;
    std::uint64_t address;
    std::uint32_t length;
    bool good_key = true;
    rc_endpoint_options options = open_to_peer();
};

void PrintTo(const bad_write& w, std::ostream* out) {
    *out << w.name;
}

rc_endpoint_options region_without(memory_access rights) {
    auto o = open_to_peer();
    o.remote_rights = rights;
    return o;
}

class rc_write_refused : public testing::TestWithParam<bad_write> {};

TEST_P(rc_write_refused, is_told_access_error_and_touches_nothing) {
    const bad_write& w = GetParam();
    auto e = rts_endpoint(w.options);
    e->receive(1, 64);
    const std::uint32_t key = w.good_key ? e->key() : e->key() + 1;
    const std::uint32_t first = std::min(w.length, 256U);
    e->deliver(
        (w.length > 256 ? write_first(0) : write_only(0)).at(w.address, key, w.length).carrying(1, 0, first));
    const auto answers = e->take_packets();
    ASSERT_EQ(answers.size(), 1U);
    EXPECT_EQ(answers[0].text(), nak(0, nak_code::remote_access_error, 0).text());
    EXPECT_EQ(e->qp().state(), queue_pair_state::error);
    EXPECT_TRUE(e->qp().access_violated());
    const auto c = e->poll();
    ASSERT_TRUE(c.has_value());
    EXPECT_EQ(error_code(c->status), error_code(errc::work_request_flushed));
    for (const std::byte b : e->remote().bytes()) ASSERT_EQ(b, std::byte{0});
}

constexpr std::uint64_t end_of_region = remote_base + remote_bytes;

INSTANTIATE_TEST_SUITE_P(
    writes, rc_write_refused,
    testing::Values(
        bad_write{"wrong_key", remote_base, 10, false}, bad_write{"one_before", remote_base - 1, 10},
        bad_write{"one_behind", end_of_region - 9, 10}, bad_write{"at_the_end", end_of_region, 1},
        bad_write{"wraps", ~std::uint64_t{0} - 7, 16}, bad_write{"last_address", ~std::uint64_t{0}, 1},
        bad_write{"null", 0, 4}, bad_write{"first_packet_fits_the_whole_does_not", end_of_region - 256, 257},
        bad_write{"largest", remote_base, 1U << 31},
        bad_write{"region_of_reads", remote_base, 10, true, region_without(memory_access::remote_read)},
        bad_write{"local_region", remote_base, 10, true, region_without(memory_access::local_write)}),
    [](const auto& test) { return std::string(test.param.name); });

struct invalid_write {
    const char* name;
    std::vector<test_packet> packets;
    rc_endpoint_options options = open_to_peer();
};

void PrintTo(const invalid_write& w, std::ostream* out) {
    *out << w.name;
}

class rc_write_invalid : public testing::TestWithParam<invalid_write> {};

TEST_P(rc_write_invalid, is_told_invalid_request) {
    auto e = rts_endpoint(GetParam().options);
    for (const test_packet& p : GetParam().packets) e->deliver(p);
    const auto answers = e->take_packets();
    ASSERT_FALSE(answers.empty());
    const auto bad = static_cast<std::uint32_t>(GetParam().packets.size()) - 1;
    EXPECT_EQ(answers.back().text(), nak(bad, nak_code::invalid_request, 0).text());
    EXPECT_EQ(e->qp().state(), queue_pair_state::error);
    EXPECT_FALSE(e->qp().access_violated());
    // What was written before the bad packet is message 1; behind it there is nothing.
    const std::size_t good = bad * 256;
    EXPECT_EQ(first_difference(e->remote_at(remote_base, good), 1), good);
    for (const std::byte b : e->remote_at(remote_base + good, 1024)) ASSERT_EQ(b, std::byte{0});
}

test_packet first_of(std::uint32_t length) {
    return write_first(0).at(remote_base, our_key(), length).carrying(1, 0, 256);
}

INSTANTIATE_TEST_SUITE_P(
    writes, rc_write_invalid,
    testing::Values(
        invalid_write{"only_shorter_than_told",
                      {write_only(0).at(remote_base, our_key(), 10).carrying(1, 0, 9)}},
        invalid_write{"only_longer_than_told",
                      {write_only(0).at(remote_base, our_key(), 10).carrying(1, 0, 11)}},
        invalid_write{"bytes_in_a_write_of_nothing",
                      {write_only(0).at(remote_base, our_key(), 0).carrying(1, 0, 4)}},
        invalid_write{"first_that_ends_the_message", {first_of(256)}},
        invalid_write{"short_first", {write_first(0).at(remote_base, our_key(), 600).carrying(1, 0, 255)}},
        invalid_write{"longer_than_any_message",
                      {write_first(0).at(remote_base, our_key(), (1U << 31) + 1).carrying(1, 0, 256)}},
        invalid_write{"middle_that_ends_the_message", {first_of(512), write_middle(1).carrying(1, 256, 256)}},
        invalid_write{"middle_beyond_the_message", {first_of(300), write_middle(1).carrying(1, 256, 256)}},
        invalid_write{"last_shorter_than_told", {first_of(300), write_last(1).carrying(1, 256, 43)}},
        invalid_write{"last_longer_than_told", {first_of(300), write_last(1).carrying(1, 256, 45)}},
        invalid_write{"last_with_immediate_longer",
                      {first_of(300), write_last_with_immediate(1, 1).carrying(1, 256, 256)}},
        invalid_write{"middle_without_first", {write_middle(0).carrying(1, 0, 256)}},
        invalid_write{"send_inside", {first_of(600), send_only(1).carrying(1, 0, 4)}},
        invalid_write{"read_inside", {first_of(600), read_request(1).at(remote_base, our_key(), 4)}},
        invalid_write{"write_inside",
                      {first_of(600), write_only(1).at(remote_base, our_key(), 4).carrying(1, 0, 4)}},
        invalid_write{
            "queue_pair_grants_nothing", {write_only(0).at(remote_base, our_key(), 4).carrying(1, 0, 4)}, {}},
        invalid_write{"queue_pair_grants_reads_only",
                      {write_only(0).at(remote_base, our_key(), 4).carrying(1, 0, 4)},
                      [] {
                          auto o = open_to_peer();
                          o.granted = memory_access::remote_read;
                          return o;
                      }()}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(rc_write_in, of_nothing_needs_neither_key_nor_address) {
    play(rts_qp(open_to_peer())
             .receives(write_only(0).at(~std::uint64_t{0}, 0, 0).asking())
             .sends(ack(0, 1))
             .is_in(queue_pair_state::ready_to_send));
}

TEST(rc_write_in, reaches_the_first_and_the_last_byte_of_the_region) {
    auto e = rts_endpoint(open_to_peer());
    e->deliver(write_only(0).at(remote_base, e->key(), 1).carrying(1, 0, 1));
    e->deliver(write_only(1).at(end_of_region - 1, e->key(), 1).carrying(1, 0, 1).asking());
    EXPECT_EQ(e->remote().bytes().front(), byte_of_message(1, 0));
    EXPECT_EQ(e->remote().bytes().back(), byte_of_message(1, 0));
    EXPECT_EQ(e->qp().state(), queue_pair_state::ready_to_send);
}

TEST(rc_write_in, ends_when_the_region_goes_in_mid_message) {
    auto e = rts_endpoint(open_to_peer());
    e->deliver(first_of(600));
    e->remote().deregister();
    e->deliver(write_middle(1).carrying(1, 256, 256));
    const auto answers = e->take_packets();
    ASSERT_EQ(answers.size(), 1U);
    EXPECT_EQ(answers[0].text(), nak(1, nak_code::remote_access_error, 0).text());
    EXPECT_EQ(first_difference(e->remote_at(remote_base, 600), 1), 256U);
}

} // namespace
} // namespace rocio::test
