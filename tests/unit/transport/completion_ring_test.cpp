#include "transport/completion_ring.hpp"

#include <gtest/gtest.h>

namespace rocio::transport {
namespace {

constexpr wr_id id(std::uint32_t slot) {
    return {1, 2, slot};
}

TEST(completion_ring, gives_completions_in_order_with_the_queue_pairs_number) {
    completion_ring ring(4, 4, qpn{0x17});
    ring.send_succeeded(id(1), completion_opcode::send);
    work_completion r;
    r.id = id(2);
    r.op = completion_opcode::receive;
    r.byte_len = 99;
    ring.received(r);
    work_completion out[4];
    ASSERT_EQ(ring.take(out), 2U);
    EXPECT_EQ(out[0].id, id(1));
    EXPECT_EQ(out[0].queue_pair, qpn{0x17});
    EXPECT_EQ(out[1].id, id(2));
    EXPECT_EQ(out[1].byte_len, 99U);
    EXPECT_EQ(out[1].queue_pair, qpn{0x17});
    EXPECT_TRUE(ring.empty());
}

TEST(completion_ring, leaves_everything_but_id_and_status_of_a_failure_zero) {
    completion_ring ring(4, 4, qpn{1});
    ring.receive_failed(id(3), errc::local_length_error);
    work_completion out;
    out.byte_len = 77;
    out.has_immediate = true;
    out.immediate = 5;
    ASSERT_EQ(ring.take({&out, 1}), 1U);
    EXPECT_EQ(out.id, id(3));
    EXPECT_EQ(out.status, errc::local_length_error);
    EXPECT_EQ(out.byte_len, 0U);
    EXPECT_FALSE(out.has_immediate);
    EXPECT_EQ(out.immediate, 0U);
}

TEST(completion_ring, knows_how_many_of_each_queue_it_holds) {
    completion_ring ring(2, 3, qpn{1});
    ring.send_failed(id(0), errc::work_request_flushed);
    ring.receive_failed(id(1), errc::work_request_flushed);
    ring.receive_failed(id(2), errc::work_request_flushed);
    EXPECT_EQ(ring.sends(), 1U);
    EXPECT_EQ(ring.receives(), 2U);
    work_completion out[2];
    ring.take(out);
    EXPECT_EQ(ring.sends(), 0U);
    EXPECT_EQ(ring.receives(), 1U);
}

TEST(completion_ring, holds_both_queues_at_once) {
    completion_ring ring(2, 3, qpn{1});
    for (std::uint32_t i = 0; i < 2; ++i) ring.send_succeeded(id(i), completion_opcode::send);
    for (std::uint32_t i = 0; i < 3; ++i) ring.receive_failed(id(i), errc::work_request_flushed);
    work_completion out[8];
    EXPECT_EQ(ring.take(out), 5U);
}

} // namespace
} // namespace rocio::transport
