// Calls that end without their answer: deadlines, cancellation, the end of the client and of the context; and
// the answers that come afterwards.

#include "client_fixture.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <gmock/gmock.h>

#include <array>
#include <functional>
#include <stdexcept>

namespace rocio::rpc {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;

class client_ends_test : public client_fixture {
  protected:
    void call_with_slot(ended<std::int64_t>& end, asio::cancellation_signal& signal,
                        call_options options = no_deadline) {
        caller->async_call<add_signature>("addThem", 1, 1, options,
                                          asio::bind_cancellation_slot(signal.slot(), end.handler()));
    }
    void run_until(const std::function<bool()>& done) {
        const auto limit = std::chrono::steady_clock::now() + patience;
        while (!done()) {
            context.restart();
            ASSERT_GT(context.run_one_until(limit), 0U) << "nothing left to do, or out of time";
        }
    }
};

// Deadlines.

TEST_F(client_ends_test, ends_at_its_deadline) {
    start();
    ended<std::int64_t> end;
    call(end, 1, 1, soon);
    EXPECT_EQ(sent_count(), 1U);
    run();
    EXPECT_EQ(end->times, 1);
    EXPECT_EQ(end->ec, errc::deadline_exceeded);
    EXPECT_EQ(end->result, 0);
    EXPECT_EQ(caller->snapshot().deadline_exceeded, 1U);
    EXPECT_EQ(caller->snapshot().in_flight, 0U);
}

TEST_F(client_ends_test, takes_the_deadline_of_its_configuration) {
    config.deadline = 1ms;
    start();
    ended<std::int64_t> end;
    caller->async_call<add_signature>("addThem", 1, 1, end.handler());
    run();
    EXPECT_EQ(end->ec, errc::deadline_exceeded);
}

TEST_F(client_ends_test, never_sends_a_call_whose_deadline_is_over) {
    start();
    for (const std::chrono::nanoseconds limit : {0ns, -1ns, std::chrono::nanoseconds::min()}) {
        ended<std::int64_t> end;
        call(end, 1, 1, limit);
        poll();
        EXPECT_EQ(end->ec, errc::deadline_exceeded);
    }
    EXPECT_EQ(sent_count(), 0U);
}

TEST_F(client_ends_test, keeps_the_deadline_of_a_call_that_waits_for_a_slot) {
    start();
    std::array<ended<std::int64_t>, 4> first;
    for (auto& end : first) call(end, 1, 1);
    ended<std::int64_t> waiting;
    call(waiting, 1, 1, 1ms);
    run_until([&] { return waiting->times > 0; });
    EXPECT_EQ(waiting->ec, errc::deadline_exceeded);
    EXPECT_EQ(sent_count(), 4U);
    EXPECT_EQ(caller->snapshot().waiting, 0U);
    respond(0, 2);
    EXPECT_EQ(sent_count(), 4U) << "a call that had ended was sent";
}

TEST_F(client_ends_test, ends_calls_in_the_order_of_their_deadlines) {
    start();
    std::vector<int> order;
    const auto note = [&order](int n) {
        return [&order, n](error_code ec, std::int64_t) {
            EXPECT_EQ(ec, errc::deadline_exceeded);
            order.push_back(n);
        };
    };
    caller->async_call<add_signature>("addThem", 1, 1, 9ms, note(3));
    caller->async_call<add_signature>("addThem", 1, 1, 1ms, note(1));
    caller->async_call<add_signature>("addThem", 1, 1, 5ms, note(2));
    run();
    EXPECT_THAT(order, ElementsAre(1, 2, 3));
}

TEST_F(client_ends_test, gives_the_slot_of_a_timed_out_call_to_the_next) {
    start();
    std::array<ended<std::int64_t>, 4> first;
    for (auto& end : first) call(end, 1, 1, soon);
    ended<std::int64_t> next;
    call(next, 2, 2);
    run_until([&] { return sent_count() == 5; });
    EXPECT_THAT(sent_slots(), ElementsAre(0, 1, 2, 3, 0));
    respond(4, 4);
    EXPECT_EQ(next->result, 4);
}

TEST_F(client_ends_test, leaves_no_timer_behind_an_answered_call) {
    start();
    ended<std::int64_t> end;
    call(end, 1, 1, std::chrono::hours(1));
    respond(0, 2);
    run(); // returns at once, or fails
    EXPECT_EQ(end->result, 2);
}

TEST_F(client_ends_test, sets_its_timer_forward_for_an_earlier_deadline) {
    start();
    ended<std::int64_t> late, early;
    call(late, 1, 1, std::chrono::hours(1));
    call(early, 1, 1, 1ms);
    run_until([&] { return early->times > 0; });
    EXPECT_EQ(early->ec, errc::deadline_exceeded);
    EXPECT_EQ(late->times, 0);
}

TEST_F(client_ends_test, looks_again_when_its_timer_was_for_a_call_answered_since) {
    start();
    ended<std::int64_t> answered, silent;
    call(answered, 1, 1, soon);
    call(silent, 1, 1, soon + 10ms);
    respond(0, 2);
    run();
    EXPECT_EQ(answered->result, 2);
    EXPECT_EQ(silent->ec, errc::deadline_exceeded);
}

TEST_F(client_ends_test, takes_deadlines_beyond_the_clocks_range_for_none) {
    start();
    ended<std::int64_t> end;
    call(end, 1, 1, std::chrono::nanoseconds::max() - 1ns);
    poll();
    EXPECT_EQ(end->times, 0);
    respond(0, 2);
    EXPECT_EQ(end->result, 2);
}

// Cancellation, phase by phase.

TEST_F(client_ends_test, is_cancelled_before_it_is_sent) {
    start();
    std::array<ended<std::int64_t>, 4> first;
    for (auto& end : first) call(end, 1, 1);
    asio::cancellation_signal signal;
    ended<std::int64_t> waiting, behind;
    call_with_slot(waiting, signal);
    call(behind, 7, 7);
    signal.emit(asio::cancellation_type::total);
    EXPECT_EQ(waiting->times, 0) << "completed inside emit()";
    poll();
    EXPECT_EQ(waiting->ec, asio::error::operation_aborted);
    respond(0, 2);
    EXPECT_EQ(test::value_behind_header<std::int64_t>(sent(4)), 7) << "the cancelled call was sent";
    EXPECT_EQ(caller->snapshot().cancelled, 1U);
}

TEST_F(client_ends_test, is_cancelled_in_flight_by_every_type) {
    start();
    for (const auto type : {asio::cancellation_type::total, asio::cancellation_type::partial,
                            asio::cancellation_type::terminal}) {
        asio::cancellation_signal signal;
        ended<std::int64_t> end;
        call_with_slot(end, signal);
        poll();
        signal.emit(type);
        poll();
        EXPECT_EQ(end->times, 1);
        EXPECT_EQ(end->ec, asio::error::operation_aborted);
    }
    EXPECT_EQ(caller->snapshot().in_flight, 0U);
}

TEST_F(client_ends_test, overlooks_a_cancellation_of_no_type) {
    start();
    asio::cancellation_signal signal;
    ended<std::int64_t> end;
    call_with_slot(end, signal);
    poll();
    signal.emit(asio::cancellation_type::none);
    respond(0, 2);
    EXPECT_EQ(end->result, 2);
}

TEST_F(client_ends_test, keeps_its_answer_when_it_is_cancelled_after_it) {
    start();
    asio::cancellation_signal signal;
    ended<std::int64_t> end;
    call_with_slot(end, signal);
    respond(0, 2);
    signal.emit(asio::cancellation_type::total);
    poll();
    EXPECT_EQ(end->times, 1);
    EXPECT_EQ(end->result, 2);
    EXPECT_EQ(caller->snapshot().cancelled, 0U);
}

TEST_F(client_ends_test, ends_once_when_deadline_and_cancellation_meet) {
    start();
    asio::cancellation_signal signal;
    ended<std::int64_t> end;
    call_with_slot(end, signal, 0ns);
    signal.emit(asio::cancellation_type::total);
    run();
    EXPECT_EQ(end->times, 1);
    EXPECT_TRUE(end->ec);
}

TEST_F(client_ends_test, is_cancelled_between_its_answer_and_its_handler) {
    // The first handler of a batch cancels the second call, which has its answer already.
    start();
    asio::cancellation_signal signal;
    ended<std::int64_t> second;
    caller->async_call<add_signature>(
        "addThem", 1, 1, [&](error_code, std::int64_t) { signal.emit(asio::cancellation_type::total); });
    call_with_slot(second, signal);
    ring.receive(0, answer_to(0, 2));
    ring.receive(1, answer_to(1, 3));
    caller->poll();
    EXPECT_EQ(second->result, 3);
}

TEST_F(client_ends_test, is_cancelled_by_itself_among_many) {
    start();
    std::array<asio::cancellation_signal, 4> signals;
    std::array<ended<std::int64_t>, 4> ends;
    for (std::size_t i = 0; i < 4; ++i) call_with_slot(ends[i], signals[i]);
    poll();
    signals[2].emit(asio::cancellation_type::total);
    poll();
    for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(ends[i]->times, i == 2 ? 1 : 0) << i;
    for (const std::size_t n : {0, 1, 3}) respond(n, 9);
    for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(ends[i]->result, i == 2 ? 0 : 9) << i;
}

TEST_F(client_ends_test, cancels_all) {
    start();
    std::array<ended<std::int64_t>, 6> ends;
    for (auto& end : ends) call(end, 1, 1);
    caller->cancel();
    EXPECT_EQ(ends[0]->times, 0);
    run();
    for (auto& end : ends) {
        EXPECT_EQ(end->times, 1);
        EXPECT_EQ(end->ec, asio::error::operation_aborted);
    }
    ended<std::int64_t> next;
    call(next, 1, 1);
    respond(4, 2);
    EXPECT_EQ(next->result, 2) << "the client is of no use after cancel()";
}

TEST_F(client_ends_test, may_be_signalled_when_the_client_is_gone) {
    start();
    asio::cancellation_signal signal;
    ended<std::int64_t> end;
    call_with_slot(end, signal);
    poll();
    caller.reset();
    signal.emit(asio::cancellation_type::total);
    run();
    EXPECT_EQ(end->times, 1);
}

// The end of the client and of the context.

TEST_F(client_ends_test, ends_every_call_when_it_is_destroyed) {
    start();
    std::array<ended<std::int64_t>, 6> ends;
    for (auto& end : ends) call(end, 1, 1, std::chrono::hours(1));
    caller.reset();
    EXPECT_EQ(ends[0]->times, 0) << "completed inside the destructor";
    run();
    for (auto& end : ends) {
        EXPECT_EQ(end->times, 1);
        EXPECT_EQ(end->ec, asio::error::operation_aborted);
    }
}

TEST_F(client_ends_test, may_be_destroyed_by_a_handler) {
    start();
    ended<std::int64_t> second;
    caller->async_call<add_signature>("addThem", 1, 1, [&](error_code, std::int64_t) { caller.reset(); });
    call(second, 1, 1);
    ring.receive(0, answer_to(0, 2));
    caller->poll();
    EXPECT_FALSE(caller);
    run();
    EXPECT_EQ(second->ec, asio::error::operation_aborted);
}

TEST_F(client_ends_test, aborts_a_deferred_call_that_begins_after_its_end) {
    start();
    auto deferred = caller->async_call<add_signature>("addThem", 1, 1, asio::deferred);
    caller.reset();
    ended<std::int64_t> end;
    std::move(deferred)(end.handler());
    run();
    EXPECT_EQ(end->ec, asio::error::operation_aborted);
    EXPECT_EQ(sent_count(), 0U);
}

TEST_F(client_ends_test, keeps_its_calls_when_it_is_moved) {
    start();
    ended<std::int64_t> end;
    call(end, 1, 1);
    client_type moved(std::move(*caller));
    caller.reset();
    EXPECT_EQ(moved.on_response(answer_to(0, 2)), answer::delivered);
    EXPECT_EQ(end->result, 2);

    ended<std::int64_t> aborted;
    client_type target(context, ring);
    target.async_call<add_signature>("addThem", 1, 1, aborted.handler());
    target = std::move(moved);
    run();
    EXPECT_EQ(aborted->ec, asio::error::operation_aborted);
}

TEST(client_context_test, destroys_the_handlers_of_its_context_without_calling_them) {
    test::fake_slot_ring ring;
    auto witness = std::make_shared<int>();
    std::weak_ptr<int> watch = witness;
    std::optional<client<test::fake_slot_ring>> caller;
    {
        asio::io_context context;
        caller.emplace(context, ring);
        for (int i = 0; i < 6; ++i) { // in flight, and waiting
            caller->async_call<void()>("noop", [w = witness](error_code) { FAIL() << "called"; });
        }
        context.poll();
        witness.reset();
        EXPECT_FALSE(watch.expired());
    }
    EXPECT_TRUE(watch.expired());
    // The client outlives its context: every entry point does nothing.
    caller->async_call<void()>("noop", [](error_code) { FAIL() << "called"; });
    caller->on_response(test::byte_vector(24));
    caller->on_tx_free();
    caller->cancel();
    caller->poll();
    caller.reset();
}

TEST(client_context_test, may_be_owned_by_the_coroutine_that_calls) {
    test::fake_slot_ring ring;
    bool ended_normally = false;
    {
        asio::io_context context;
        asio::co_spawn(
            context,
            [&]() -> asio::awaitable<void> {
                client own(context, ring);
                co_await own.async_call<void()>("noop", no_deadline, asio::use_awaitable);
                ended_normally = true;
            },
            asio::detached);
        context.poll();
        EXPECT_EQ(ring.sent.size(), 1U);
    } // the call holds the coroutine, which holds the client, which holds the call
    EXPECT_FALSE(ended_normally);
}

} // namespace
} // namespace rocio::rpc
