#include "test_bytes.hpp"
#include "transport/send_queue.hpp"

#include <gtest/gtest.h>

namespace rocio::transport {
namespace {

class send_queue_test : public testing::Test {
  protected:
    void push(std::uint32_t n, std::uint32_t packets, bool signalled = true) {
        send_request r;
        r.id = {0, 0, n};
        r.signalled = signalled;
        queue.push(r, packets);
    }
    std::vector<std::uint32_t> completed() {
        std::vector<std::uint32_t> all;
        work_completion c;
        while (completions.take({&c, 1}) != 0) {
            EXPECT_EQ(c.status, expected_status);
            all.push_back(c.id.slot);
        }
        return all;
    }

    using ids = std::vector<std::uint32_t>;
    completion_ring completions{8, 1, qpn{1}};
    send_queue queue{8, 16};
    errc expected_status = errc::success;
};

TEST_F(send_queue_test, numbers_packets_through_all_messages) {
    push(1, 1);
    push(2, 3);
    push(3, 1);
    EXPECT_EQ(queue[0].first, 0U);
    EXPECT_EQ(queue[1].first, 1U);
    EXPECT_EQ(queue[1].end(), 4U);
    EXPECT_EQ(queue[2].first, 4U);
    EXPECT_FALSE(queue[1].is_last(1));
    EXPECT_TRUE(queue[1].is_last(2));
}

TEST_F(send_queue_test, completes_only_what_is_wholly_acknowledged) {
    push(1, 1);
    push(2, 3);
    EXPECT_EQ(queue.acknowledge_before(3, completions), 1U);
    EXPECT_EQ(completed(), ids{1});
    EXPECT_EQ(queue.unacknowledged(), 3U);
    EXPECT_EQ(queue.front().first, 1U);
    EXPECT_EQ(queue.acknowledge_before(4, completions), 1U);
    EXPECT_EQ(completed(), ids{2});
    EXPECT_TRUE(queue.empty());
}

TEST_F(send_queue_test, completes_many_with_one_acknowledgement_in_order) {
    for (std::uint32_t n = 1; n <= 8; ++n) push(n, n);
    EXPECT_EQ(queue.acknowledge_before(36, completions), 8U);
    EXPECT_EQ(completed(), (ids{1, 2, 3, 4, 5, 6, 7, 8}));
}

TEST_F(send_queue_test, is_silent_about_unsignalled_successes_but_not_failures) {
    push(1, 1, false);
    push(2, 1, false);
    EXPECT_EQ(queue.acknowledge_before(1, completions), 1U);
    EXPECT_TRUE(completions.empty());
    queue.fail_front(errc::retry_exceeded, completions);
    expected_status = errc::retry_exceeded;
    EXPECT_EQ(completed(), ids{2});
}

TEST_F(send_queue_test, flushes_the_rest_in_order) {
    for (std::uint32_t n = 1; n <= 4; ++n) push(n, 1);
    queue.flush(completions);
    expected_status = errc::work_request_flushed;
    EXPECT_EQ(completed(), (ids{1, 2, 3, 4}));
    EXPECT_TRUE(queue.empty());
}

TEST_F(send_queue_test, keeps_a_copy_of_inlined_bytes_in_every_place) {
    for (std::uint32_t n = 0; n < 20; ++n) {
        auto bytes = test::message_bytes(n, 0, 16);
        send_request r;
        r.inlined = true;
        r.inline_data = bytes;
        queue.push(r, 1);
        std::fill(bytes.begin(), bytes.end(), std::byte{0xEE});
        if (queue.size() < 8) continue;
        for (std::uint64_t i = queue.begin_index(); i < queue.end_index(); ++i)
            EXPECT_EQ(test::first_difference(queue[i].buffer.bytes(), static_cast<std::uint32_t>(i)), 16U);
        queue.acknowledge_before(queue.front().end(), completions);
        completed();
    }
}

TEST_F(send_queue_test, names_the_users_bytes_without_copying_them) {
    std::byte bytes[100];
    send_request r;
    r.op = opcode::send_with_immediate;
    r.immediate = 77;
    r.solicited = true;
    r.buffer = {bytes, 100, lkey{5}};
    queue.push(r, 1);
    EXPECT_EQ(queue.front().buffer.data, bytes);
    EXPECT_EQ(queue.front().buffer.key, lkey{5});
    EXPECT_TRUE(queue.front().has_immediate());
    EXPECT_EQ(queue.front().immediate, 77U);
    EXPECT_TRUE(queue.front().solicited);
}

} // namespace
} // namespace rocio::transport
