// What cancellation does, per operation, state and type: the truth table of the documentation.

#include "queue_pair_fixture.hpp"
#include "recorder.hpp"

#include <rocio/io/device_monitor.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>

#include <thread>

namespace rocio::test {
namespace {

using asio::cancellation_type;

class queue_pair_cancellation : public queue_pair_fixture {
  protected:
    registered_buffer small() { return memory.buffer(0, 64); }
    template <class Handler>
    auto cancellable(Handler handler) {
        return asio::bind_cancellation_slot(signal.slot(), std::move(handler));
    }

    asio::cancellation_signal signal;
};

class every_type : public queue_pair_cancellation, public ::testing::WithParamInterface<cancellation_type> {
  protected:
    bool is_terminal() const { return (GetParam() & cancellation_type::terminal) != cancellation_type::none; }
};

TEST_P(every_type, ends_a_wait_and_leaves_the_queue_pair_alone) {
    auto qp = connected();
    recorder<> wait, other;
    qp.async_wait_closed(cancellable(wait.handler()));
    qp.async_wait_closed(other.handler());
    signal.emit(GetParam());
    run_until([&] { return wait.done(); });
    EXPECT_EQ(wait.ec(), asio::error::operation_aborted);
    EXPECT_FALSE(other.done());
    EXPECT_EQ(qp.state(), queue_pair_state::ready_to_send);
    qp.cancel();
    run();
}

TEST_P(every_type, of_a_posted_work_request_closes_the_queue_pair_only_if_terminal) {
    auto qp = connected();
    recorder<> send, neighbour, closed;
    recorder<received_message> receive;
    qp.async_send(small(), cancellable(send.handler()));
    qp.async_send(small(), neighbour.handler());
    qp.async_receive(small(), receive.handler());
    qp.async_wait_closed(closed.handler());
    signal.emit(GetParam());
    if (!is_terminal()) {
        poll();
        EXPECT_FALSE(send.done());
        EXPECT_EQ(qp.state(), queue_pair_state::ready_to_send);
        dev->complete_send(0);
        run_until([&] { return send.done(); });
        EXPECT_FALSE(send.ec());
        qp.close();
    }
    run();
    EXPECT_EQ(qp.state(), queue_pair_state::error);
    if (is_terminal()) {
        EXPECT_EQ(send.ec(), asio::error::operation_aborted);
    }
    EXPECT_EQ(neighbour.ec(), errc::work_request_flushed);
    EXPECT_EQ(receive.ec(), errc::work_request_flushed);
    EXPECT_EQ(closed.ec(), asio::error::operation_aborted);
}

TEST_P(every_type, of_a_posted_receive_closes_the_queue_pair_only_if_terminal) {
    auto qp = connected();
    recorder<received_message> receive;
    qp.async_receive(small(), cancellable(receive.handler()));
    signal.emit(GetParam());
    if (is_terminal()) {
        run();
        EXPECT_EQ(receive.ec(), asio::error::operation_aborted);
        EXPECT_EQ(qp.state(), queue_pair_state::error);
        return;
    }
    dev->complete_receive(0, bytes_of("x"));
    run();
    EXPECT_FALSE(receive.ec());
    EXPECT_EQ(qp.state(), queue_pair_state::ready_to_send);
}

TEST_P(every_type, takes_back_an_operation_that_waits_in_the_object) {
    auto qp = connected({.send_depth = 1});
    recorder<> posted, waiting, behind;
    qp.async_send(small(), posted.handler());
    qp.async_send(small(), cancellable(waiting.handler()));
    qp.async_send(small(), behind.handler());
    signal.emit(GetParam());
    run_until([&] { return waiting.done(); });
    EXPECT_EQ(waiting.ec(), asio::error::operation_aborted);
    EXPECT_EQ(qp.state(), queue_pair_state::ready_to_send);
    dev->complete_send(0);
    run_until([&] { return posted.done() && dev->posted_sends() == 1; });
    dev->complete_send(0);
    run();
    EXPECT_FALSE(posted.ec());
    EXPECT_FALSE(behind.ec());
}

TEST_P(every_type, takes_back_a_receive_of_an_unconnected_queue_pair) {
    queue_pair qp(context, dev);
    recorder<received_message> receive;
    qp.async_receive(small(), cancellable(receive.handler()));
    signal.emit(GetParam());
    run();
    EXPECT_EQ(receive.ec(), asio::error::operation_aborted);
    EXPECT_EQ(qp.state(), queue_pair_state::reset);
}

TEST_P(every_type, ends_the_wait_for_an_event) {
    device_monitor monitor(context, dev);
    recorder<device_event> cancelled, other;
    monitor.async_next_event(cancellable(cancelled.handler()));
    monitor.async_next_event(other.handler());
    signal.emit(GetParam());
    run_until([&] { return cancelled.done(); });
    EXPECT_EQ(cancelled.ec(), asio::error::operation_aborted);
    dev->raise({device_event_kind::gid_change, 1, {}});
    run();
    EXPECT_FALSE(other.ec());
    EXPECT_EQ(other.result().kind, device_event_kind::gid_change);
}

TEST_P(every_type, ends_the_wait_for_completions_and_takes_none) {
    completion_queue queue(context, dev, 16);
    queue_pair qp(queue, {.send_depth = 4, .receive_depth = 4});
    ASSERT_FALSE(connect_to(qp, qpn{script_peer}));
    std::array<work_completion, 4> out;
    recorder<std::size_t> cancelled, again;
    queue.async_poll(out, cancellable(cancelled.handler()));
    signal.emit(GetParam());
    const receive_request r{{0, 0, 9}, small()};
    ASSERT_EQ(qp.post_receive({&r, 1}).accepted, 1U);
    dev->complete_receive(0, bytes_of("x"));
    run();
    EXPECT_EQ(cancelled.ec(), asio::error::operation_aborted);
    EXPECT_EQ(cancelled.result(), 0U);
    queue.async_poll(out, again.handler());
    run();
    EXPECT_EQ(again.result(), 1U);
    EXPECT_EQ(out[0].id.slot, 9U);
}

TEST_P(every_type, that_comes_after_the_completion_does_nothing) {
    auto qp = connected();
    recorder<received_message> receive;
    recorder<> wait;
    qp.async_receive(small(), cancellable(receive.handler()));
    qp.async_wait_closed(wait.handler());
    dev->complete_receive(0, bytes_of("x"));
    run_until([&] { return receive.done(); });
    EXPECT_FALSE(signal.slot().has_handler()) << "the slot must be free when the handler runs";
    signal.emit(GetParam());
    poll();
    EXPECT_FALSE(wait.done());
    EXPECT_EQ(qp.state(), queue_pair_state::ready_to_send);
    qp.cancel();
    run();
}

INSTANTIATE_TEST_SUITE_P(types, every_type,
                         ::testing::Values(cancellation_type::terminal, cancellation_type::partial,
                                           cancellation_type::total, cancellation_type::all),
                         [](const auto& p) {
                             switch (p.param) {
                             case cancellation_type::terminal:
                                 return "terminal";
                             case cancellation_type::partial:
                                 return "partial";
                             case cancellation_type::total:
                                 return "total";
                             default:
                                 return "all";
                             }
                         });

TEST_F(queue_pair_cancellation, of_type_none_is_ignored) {
    auto qp = connected();
    recorder<> wait;
    qp.async_wait_closed(cancellable(wait.handler()));
    signal.emit(cancellation_type::none);
    poll();
    EXPECT_FALSE(wait.done());
    qp.cancel();
    run();
}

TEST_F(queue_pair_cancellation, of_the_whole_object_ends_only_the_waits) {
    auto qp = connected({.send_depth = 1});
    recorder<> wait, posted, waiting;
    qp.async_wait_closed(wait.handler());
    qp.async_send(small(), posted.handler());
    qp.async_send(small(), waiting.handler());
    qp.cancel();
    run_until([&] { return wait.done(); });
    EXPECT_EQ(wait.ec(), asio::error::operation_aborted);
    EXPECT_FALSE(posted.done());
    EXPECT_FALSE(waiting.done());
    dev->complete_send(0);
    run_until([&] { return posted.done() && dev->posted_sends() == 1; });
    dev->complete_send(0);
    run();
    EXPECT_FALSE(waiting.ec());
}

TEST_F(queue_pair_cancellation, lets_a_completion_win_that_is_already_queued) {
    auto qp = connected();
    recorder<> send;
    qp.async_send(small(), cancellable(send.handler()));
    dev->complete_send(0); // on the completion queue, not yet polled
    signal.emit(cancellation_type::terminal);
    run();
    EXPECT_FALSE(send.ec()) << "the message was delivered";
    EXPECT_EQ(qp.state(), queue_pair_state::error);
}

TEST_F(queue_pair_cancellation, reports_the_failure_that_came_before_it) {
    auto qp = connected();
    recorder<> send;
    qp.async_send(small(), cancellable(send.handler()));
    dev->complete_send(0, errc::retry_exceeded);
    signal.emit(cancellation_type::terminal);
    run();
    EXPECT_EQ(send.ec(), errc::retry_exceeded);
}

TEST_F(queue_pair_cancellation, from_a_handler_of_the_same_turn_finds_nothing_left) {
    auto qp = connected();
    recorder<received_message> second;
    qp.async_receive(small(),
                     [&](error_code, received_message) { signal.emit(cancellation_type::terminal); });
    qp.async_receive(small(), cancellable(second.handler()));
    dev->complete_receive(0, bytes_of("1"));
    dev->complete_receive(0, bytes_of("2"));
    run();
    EXPECT_FALSE(second.ec());
    EXPECT_EQ(qp.state(), queue_pair_state::ready_to_send);
}

TEST_F(queue_pair_cancellation, does_not_hit_the_next_operation_in_the_same_memory) {
    // The first handler is on its way to another context, its operation's memory is in use again, and only
    // now the cancellation comes.
    auto qp = connected();
    asio::io_context elsewhere;
    recorder<received_message> first, second;
    qp.async_receive(small(), asio::bind_executor(elsewhere.get_executor(), cancellable(first.handler())));
    dev->complete_receive(0, bytes_of("1"));
    run();
    EXPECT_FALSE(first.done());
    qp.async_receive(small(), asio::bind_executor(elsewhere.get_executor(), second.handler()));
    signal.emit(cancellation_type::terminal);
    EXPECT_EQ(qp.state(), queue_pair_state::ready_to_send);
    dev->complete_receive(0, bytes_of("2"));
    run();
    elsewhere.run();
    EXPECT_FALSE(first.ec());
    EXPECT_FALSE(second.ec());
}

TEST_F(queue_pair_cancellation, outlives_the_queue_pair) {
    recorder<received_message> receive;
    asio::io_context elsewhere;
    {
        auto qp = connected();
        qp.async_receive(small(),
                         asio::bind_executor(elsewhere.get_executor(), cancellable(receive.handler())));
    }
    run();
    signal.emit(cancellation_type::terminal);
    elsewhere.run();
    EXPECT_EQ(receive.ec(), asio::error::operation_aborted);
}

} // namespace
} // namespace rocio::test
