// Coroutines: waiting for the first of several, groups, strands, cancellation that comes late.

#include "queue_pair_fixture.hpp"
#include "recorder.hpp"

#include <rocio/io/device_monitor.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/experimental/parallel_group.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace rocio::test {
namespace {

using namespace asio::experimental::awaitable_operators;
using namespace std::chrono_literals;
using asio::use_awaitable;

class coroutine : public queue_pair_fixture {
  protected:
    registered_buffer small() { return memory.buffer(0, 64); }
    /// Runs a coroutine to its end and passes its exception on.
    template <class Make>
    void play(Make make) {
        std::exception_ptr failure;
        asio::co_spawn(context, make(), [&](std::exception_ptr e) { failure = e; });
        run();
        if (failure) std::rethrow_exception(failure);
    }
};

TEST_F(coroutine, uses_the_default_token) {
    auto qp = connected();
    play([&]() -> asio::awaitable<void> {
        dev->on_progress([&](auto) { return dev->complete_send(0); });
        co_await qp.async_send(small());
        co_await qp.async_send(inline_bytes(bytes_of("x")));
        co_await qp.async_send_with_immediate(small(), 7);
        dev->on_progress([&](auto) { return dev->complete_receive(0, bytes_of("abc")); });
        const received_message m = co_await qp.async_receive(small());
        EXPECT_EQ(m.size, 3U);
    });
}

TEST_F(coroutine, gets_errors_as_exceptions_or_values) {
    queue_pair qp(context, dev);
    play([&]() -> asio::awaitable<void> {
        const auto [ec] = co_await qp.async_send(small(), asio::as_tuple(use_awaitable));
        EXPECT_EQ(ec, errc::invalid_state);
        const auto [again] = co_await qp.async_send(small(), asio::as_tuple(asio::deferred));
        EXPECT_EQ(again, errc::invalid_state);
        try {
            co_await qp.async_send(small());
            ADD_FAILURE();
        } catch (const boost::system::system_error& e) {
            EXPECT_EQ(e.code(), errc::invalid_state);
        }
    });
}

TEST_F(coroutine, waits_for_the_close_or_a_timeout_and_leaves_the_queue_pair_usable) {
    auto qp = connected();
    play([&]() -> asio::awaitable<void> {
        asio::steady_timer timer(context, 1ms);
        const auto which = co_await (qp.async_wait_closed(use_awaitable) || timer.async_wait(use_awaitable));
        EXPECT_EQ(which.index(), 1U);
        EXPECT_EQ(qp.state(), queue_pair_state::ready_to_send);
    });
}

TEST_F(coroutine, that_times_out_a_posted_receive_loses_the_connection) {
    auto qp = connected();
    recorder<> closed;
    qp.async_wait_closed(closed.handler());
    play([&]() -> asio::awaitable<void> {
        asio::steady_timer timer(context, 1ms);
        const auto which =
            co_await (qp.async_receive(small(), use_awaitable) || timer.async_wait(use_awaitable));
        EXPECT_EQ(which.index(), 1U);
    });
    EXPECT_EQ(qp.state(), queue_pair_state::error);
    EXPECT_EQ(closed.ec(), asio::error::operation_aborted);
}

TEST_F(coroutine, that_gets_its_message_in_time_keeps_the_connection) {
    auto qp = connected();
    play([&]() -> asio::awaitable<void> {
        asio::steady_timer timer(context, 1h);
        dev->on_progress([&](auto) { return dev->complete_receive(0, bytes_of("in time")); });
        const auto which =
            co_await (qp.async_receive(small(), use_awaitable) || timer.async_wait(use_awaitable));
        EXPECT_EQ(which.index(), 0U);
        EXPECT_EQ(std::get<0>(which).size, 7U);
    });
    EXPECT_EQ(qp.state(), queue_pair_state::ready_to_send);
}

TEST_F(coroutine, waits_for_all_of_a_group) {
    auto a = connected(), b = connected();
    device_monitor monitor(context, dev);
    play([&]() -> asio::awaitable<void> {
        asio::post(context, [&] {
            dev->complete_receive(1, bytes_of("bb"));
            dev->complete_receive(0, bytes_of("a"));
            dev->raise({device_event_kind::gid_change, 1, {}});
        });
        const auto [order, ec_a, m_a, ec_b, m_b, ec_e, event] =
            co_await asio::experimental::make_parallel_group(a.async_receive(small(), asio::deferred),
                                                             b.async_receive(small(), asio::deferred),
                                                             monitor.async_next_event(asio::deferred))
                .async_wait(asio::experimental::wait_for_all(), asio::deferred);
        EXPECT_FALSE(ec_a || ec_b || ec_e);
        EXPECT_EQ(m_a.size, 1U);
        EXPECT_EQ(m_b.size, 2U);
        EXPECT_EQ(event.kind, device_event_kind::gid_change);
        EXPECT_EQ(order.size(), 3U);
    });
}

TEST_F(coroutine, takes_the_first_of_two_waits_and_ends_the_other_without_harm) {
    auto a = connected(), b = connected();
    play([&]() -> asio::awaitable<void> {
        b.close();
        const auto [order, ec_a, ec_b] =
            co_await asio::experimental::make_parallel_group(a.async_wait_closed(asio::deferred),
                                                             b.async_wait_closed(asio::deferred))
                .async_wait(asio::experimental::wait_for_one(), asio::deferred);
        EXPECT_EQ(order[0], 1U);
        EXPECT_EQ(ec_a, asio::error::operation_aborted);
        EXPECT_EQ(ec_b, asio::error::operation_aborted);
        EXPECT_EQ(a.state(), queue_pair_state::ready_to_send);
    });
}

TEST_F(coroutine, resumes_on_its_strand) {
    auto strand = asio::make_strand(context);
    queue_pair qp(strand, dev);
    ASSERT_FALSE(connect_to(qp, qpn{script_peer}));
    int resumed = 0;
    dev->on_progress([&](auto) { return dev->complete_send(0); });
    asio::co_spawn(
        strand,
        [&]() -> asio::awaitable<void> {
            for (int i = 0; i < 10; ++i) {
                co_await qp.async_send(small(), use_awaitable);
                EXPECT_TRUE(strand.running_in_this_thread());
                ++resumed;
            }
        },
        asio::detached);
    run();
    EXPECT_EQ(resumed, 10);
}

TEST_F(coroutine, that_is_cancelled_after_its_message_came_stops_at_the_next_step) {
    auto qp = connected({.receive_depth = 4});
    asio::cancellation_signal signal;
    std::exception_ptr failure;
    int received = 0;
    asio::co_spawn(
        context,
        [&]() -> asio::awaitable<void> {
            for (;;) {
                co_await qp.async_receive(small(), use_awaitable);
                ++received;
            }
        },
        asio::bind_cancellation_slot(signal.slot(), [&](std::exception_ptr e) { failure = e; }));
    poll();
    // The message is in, its handler not yet called when the cancellation comes: the message is given, no
    // other is waited for.
    dev->complete_receive(0, bytes_of("x"));
    signal.emit(asio::cancellation_type::terminal);
    run();
    EXPECT_EQ(received, 1);
    ASSERT_TRUE(failure);
    try {
        std::rethrow_exception(failure);
    } catch (const boost::system::system_error& e) {
        EXPECT_EQ(e.code(), asio::error::operation_aborted);
    }
}

TEST_F(coroutine, starts_nothing_before_it_is_awaited) {
    auto qp = connected();
    auto lazy_send = qp.async_send(small(), asio::deferred);
    auto lazy_receive = qp.async_receive(small(), asio::deferred);
    EXPECT_EQ(dev->posted_sends() + dev->posted_receives(), 0U);
    auto moved = std::move(qp);
    play([&]() -> asio::awaitable<void> {
        dev->on_progress(
            [&](auto) { return dev->complete_send(0) || dev->complete_receive(0, bytes_of("x")); });
        co_await std::move(lazy_send);
        co_await std::move(lazy_receive);
    });
    EXPECT_EQ(dev->calls(device_call::post_send), 1U);
}

TEST_F(coroutine, may_await_an_operation_of_an_object_that_died_before) {
    std::optional<queue_pair> qp(connected());
    auto lazy = qp->async_send(small(), asio::deferred);
    qp.reset();
    play([&]() -> asio::awaitable<void> {
        const auto [ec] = co_await std::move(lazy)(asio::as_tuple(asio::deferred));
        EXPECT_EQ(ec, errc::work_request_flushed);
    });
}

} // namespace
} // namespace rocio::test
