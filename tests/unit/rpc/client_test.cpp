#include "client_fixture.hpp"
#include "hex.hpp"
#include "tracker_executor.hpp"

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <gmock/gmock.h>

#include <atomic>
#include <functional>
#include <set>
#include <stdexcept>
#include <thread>

namespace rocio::rpc {
namespace {

using test::packed;
using test::request_of;
using test::to_hex;
using ::testing::ElementsAre;

class client_test : public client_fixture {};

TEST_F(client_test, sends_the_bytes_of_the_original) {
    config.first_id = 42;
    start();
    ended<std::int64_t> end;
    call(end, 2, 3);
    ASSERT_EQ(sent_count(), 1U);
    EXPECT_EQ(to_hex(sent(0)), "52515543"
                               "1e906c5a"
                               "10000000"
                               "2a000000"
                               "2a00000000000000"
                               "0200000000000000"
                               "0300000000000000");
}

TEST_F(client_test, completes_with_the_answer) {
    start();
    ended<std::int64_t> end;
    call(end, 2, 3);
    EXPECT_EQ(end->times, 0);
    EXPECT_EQ(respond(0, 5), answer::delivered);
    EXPECT_EQ(end->times, 1);
    EXPECT_FALSE(end->ec);
    EXPECT_EQ(end->result, 5);
    EXPECT_EQ(caller->snapshot().succeeded, 1U);
}

TEST_F(client_test, calls_without_a_result) {
    start();
    int times = 0;
    caller->async_call<void()>("noop", [&](error_code ec) { times += ec ? 100 : 1; });
    EXPECT_EQ(sent(0).size(), 24U);
    caller->on_response(test::response_bytes(request_of(sent(0)), {}));
    EXPECT_EQ(times, 1);
}

TEST_F(client_test, takes_several_results_and_variable_ones) {
    start();
    using signature = std::tuple<std::int32_t, std::vector<float>>(std::span<const double>);
    const std::vector<double> samples{1.5};
    ended<std::tuple<std::int32_t, std::vector<float>>> end;
    caller->async_call<signature>("spectrum", std::span<const double>(samples), end.handler());
    EXPECT_EQ(to_hex(std::span(sent(0)).subspan(24)), "000000000000f83f");
    const auto results = packed(std::int32_t{3}, std::vector<float>{1.0F, 2.0F});
    caller->on_response(test::response_bytes(request_of(sent(0)), results));
    EXPECT_EQ(std::get<0>(end->result), 3);
    EXPECT_THAT(std::get<1>(end->result), ElementsAre(1.0F, 2.0F));
}

TEST_F(client_test, converts_its_arguments_to_the_signatures) {
    start();
    caller->async_call<void(std::uint8_t, double, std::int64_t)>("mixed", 7, 2, short{-1}, [](error_code) {});
    EXPECT_EQ(to_hex(std::span(sent(0)).subspan(24)), "070000000000000040ffffffffffffffff");
}

TEST_F(client_test, takes_what_a_function_is_named_with) {
    start();
    constexpr function_id id = "noop";
    const std::string name = "noop";
    caller->async_call<void()>(id, [](error_code) {});
    caller->async_call<void()>(std::string_view(name), [](error_code) {});
    caller->async_call<void()>(function_id(0xa6ab766dU), [](error_code) {});
    ASSERT_EQ(sent_count(), 3U);
    for (const auto& m : ring.sent) EXPECT_EQ(request_of(m.bytes).function, 0xa6ab766dU);
}

TEST_F(client_test, never_completes_inside_the_call) {
    start();
    ring.next_publish_error = rocio::errc::queue_full;
    bool returned = false;
    asio::post(context, [&] {
        caller->async_call<void()>("noop", [&](error_code ec) {
            EXPECT_TRUE(returned);
            EXPECT_EQ(ec, rocio::errc::queue_full);
        });
        returned = true;
    });
    run();
    EXPECT_EQ(caller->snapshot().refused, 1U);
}

TEST_F(client_test, finds_the_call_by_its_id_whatever_the_order) {
    start();
    std::array<ended<std::int64_t>, 4> ends;
    for (int i = 0; i < 4; ++i) call(ends[static_cast<std::size_t>(i)], i, i);
    for (const std::size_t n : {2, 0, 3, 1}) {
        EXPECT_EQ(respond(n, 100 + static_cast<std::int64_t>(n)), answer::delivered);
    }
    for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(ends[i]->result, 100 + static_cast<std::int64_t>(i));
}

TEST_F(client_test, draws_its_first_id_at_random) {
    config.first_id.reset();
    std::set<std::uint64_t> ids;
    for (int i = 0; i < 8; ++i) {
        start();
        ended<std::int64_t> end;
        call(end, 1, 1);
        ids.insert(request_of(last_sent()).timestamp);
        caller.reset();
        poll();
    }
    EXPECT_EQ(ids.size(), 8U);
}

// Slots.

TEST_F(client_test, takes_the_send_slots_one_after_the_other) {
    start();
    std::array<ended<std::int64_t>, 10> ends;
    for (std::size_t i = 0; i < 10; ++i) {
        call(ends[i], 1, 1);
        respond(i, 2);
    }
    EXPECT_THAT(sent_slots(), ElementsAre(0, 1, 2, 3, 0, 1, 2, 3, 0, 1));
}

TEST_F(client_test, lets_calls_wait_in_order_when_all_slots_are_taken) {
    start();
    std::array<ended<std::int64_t>, 7> ends;
    for (std::size_t i = 0; i < 7; ++i) call(ends[i], static_cast<std::int64_t>(i), 0);
    EXPECT_EQ(sent_count(), 4U);
    EXPECT_EQ(caller->snapshot().waiting, 3U);
    EXPECT_EQ(caller->snapshot().in_flight, 4U);
    respond(0, 0);
    respond(1, 0);
    respond(2, 0);
    ASSERT_EQ(sent_count(), 7U);
    for (std::size_t i = 0; i < 7; ++i) {
        EXPECT_EQ(test::value_behind_header<std::int64_t>(sent(i)), static_cast<std::int64_t>(i));
    }
    EXPECT_EQ(caller->snapshot().waiting, 0U);
}

TEST_F(client_test, waits_for_the_next_slot_in_sequence) {
    start();
    std::array<ended<std::int64_t>, 5> ends;
    for (auto& end : ends) call(end, 1, 1);
    respond(1, 2); // slot 0 is the next in sequence, and still taken
    EXPECT_EQ(sent_count(), 4U);
    respond(0, 2);
    EXPECT_THAT(sent_slots(), ElementsAre(0, 1, 2, 3, 0));
}

TEST_F(client_test, takes_any_free_slot_when_the_peer_does_not_mind) {
    config.order = slot_order::any_free;
    start();
    std::array<ended<std::int64_t>, 5> ends;
    for (auto& end : ends) call(end, 1, 1);
    respond(1, 2);
    EXPECT_THAT(sent_slots(), ElementsAre(0, 1, 2, 3, 1));
}

TEST_F(client_test, waits_for_a_message_that_has_not_left) {
    start();
    ring.keep_tx = true;
    ring.occupy_tx(0);
    ended<std::int64_t> end;
    call(end, 1, 1);
    EXPECT_EQ(sent_count(), 0U);
    ring.let_leave(0);
    caller->on_tx_free();
    EXPECT_EQ(sent_count(), 1U);
    respond(0, 2);
    EXPECT_EQ(end->result, 2);
}

TEST_F(client_test, refuses_more_waiting_calls_than_configured) {
    config.max_waiting = 2;
    start();
    std::array<ended<std::int64_t>, 8> ends;
    for (auto& end : ends) call(end, 1, 1);
    poll();
    for (std::size_t i = 0; i < 8; ++i) EXPECT_EQ(ends[i]->times, i < 6 ? 0 : 1) << i;
    EXPECT_EQ(ends[7]->ec, rocio::errc::queue_full);
    EXPECT_EQ(caller->snapshot().refused, 2U);
}

TEST_F(client_test, refuses_what_does_not_fit_a_slot) {
    start();
    const std::vector<std::uint8_t> fits(40), too_long(41);
    std::vector<error_code> ended_with;
    using signature = void(std::span<const std::uint8_t>);
    const auto handler = [&](error_code ec) { ended_with.push_back(ec); };
    caller->async_call<signature>("f", std::span(too_long), handler);
    caller->async_call<signature>("f", std::span(fits), handler);
    poll();
    EXPECT_THAT(ended_with, ElementsAre(make_error_code(errc::request_too_long)));
    ASSERT_EQ(sent_count(), 1U);
    EXPECT_EQ(sent(0).size(), 64U);
    caller->on_response(test::response_bytes(request_of(sent(0)), {}));
    EXPECT_EQ(ended_with.back(), error_code());
}

TEST_F(client_test, refuses_every_call_of_a_ring_without_room) {
    for (auto other : {ring_type(0, 64), ring_type(4, 23)}) {
        ring = other;
        start();
        ended<std::int64_t> end;
        call(end, 1, 1);
        poll();
        EXPECT_EQ(end->ec, errc::request_too_long);
    }
}

TEST_F(client_test, gives_the_slot_of_a_refused_publish_to_the_next_call) {
    start();
    ended<std::int64_t> first, second;
    ring.next_publish_error = rocio::errc::not_connected;
    call(first, 1, 1);
    call(second, 1, 1);
    poll();
    EXPECT_EQ(first->ec, rocio::errc::not_connected);
    EXPECT_THAT(sent_slots(), ElementsAre(0U));
    respond(0, 2);
    EXPECT_EQ(second->result, 2);
}

// Statuses and results.

TEST_F(client_test, tells_the_status_of_the_answer) {
    start();
    for (const std::int32_t s : {1, 7, -1, -2, -3, -4, -99, 0x7FFFFFFF}) {
        ended<std::int64_t> end;
        call(end, 1, 1);
        caller->on_response(test::response_bytes(request_of(last_sent()), packed(std::int64_t{9}), s));
        EXPECT_EQ(end->ec, error_code(s, status_category()));
        EXPECT_EQ(end->result, 0) << "a failed call has no result";
    }
    EXPECT_EQ(caller->snapshot().failed, 8U);
}

TEST_F(client_test, refuses_results_that_are_not_the_signatures) {
    start();
    for (std::size_t n = 0; n <= 40; ++n) {
        ended<std::int64_t> end;
        call(end, 1, 1);
        caller->on_response(test::response_bytes(request_of(last_sent()), test::byte_vector(n)));
        EXPECT_EQ(end->ec, n == 8 ? error_code() : make_error_code(errc::bad_response)) << n;
    }
    EXPECT_EQ(caller->snapshot().bad_responses, 40U);
}

TEST_F(client_test, reads_no_result_beyond_the_slot) {
    start();
    for (const std::uint32_t claimed : {8U, 41U, 0xFFFFFFFFU}) {
        ended<std::vector<std::uint8_t>> end;
        caller->async_call<std::vector<std::uint8_t>()>("long", end.handler());
        const auto request = request_of(last_sent());
        test::byte_vector slot(24 + 7);
        ASSERT_TRUE((response_header{0, claimed, request.request_id, request.timestamp}.encode(slot)));
        caller->on_response(slot);
        EXPECT_EQ(end->ec, errc::bad_response);
    }
}

TEST_F(client_test, accepts_a_slot_longer_than_the_answer) {
    start();
    ended<std::int64_t> end;
    call(end, 1, 1);
    auto slot = answer_to(0, 2);
    slot.resize(4096, std::byte{0xEE});
    caller->on_response(slot);
    EXPECT_EQ(end->result, 2);
}

// Polling.

TEST_F(client_test, polls_its_ring) {
    start();
    ended<std::int64_t> end;
    call(end, 1, 1);
    ring.receive(3, answer_to(0, 2));
    EXPECT_EQ(caller->poll(), 1U);
    EXPECT_EQ(end->result, 2);
    EXPECT_FALSE(ring.is_filled(3));
    EXPECT_EQ(caller->poll(), 0U);
}

TEST_F(client_test, releases_a_slot_before_it_calls_the_handler) {
    start();
    bool called = false;
    caller->async_call<void()>("noop", [&](error_code) {
        called = true;
        EXPECT_FALSE(ring.is_filled(1));
    });
    ring.receive(1, test::response_bytes(request_of(sent(0)), {}));
    caller->poll();
    EXPECT_TRUE(called);
}

TEST_F(client_test, releases_slots_that_hold_no_answer) {
    start();
    ring.receive(1, test::byte_vector(64, std::byte{1}));
    caller->poll();
    EXPECT_FALSE(ring.is_filled(1));
    EXPECT_EQ(caller->snapshot().not_answers, 1U);
}

// Handlers.

TEST_F(client_test, lets_a_handler_call_again) {
    start();
    std::vector<std::int64_t> results;
    std::function<void(std::int64_t)> next = [&](std::int64_t x) {
        caller->async_call<add_signature>("addThem", x, 1, [&](error_code, std::int64_t r) {
            results.push_back(r);
            if (r < 10) next(r);
        });
    };
    next(0);
    for (std::size_t n = 0; n < 10; ++n) respond(n, static_cast<std::int64_t>(n) + 1);
    EXPECT_THAT(results, ElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 9, 10));
}

TEST_F(client_test, keeps_the_other_completions_when_a_handler_throws) {
    start();
    ended<std::int64_t> second;
    caller->async_call<add_signature>("addThem", 1, 1,
                                      [](error_code, std::int64_t) { throw std::runtime_error("handler"); });
    call(second, 1, 1);
    ring.receive(0, answer_to(0, 2));
    ring.receive(1, answer_to(1, 3));
    EXPECT_THROW(caller->poll(), std::runtime_error);
    EXPECT_EQ(second->times, 0);
    poll();
    EXPECT_EQ(second->result, 3);
}

TEST_F(client_test, calls_the_handler_on_its_executor) {
    start();
    asio::io_context other;
    test::executor_tracker tracker;
    bool inside = false;
    caller->async_call<void()>("noop",
                               asio::bind_executor(test::tracker_executor(other.get_executor(), tracker),
                                                   [&](error_code) { inside = tracker.running_here(); }));
    caller->on_response(test::response_bytes(request_of(sent(0)), {}));
    EXPECT_FALSE(inside);
    other.run();
    EXPECT_TRUE(inside);
}

TEST_F(client_test, keeps_its_context_running_while_a_call_is_outstanding) {
    start();
    ended<std::int64_t> end;
    call(end, 1, 1);
    poll();
    EXPECT_FALSE(context.stopped());
    respond(0, 2);
    poll();
    EXPECT_TRUE(context.stopped());
}

TEST_F(client_test, works_on_a_strand_with_calls_from_many_threads) {
    asio::thread_pool callers(3);
    const auto strand = asio::make_strand(context);
    client<ring_type, asio::strand<asio::io_context::executor_type>> shared(strand, ring, config);
    constexpr int each = 300;
    std::atomic<int> right{0}, ended_calls{0};
    for (int t = 0; t < 3; ++t) {
        asio::post(callers, [&, t] {
            for (int i = 0; i < each; ++i) {
                shared.async_call<add_signature>("addThem", t, i, [&, t, i](error_code ec, std::int64_t r) {
                    EXPECT_TRUE(strand.running_in_this_thread());
                    if (!ec && r == t + i) ++right;
                    ++ended_calls;
                });
            }
        });
    }
    std::size_t served = 0;
    std::function<void()> serve = [&] {
        for (; served < ring.sent.size(); ++served) {
            const auto request = ring.sent[served].bytes;
            const auto sum = test::value_behind_header<std::int64_t>(request) +
                             test::value_behind_header<std::int64_t>(request, 8);
            shared.on_response(test::response_bytes(request_of(request), packed(sum)));
        }
        if (ended_calls < 3 * each) asio::post(strand, serve);
    };
    asio::post(strand, serve);
    std::thread second([&] { context.run_for(patience); });
    context.run_for(patience);
    second.join();
    callers.join();
    EXPECT_EQ(right, 3 * each);
    EXPECT_EQ(shared.snapshot().succeeded, 3U * each);
}

TEST_F(client_test, needs_an_io_context) {
    asio::thread_pool pool(1);
    try {
        client_type on_pool(pool.get_executor(), ring);
        FAIL() << "made";
    } catch (const exception& e) {
        EXPECT_EQ(e.code(), rocio::errc::unsupported_context);
    }
}

TEST_F(client_test, measures_its_calls) {
    start();
    ended<std::int64_t> a, b;
    call(a, 1, 1);
    call(b, 1, 1);
    respond(0, 2);
    const auto s = caller->snapshot();
    EXPECT_EQ(s.calls, 2U);
    EXPECT_EQ(s.latency.count, 1U);
    EXPECT_GT(s.latency.max.count(), 0);
}

} // namespace
} // namespace rocio::rpc
