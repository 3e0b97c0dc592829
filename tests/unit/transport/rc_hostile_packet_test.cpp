#include "rc_script.hpp"

#include <gtest/gtest.h>

#include <random>

// Packets that no honest peer sends, and operations that this queue pair does not offer.

namespace rocio::test {
namespace {

using transport::queue_pair_state;
using wire::nak_code;

struct refused {
    const char* name;
    test_packet packet;
};

void PrintTo(const refused& r, std::ostream* out) {
    *out << r.name;
}

std::string name_of(const testing::TestParamInfo<refused>& test) {
    return test.param.name;
}

/// Refused when nothing is in progress.
class rc_hostile_request : public testing::TestWithParam<refused> {};

TEST_P(rc_hostile_request, is_told_invalid_request_and_ends_the_connection) {
    play(rts_qp()
             .posts_receive(1, 4096)
             .receives(GetParam().packet.asking())
             .sends(nak(0, nak_code::invalid_request, 0))
             .completes(flushed(1))
             .is_in(queue_pair_state::error)
             .sends_nothing());
}

INSTANTIATE_TEST_SUITE_P(
    operations_not_offered, rc_hostile_request,
    testing::Values(refused{"write_first", packet(wire::rc::write_first, 0).carrying(1, 0, 256)},
                    refused{"write_only", packet(wire::rc::write_only, 0).carrying(1, 0, 10)},
                    refused{"write_only_with_immediate", packet(wire::rc::write_only_with_immediate, 0)},
                    refused{"read_request", packet(wire::rc::read_request, 0)},
                    refused{"compare_swap", packet(wire::rc::compare_swap, 0)},
                    refused{"fetch_add", packet(wire::rc::fetch_add, 0)},
                    refused{"send_only_with_invalidate", packet(wire::opcode{0x17}, 0).carrying(1, 0, 10)}),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    opcode_without_its_first, rc_hostile_request,
    testing::Values(refused{"middle", send_middle(0).carrying(1, 0, 256)},
                    refused{"last", send_last(0).carrying(1, 0, 10)},
                    refused{"last_with_immediate", send_last_with_immediate(0, 7).carrying(1, 0, 10)},
                    refused{"write_middle", packet(wire::rc::write_middle, 0).carrying(1, 0, 256)}),
    name_of);

INSTANTIATE_TEST_SUITE_P(wrong_length, rc_hostile_request,
                         testing::Values(refused{"short_first", send_first(0).carrying(1, 0, 255)},
                                         refused{"empty_first", send_first(0)},
                                         refused{"long_first", send_first(0).carrying(1, 0, 257)},
                                         refused{"long_only", send_only(0).carrying(1, 0, 257)},
                                         refused{"long_only_with_immediate",
                                                 send_only_with_immediate(0, 7).carrying(1, 0, 260)}),
                         name_of);

/// Refused after the FIRST of a message.
class rc_hostile_continuation : public testing::TestWithParam<refused> {};

TEST_P(rc_hostile_continuation, fails_the_receive_in_use) {
    play(rts_qp()
             .posts_receive(1, 4096)
             .posts_receive(2, 4096)
             .receives(send_first(0).carrying(1, 0, 256).asking())
             .sends(ack(0, 0))
             .receives(GetParam().packet.asking())
             .sends(nak(1, nak_code::invalid_request, 0))
             .completes(failed(1, errc::remote_invalid_request))
             .completes(flushed(2))
             .is_in(queue_pair_state::error));
}

INSTANTIATE_TEST_SUITE_P(
    packets, rc_hostile_continuation,
    testing::Values(refused{"first_inside", send_first(1).carrying(2, 0, 256)},
                    refused{"only_inside", send_only(1).carrying(2, 0, 10)},
                    refused{"only_with_immediate_inside", send_only_with_immediate(1, 7).carrying(2, 0, 10)},
                    refused{"short_middle", send_middle(1).carrying(1, 256, 255)},
                    refused{"long_middle", send_middle(1).carrying(1, 256, 257)},
                    refused{"empty_middle", send_middle(1)}, refused{"empty_last", send_last(1)},
                    refused{"long_last", send_last(1).carrying(1, 256, 257)},
                    refused{"last_of_a_write", packet(wire::rc::write_last, 1).carrying(1, 0, 10)},
                    refused{"read_request", packet(wire::rc::read_request, 1)}),
    name_of);

TEST(rc_hostile, ignores_responses_nobody_asked_for) {
    auto e = rts_endpoint();
    for (const wire::opcode op :
         {wire::rc::read_response_first, wire::rc::read_response_middle, wire::rc::read_response_last,
          wire::rc::read_response_only, wire::rc::atomic_acknowledge}) {
        test_packet p = packet(op, 0);
        if (op.has_payload()) p = p.carrying(1, 0, 256);
        e->deliver(p);
    }
    e->deliver(ack(0, 1));
    EXPECT_EQ(e->qp().counters().ignored_packets, 6U);
    EXPECT_EQ(e->qp().state(), queue_pair_state::ready_to_send);
    EXPECT_TRUE(e->take_packets().empty());
}

TEST(rc_hostile, ignores_packets_of_other_transport_services) {
    auto e = rts_endpoint();
    e->receive(1, 64);
    e->deliver(packet(wire::opcode{0x24}, 0).carrying(1, 0, 10)); // UC SEND ONLY
    e->deliver(packet(wire::opcode{0x2A}, 0).carrying(1, 0, 10)); // UC WRITE ONLY
    EXPECT_EQ(e->qp().counters().ignored_packets, 2U);
    EXPECT_FALSE(e->poll().has_value());
    EXPECT_TRUE(e->take_packets().empty());
}

TEST(rc_hostile, does_not_acknowledge_old_reads_it_never_executed) {
    auto e = rts_endpoint();
    e->deliver(packet(wire::rc::read_request, 0xFFFFF0));
    e->deliver(packet(wire::rc::fetch_add, 0xFFFFF0));
    EXPECT_TRUE(e->take_packets().empty());
    EXPECT_EQ(e->qp().counters().duplicates_received, 2U);
}

TEST(rc_hostile,
     answers_a_flood_from_ahead_with_one_nak_and_one_from_behind_with_one_acknowledgement_a_batch) {
    auto e = rts_endpoint();
    for (std::uint32_t i = 1; i < 1000; ++i) {
        e->deliver(send_only(i).carrying(1, 0, 10).asking());
        e->deliver(send_only(0xFFFFFF - i).carrying(1, 0, 10).asking());
    }
    EXPECT_EQ(e->take_packets().size(), 1U);
    for (std::uint32_t i = 1; i < 1000; ++i) e->deliver(send_only(i).carrying(1, 0, 10).asking());
    EXPECT_TRUE(e->take_packets().empty());
    EXPECT_EQ(e->qp().counters().sequence_naks_sent, 1U);
}

/// Any opcode, PSNs near the expected one, any length, any syndrome.
test_packet random_packet(std::mt19937& random, std::uint32_t next_in, std::uint32_t next_out,
                          std::uint32_t key) {
    const auto pick = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
    for (;;) {
        const wire::opcode op(static_cast<std::uint8_t>(random() % 0x18));
        if (!op.known()) continue;
        const std::uint32_t near = packet(op, 0).is_answer() ? next_out : next_in;
        test_packet p = packet(op, (near + (pick(4) == 0 ? pick(6) - 3 : 0)) & psn::mask);
        p.ask = pick(2) == 0;
        p.answer = {static_cast<std::uint8_t>(pick(3) == 0 ? pick(256) : 0x1F), pick(100)};
        static constexpr std::uint32_t lengths[] = {0, 1, 3, 255, 256, 257, 300};
        if (op.has_payload()) p = p.carrying(1, 0, lengths[pick(7)]);
        static constexpr std::uint64_t addresses[] = {0,
                                                      remote_base - 1,
                                                      remote_base,
                                                      remote_base + 100,
                                                      remote_base + remote_bytes - 256,
                                                      ~std::uint64_t{0}};
        const std::uint32_t whole =
            pick(3) == 0 ? 256 + pick(1000) : static_cast<std::uint32_t>(p.payload.size());
        if (op.has_reth()) p = p.at(addresses[pick(6)], pick(8) == 0 ? key + 1 : key, whole);
        return p;
    }
}

class rc_hostile_stream : public testing::TestWithParam<unsigned> {};

TEST_P(rc_hostile_stream, completes_every_work_request_once_and_writes_only_into_receives) {
    std::mt19937 random(GetParam());
    for (int connection = 0; connection < 300; ++connection) {
        auto e = rts_endpoint(connection % 2 == 0 ? rc_endpoint_options{} : open_to_peer());
        registered_memory closed(e->regions(), 1024, memory_access::local_write, remote_base + remote_bytes);
        constexpr std::uint32_t receives = 6;
        constexpr std::uint32_t sends = 6;
        for (std::uint32_t n = 0; n < receives; ++n) {
            e->receive(n, 400);
            e->memory().take(100); // must stay untouched
        }
        constexpr opcode ops[] = {opcode::send, opcode::rdma_read, opcode::rdma_write};
        for (std::uint32_t n = 0; n < sends; ++n) {
            e->post(e->make_rdma(ops[n % 3], 100 + n, 300, 0x9000, 5));
            e->memory().take(100);
        }
        std::uint32_t next_in = 0;
        for (int i = 0; i < 60; ++i) {
            for (const test_packet& p : e->take_packets())
                if (p.is_answer() && p.answer.syndrome == 0x1F) next_in = (p.index + 1) & psn::mask;
            e->deliver(random_packet(random, next_in, static_cast<std::uint32_t>(random() % 12), e->key()));
            if (random() % 8 == 0) e->wait_for_deadline();
        }
        e->qp().to_error();
        EXPECT_LE(e->take_packets().size(), 2U);
        ASSERT_EQ(e->poll_all().size(), receives + sends);
        for (std::uint32_t n = 0; n < receives; ++n) {
            const std::byte* behind = e->received(n).data() + 400;
            for (int i = 0; i < 100; ++i) ASSERT_EQ(behind[i], std::byte{0});
        }
        for (std::uint32_t n = 100; n < 100 + sends; ++n)
            for (int i = 0; i < 100; ++i) ASSERT_EQ(e->sent(n).data()[300 + i], std::byte{0});
        for (const std::byte b : closed.bytes()) ASSERT_EQ(b, std::byte{0});
    }
}

class uc_hostile_stream : public testing::TestWithParam<unsigned> {};

TEST_P(uc_hostile_stream, completes_every_receive_once_and_says_nothing) {
    std::mt19937 random(GetParam());
    for (int connection = 0; connection < 300; ++connection) {
        auto e = rts_endpoint(unreliable());
        registered_memory closed(e->regions(), 1024, memory_access::local_write, remote_base + remote_bytes);
        for (std::uint32_t n = 0; n < 6; ++n) {
            e->receive(n, 400);
            e->memory().take(100); // must stay untouched
        }
        std::uint32_t next_in = 0;
        std::uint64_t delivered = 0;
        for (int i = 0; i < 100; ++i) {
            test_packet p = random_packet(random, next_in, 0, e->key());
            if (p.op.value() > 0x0B) continue;
            e->deliver(p.on_uc());
            next_in = (p.index + 1) & psn::mask;
            ++delivered;
        }
        EXPECT_EQ(e->qp().counters().packets_received, delivered);
        EXPECT_TRUE(e->take_packets().empty());
        e->qp().to_error();
        ASSERT_EQ(e->poll_all().size(), 6U);
        for (std::uint32_t n = 0; n < 6; ++n)
            for (int i = 0; i < 100; ++i) ASSERT_EQ(e->received(n).data()[400 + i], std::byte{0});
        for (const std::byte b : closed.bytes()) ASSERT_EQ(b, std::byte{0});
    }
}

INSTANTIATE_TEST_SUITE_P(seeds, uc_hostile_stream, testing::Range(1U, 4U));
INSTANTIATE_TEST_SUITE_P(seeds, rc_hostile_stream, testing::Range(1U, 6U));

} // namespace
} // namespace rocio::test
