#include "rc_endpoint.hpp"

#include <gtest/gtest.h>

// RDMA READ as responder.

namespace rocio::test {
namespace {

using transport::queue_pair_state;
using wire::nak_code;

class rc_read_in : public testing::Test {
  protected:
    rc_read_in() { fill_message(e->remote().bytes(), 50); }

    test_packet ask(std::uint32_t index, std::uint64_t offset, std::uint32_t length) {
        return read_request(index).at(remote_base + offset, e->key(), length);
    }
    static test_packet tell(wire::opcode op, std::uint32_t index, std::uint32_t msn, std::uint64_t offset,
                            std::uint32_t length) {
        return read_response(op, index, msn).carrying(50, offset, length);
    }
    void expect(const std::vector<test_packet>& wanted) {
        const auto sent = e->take_packets();
        ASSERT_EQ(sent.size(), wanted.size());
        for (std::size_t i = 0; i < wanted.size(); ++i) EXPECT_EQ(sent[i].text(), wanted[i].text());
    }
    static constexpr auto first = wire::rc::read_response_first;
    static constexpr auto middle = wire::rc::read_response_middle;
    static constexpr auto last = wire::rc::read_response_last;
    static constexpr auto only = wire::rc::read_response_only;

    std::unique_ptr<rc_endpoint> e = rts_endpoint(open_to_peer());
};

TEST_F(rc_read_in, is_answered_from_memory) {
    e->deliver(ask(0, 7, 700));
    expect({tell(first, 0, 1, 7, 256), tell(middle, 1, 1, 263, 256), tell(last, 2, 1, 519, 188)});
    e->deliver(ask(3, 0, 256));
    e->deliver(ask(4, 0, 0));
    expect({tell(only, 3, 2, 0, 256), tell(only, 4, 3, 0, 0)});
    EXPECT_EQ(e->qp().counters().read_responses_sent, 5U);
    EXPECT_EQ(e->qp().counters().bytes_sent, 956U);
    EXPECT_EQ(e->qp().counters().acks_sent, 0U);
}

TEST_F(rc_read_in, makes_acknowledgements_wait_behind_its_responses) {
    e->receive(1, 64);
    e->deliver(ask(0, 0, 300));
    e->deliver(send_only(2).carrying(1, 0, 10).asking());
    expect({tell(first, 0, 1, 0, 256), tell(last, 1, 1, 256, 44), ack(2, 2)});
}

TEST_F(rc_read_in, makes_a_gap_nak_wait_behind_its_responses) {
    e->deliver(ask(0, 0, 300));
    e->deliver(send_only(5).carrying(1, 0, 10));
    expect({tell(first, 0, 1, 0, 256), tell(last, 1, 1, 256, 44), sequence_nak(2, 1)});
}

TEST_F(rc_read_in, response_replaces_the_acknowledgement_of_what_was_before) {
    e->receive(1, 64);
    e->deliver(send_only(0).carrying(1, 0, 10).asking());
    e->deliver(ask(1, 0, 10));
    expect({tell(only, 1, 2, 0, 10)});
}

TEST_F(rc_read_in, is_answered_again_from_memory_as_it_is_then) {
    e->deliver(ask(0, 0, 600));
    e->take_packets();
    fill_message(e->remote().bytes(), 51);
    e->deliver(ask(0, 0, 600));
    const auto again = e->take_packets();
    ASSERT_EQ(again.size(), 3U);
    EXPECT_EQ(again[0].text(), read_response(first, 0, 1).carrying(51, 0, 256).text());
    EXPECT_EQ(again[2].text(), read_response(last, 2, 1).carrying(51, 512, 88).text());
    EXPECT_EQ(e->qp().counters().duplicates_received, 1U);
}

TEST_F(rc_read_in, is_answered_again_from_its_middle_and_again_as_a_whole) {
    e->deliver(ask(0, 0, 600));
    e->take_packets();
    e->deliver(ask(1, 256, 344));
    expect({tell(first, 1, 1, 256, 256), tell(last, 2, 1, 512, 88)});
    e->deliver(ask(2, 512, 88));
    expect({tell(only, 2, 1, 512, 88)});
    e->deliver(ask(0, 0, 600)); // a partial answer narrows nothing
    EXPECT_EQ(e->take_packets().size(), 3U);
}

TEST_F(rc_read_in, is_not_answered_again_with_what_it_was_not_asked_for) {
    e->deliver(ask(0, 0, 600));
    e->take_packets();
    e->deliver(ask(0, 1, 599));
    e->deliver(ask(1, 0, 256));
    e->deliver(ask(0, 0, 601));
    e->deliver(ask(2, 512, 89));
    e->deliver(read_request(0).at(remote_base, e->key() + 1, 600));
    e->deliver(ask(0xFFFFFF, 0, 600));
    expect({});
    EXPECT_EQ(e->qp().state(), queue_pair_state::ready_to_send);
}

TEST_F(rc_read_in, waits_once_however_often_it_is_repeated) {
    e->deliver(ask(0, 0, 600));
    for (int i = 0; i < 1000; ++i) e->deliver(ask(0, 0, 600));
    EXPECT_EQ(e->take_packets().size(), 3U);
}

TEST_F(rc_read_in, is_forgotten_after_as_many_others_as_the_depth) {
    for (std::uint32_t i = 0; i <= 16; ++i) {
        e->deliver(ask(i, 0, 10));
        e->take_packets();
    }
    e->deliver(ask(0, 0, 10));
    expect({});
    e->deliver(ask(1, 0, 10));
    EXPECT_EQ(e->take_packets().size(), 1U);
}

TEST_F(rc_read_in, beyond_the_depth_is_an_invalid_request_behind_the_answers_to_the_others) {
    for (std::uint32_t i = 0; i <= 16; ++i) e->deliver(ask(i, 0, 10));
    const auto sent = e->take_packets();
    ASSERT_EQ(sent.size(), 17U);
    EXPECT_EQ(sent[15].text(), tell(only, 15, 16, 0, 10).text());
    EXPECT_EQ(sent[16].text(), nak(16, nak_code::invalid_request, 16).text());
    EXPECT_EQ(e->qp().state(), queue_pair_state::error);
}

TEST_F(rc_read_in, leaves_half_of_a_burst_to_requests) {
    e->deliver(ask(0, 0, 60'000));
    for (std::uint32_t n = 1; n <= 8; ++n) e->send(n, 1);
    transport::packet_out out[8];
    EXPECT_EQ(e->qp().next_packets(out, e->now()), 8U);
    int responses = 0;
    for (const auto& p : out) responses += p.header.bytes()[0] != std::byte{0x04};
    EXPECT_EQ(responses, 4);
}

TEST_F(rc_read_in, given_again_after_a_partial_commit_goes_on_where_it_was) {
    e->deliver(ask(0, 0, 1200)); // five packets
    transport::packet_out out[10];
    ASSERT_EQ(e->qp().next_packets(out, e->now()), 5U);
    e->qp().commit(2, e->now());
    expect({tell(middle, 2, 1, 512, 256), tell(middle, 3, 1, 768, 256), tell(last, 4, 1, 1024, 176)});
}

TEST_F(rc_read_in, whose_region_goes_is_refused_where_it_stands) {
    e->deliver(ask(0, 0, 1200));
    e->take_packet();
    e->remote().deregister();
    expect({nak(1, nak_code::remote_access_error, 1)});
    EXPECT_EQ(e->qp().state(), queue_pair_state::error);
    EXPECT_TRUE(e->qp().access_violated());
}

TEST_F(rc_read_in, is_not_answered_after_the_own_side_ended) {
    e->deliver(ask(0, 0, 1200));
    e->qp().to_error();
    expect({});
}

struct bad_read {
    const char* name;
    std::uint64_t address;
    std::uint32_t length;
    bool good_key = true;
    nak_code told = nak_code::remote_access_error;
    rc_endpoint_options options = open_to_peer();
};

void PrintTo(const bad_read& r, std::ostream* out) {
    *out << r.name;
}

class rc_read_refused : public testing::TestWithParam<bad_read> {};

TEST_P(rc_read_refused, is_told_so_and_gets_no_byte) {
    const bad_read& r = GetParam();
    auto e = rts_endpoint(r.options);
    e->receive(1, 64);
    e->deliver(read_request(0).at(r.address, r.good_key ? e->key() : e->key() ^ 0x100, r.length));
    const auto answers = e->take_packets();
    ASSERT_EQ(answers.size(), 1U);
    EXPECT_EQ(answers[0].text(), nak(0, r.told, 0).text());
    EXPECT_EQ(e->qp().state(), queue_pair_state::error);
    EXPECT_EQ(e->qp().access_violated(), r.told == nak_code::remote_access_error);
    EXPECT_EQ(e->poll_all().size(), 1U);
}

constexpr std::uint64_t end_of_region = remote_base + remote_bytes;
rc_endpoint_options changed(void (*change)(rc_endpoint_options&)) {
    auto o = open_to_peer();
    change(o);
    return o;
}

INSTANTIATE_TEST_SUITE_P(
    reads, rc_read_refused,
    testing::Values(
        bad_read{"wrong_key", remote_base, 10, false}, bad_read{"one_before", remote_base - 1, 10},
        bad_read{"one_behind", end_of_region - 9, 10}, bad_read{"wraps", ~std::uint64_t{0} - 7, 16},
        bad_read{"larger_than_the_region", remote_base, remote_bytes + 1},
        bad_read{"largest", remote_base, 1U << 31},
        bad_read{"region_of_writes", remote_base, 10, true, nak_code::remote_access_error,
                 changed([](auto& o) {
                     o.remote_rights = memory_access::local_write | memory_access::remote_write;
                 })},
        bad_read{"longer_than_any_message", remote_base, (1U << 31) + 1, true, nak_code::invalid_request},
        bad_read{"queue_pair_grants_writes_only", remote_base, 10, true, nak_code::invalid_request,
                 changed([](auto& o) { o.granted = memory_access::remote_write; })},
        bad_read{"depth_of_none", remote_base, 10, true, nak_code::invalid_request,
                 changed([](auto& o) { o.responder_depth = 0; })}),
    [](const auto& test) { return std::string(test.param.name); });

TEST_F(rc_read_in, of_nothing_needs_neither_key_nor_address) {
    e->deliver(read_request(0).at(~std::uint64_t{0}, 0, 0));
    expect({tell(only, 0, 1, 0, 0)});
}

TEST(rc_read_depth, outside_its_range_is_refused) {
    rc_endpoint_options options;
    options.responder_depth = 129;
    EXPECT_THROW(rc_endpoint{options}, exception);
    for (const std::uint32_t depth : {0U, 129U}) {
        rc_endpoint_options initiator;
        initiator.initiator_depth = depth;
        auto e = rtr_endpoint(initiator);
        transport::send_path path;
        path.initiator_depth = depth;
        EXPECT_EQ(e->qp().to_rts(path), errc::invalid_argument) << depth;
    }
}

} // namespace
} // namespace rocio::test
