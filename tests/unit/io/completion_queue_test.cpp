// Raw completions: batches, room, back-pressure.

#include "queue_pair_fixture.hpp"
#include "recorder.hpp"

#include <rocio/io/completion_queue.hpp>

namespace rocio::test {
namespace {

class raw_completion_queue : public queue_pair_fixture {
  protected:
    completion_queue queue{context, dev, 64};
    queue_pair qp{queue, {.send_depth = 16, .receive_depth = 32}};
    std::array<work_completion, 64> out;

    void SetUp() override { ASSERT_FALSE(connect_to(qp, qpn{script_peer})); }
    post_outcome post_receives(std::uint32_t first, std::uint32_t n) {
        std::vector<receive_request> chain(n);
        for (std::uint32_t i = 0; i < n; ++i) chain[i] = {{0, 0, first + i}, memory.buffer(i * 64, 64)};
        return qp.post_receive(chain);
    }
    void complete(std::uint32_t n) {
        for (std::uint32_t i = 0; i < n; ++i) ASSERT_TRUE(dev->complete_receive(0, bytes_of("raw"), i));
    }
};

TEST_F(raw_completion_queue, gives_a_batch_of_16_at_once) {
    ASSERT_EQ(post_receives(100, 16).accepted, 16U);
    recorder<std::size_t> polled;
    queue.async_poll(out, polled.handler());
    complete(16);
    run();
    ASSERT_EQ(polled.result(), 16U);
    for (std::uint32_t i = 0; i < 16; ++i) {
        EXPECT_EQ(out[i].id.slot, 100 + i);
        EXPECT_EQ(out[i].immediate, i);
        EXPECT_EQ(out[i].byte_len, 3U);
        EXPECT_EQ(out[i].op, completion_opcode::receive);
        EXPECT_EQ(out[i].queue_pair, qp.number());
    }
}

TEST_F(raw_completion_queue, posts_a_chain_in_few_calls) {
    ASSERT_EQ(post_receives(0, 32).accepted, 32U);
    EXPECT_EQ(dev->receive_log().size(), 32U);
    EXPECT_EQ(dev->receive_log()[31].id.slot, 31U);
}

TEST_F(raw_completion_queue, tells_how_much_of_a_chain_was_posted_and_why_no_more) {
    dev->fail_call(device_call::post_receive, 5, errc::local_protection_error);
    const auto outcome = post_receives(0, 8);
    EXPECT_EQ(outcome.accepted, 4U);
    EXPECT_EQ(outcome.reason, errc::local_protection_error);
    EXPECT_EQ(dev->posted_receives(), 4U);
    const auto rest = post_receives(4, 32);
    EXPECT_EQ(rest.accepted, 28U);
    EXPECT_EQ(rest.reason, errc::queue_full);
}

TEST_F(raw_completion_queue, gives_what_waits_without_waiting) {
    post_receives(0, 3);
    EXPECT_EQ(queue.poll(out), 0U);
    complete(3);
    recorder<std::size_t> polled;
    queue.async_poll(std::span(out).first(1), polled.handler());
    run();
    EXPECT_EQ(polled.result(), 1U);
    EXPECT_EQ(queue.poll(out), 2U);
    EXPECT_EQ(out[1].id.slot, 2U);
}

TEST_F(raw_completion_queue, completes_at_once_but_not_inside_the_call) {
    post_receives(0, 2);
    complete(2);
    recorder<std::size_t> first, second, empty;
    queue.async_poll(std::span(out).first(1), first.handler());
    run();
    {
        initiation_scope inside;
        queue.async_poll(out, second.handler());
    }
    run();
    EXPECT_EQ(second.result(), 1U);
    queue.async_poll({}, empty.handler());
    run();
    EXPECT_TRUE(empty.done());
    EXPECT_FALSE(empty.ec());
    EXPECT_EQ(empty.result(), 0U);
}

TEST_F(raw_completion_queue, takes_one_waiting_operation_at_a_time) {
    post_receives(0, 1);
    recorder<std::size_t> first, second;
    queue.async_poll(out, first.handler());
    queue.async_poll(out, second.handler());
    run_until([&] { return second.done(); });
    EXPECT_EQ(second.ec(), errc::invalid_state);
    complete(1);
    run();
    EXPECT_EQ(first.result(), 1U);
}

TEST_F(raw_completion_queue, passes_errors_on_as_they_are_and_closes_the_queue_pair) {
    post_receives(7, 2);
    recorder<std::size_t> polled;
    recorder<> closed;
    qp.async_wait_closed(closed.handler());
    queue.async_poll(out, polled.handler());
    dev->fail_receive(0, errc::local_length_error);
    run();
    EXPECT_EQ(closed.ec(), errc::local_length_error);
    ASSERT_EQ(polled.result(), 1U);
    EXPECT_EQ(out[0].status, errc::local_length_error);
    EXPECT_EQ(out[0].id.slot, 7U);
    queue.async_poll(out, polled.handler());
    run();
    ASSERT_EQ(polled.result(), 1U);
    EXPECT_EQ(out[0].status, errc::work_request_flushed);
    EXPECT_EQ(out[0].id.slot, 8U);
}

TEST_F(raw_completion_queue, answers_the_high_level_operations_with_invalid_state) {
    recorder<> sent;
    recorder<received_message> got;
    qp.async_send(memory.buffer(0, 8), sent.handler());
    qp.async_receive(memory.buffer(0, 8), got.handler());
    run();
    EXPECT_EQ(sent.ec(), errc::invalid_state);
    EXPECT_EQ(got.ec(), errc::invalid_state);
}

TEST_F(raw_completion_queue, is_needed_to_post_work_requests) {
    queue_pair plain(context, dev);
    const send_request request{};
    EXPECT_EQ(plain.post_send({&request, 1}).reason, errc::invalid_state);
    EXPECT_EQ(plain.post_send({&request, 1}).accepted, 0U);
}

TEST_F(raw_completion_queue, refuses_more_queue_pairs_than_it_has_room_for) {
    try {
        queue_pair too_much(queue, {.send_depth = 8, .receive_depth = 9});
        ADD_FAILURE() << "48 of 64 are promised, 17 more were accepted";
    } catch (const exception& e) {
        EXPECT_EQ(e.code(), errc::limit_exceeded);
        EXPECT_THAT(e.what(), ::testing::AllOf(::testing::HasSubstr("64"), ::testing::HasSubstr("48"),
                                               ::testing::HasSubstr("17")));
    }
    queue_pair fits(queue, {.send_depth = 8, .receive_depth = 8});
    EXPECT_EQ(dev->live_queue_pairs(), 2U);
}

TEST_F(raw_completion_queue, gives_room_back_when_a_queue_pair_dies) {
    for (int i = 0; i < 10; ++i) queue_pair(queue, {.send_depth = 8, .receive_depth = 8});
    queue_pair fits(queue, {.send_depth = 8, .receive_depth = 8});
    EXPECT_EQ(dev->live_queue_pairs(), 2U);
}

TEST_F(raw_completion_queue, drops_what_a_dead_queue_pair_left_in_it) {
    post_receives(50, 3);
    {
        queue_pair other(queue, {.send_depth = 8, .receive_depth = 8});
        ASSERT_FALSE(connect_to(other, qpn{script_peer}));
        const receive_request request{{0, 0, 9}, memory.buffer(0, 64)};
        ASSERT_EQ(other.post_receive({&request, 1}).accepted, 1U);
        complete(1);
        dev->complete_receive(1, bytes_of("gone"));
        complete(2);
        recorder<std::size_t> polled;
        queue.async_poll(std::span(out).first(1), polled.handler());
        run();
        EXPECT_EQ(polled.result(), 1U);
        EXPECT_EQ(out[0].id.slot, 50U);
    }
    EXPECT_EQ(queue.poll(out), 2U) << "the dead queue pair's is still there, or its neighbour's is gone";
    EXPECT_EQ(out[0].id.slot, 51U);
    EXPECT_EQ(out[1].id.slot, 52U);
}

TEST_F(raw_completion_queue, holds_back_new_work_while_nobody_takes_completions) {
    std::uint32_t posted = 0;
    qp.async_wait_closed([](error_code) {}); // keeps the engine polling
    for (int round = 0; round < 20; ++round) {
        const auto outcome = post_receives(posted, 32);
        posted += static_cast<std::uint32_t>(outcome.accepted);
        if (outcome.accepted == 0) {
            EXPECT_EQ(outcome.reason, errc::queue_full);
            break;
        }
        while (dev->posted_receives() > 0) dev->complete_receive(0, bytes_of("x"));
        poll();
    }
    EXPECT_GE(posted, 64U);
    EXPECT_LE(posted, 128U);
    std::uint32_t taken = 0;
    while (const auto n = queue.poll(out)) {
        for (std::size_t i = 0; i < n; ++i) EXPECT_EQ(out[i].id.slot, taken++);
    }
    EXPECT_EQ(taken, posted);
    EXPECT_EQ(post_receives(0, 1).accepted, 1U);
    qp.cancel();
    run();
}

TEST_F(raw_completion_queue, ends_its_operation_when_it_is_cancelled_or_destroyed) {
    recorder<std::size_t> cancelled, destroyed, assigned;
    queue.async_poll(out, cancelled.handler());
    queue.cancel();
    {
        completion_queue other(context, dev, 4);
        other.async_poll(out, destroyed.handler());
    }
    completion_queue target(context, dev, 4);
    target.async_poll(out, assigned.handler());
    target = completion_queue(context, dev, 4);
    run();
    for (const auto* r : {&cancelled, &destroyed, &assigned}) {
        EXPECT_EQ(r->ec(), asio::error::operation_aborted);
        EXPECT_EQ(r->result(), 0U);
    }
}

TEST_F(raw_completion_queue, may_die_before_its_queue_pairs) {
    std::optional<completion_queue> first(std::in_place, context, dev, 8U);
    queue_pair survivor(*first, {.send_depth = 4, .receive_depth = 4});
    first.reset();
    ASSERT_FALSE(connect_to(survivor, qpn{script_peer}));
    const receive_request request{{0, 0, 1}, memory.buffer(0, 64)};
    EXPECT_EQ(survivor.post_receive({&request, 1}).accepted, 1U);
}

TEST_F(raw_completion_queue, moves_and_changes_its_executor_type) {
    basic_completion_queue<asio::io_context::executor_type> typed(context, dev, 8);
    recorder<std::size_t> polled;
    typed.async_poll(out, polled.handler());
    completion_queue erased(std::move(typed));
    completion_queue last(std::move(erased));
    EXPECT_FALSE(polled.done());
    last.cancel();
    run();
    EXPECT_EQ(polled.ec(), asio::error::operation_aborted);
}

TEST_F(raw_completion_queue, tells_when_its_device_is_gone) {
    recorder<std::size_t> waiting, later;
    queue.async_poll(out, waiting.handler());
    dev->raise({device_event_kind::device_fatal, 0, {}});
    run();
    EXPECT_EQ(waiting.ec(), errc::device_fatal);
    queue.async_poll(out, later.handler());
    run();
    EXPECT_EQ(later.ec(), errc::device_fatal);
}

TEST_F(raw_completion_queue, checks_its_depth) {
    for (const std::uint32_t depth : {0U, 0xFFFFFFFFU}) {
        try {
            completion_queue(context, dev, depth);
            ADD_FAILURE() << depth;
        } catch (const exception& e) {
            EXPECT_EQ(e.code(), errc::invalid_argument);
            EXPECT_THAT(e.what(), ::testing::HasSubstr(std::to_string(depth)));
        }
    }
}

TEST_F(raw_completion_queue, makes_a_fresh_queue_pair_for_a_reconnect) {
    post_receives(1, 4);
    qp.close();
    run();
    ASSERT_FALSE(connect_to(qp, qpn{script_peer}));
    EXPECT_EQ(queue.poll(out), 0U) << "the old queue pair's completions went with it";
    const receive_request request{{0, 0, 77}, memory.buffer(0, 64)};
    ASSERT_EQ(qp.post_receive({&request, 1}).accepted, 1U);
    recorder<std::size_t> polled;
    queue.async_poll(out, polled.handler());
    dev->complete_receive(1, bytes_of("again"));
    run();
    ASSERT_EQ(polled.result(), 1U);
    EXPECT_EQ(out[0].id.slot, 77U);
}

} // namespace
} // namespace rocio::test
