// async_call with every kind of completion token; most of what is tested happens in the compiler.

#include "archetype_tokens.hpp"
#include "client_fixture.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_allocator.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/consign.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/system_executor.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <gtest/gtest.h>

#include <future>
#include <memory>

namespace rocio::rpc {
namespace {

using namespace std::chrono_literals;

class client_tokens_test : public client_fixture {
  protected:
    /// Answers whatever is sent with 5 until nothing is left to do.
    void run_with_answers() {
        std::size_t n = 0;
        for (int idle = 0; idle < 3;) {
            idle = sent_count() == n ? idle + 1 : 0;
            for (; n < ring.sent.size(); ++n) respond(n, 5);
        }
    }
};

TEST_F(client_tokens_test, takes_every_token) {
    start();
    const auto with = [&](auto&& token) {
        return caller->async_call<add_signature>("addThem", 2, 3, std::forward<decltype(token)>(token));
    };
    with([owned = std::unique_ptr<int>()](error_code, std::int64_t) {});
    with([owned = std::unique_ptr<int>()](error_code, std::int64_t) mutable {});
    auto lvalue = [](error_code, std::int64_t) {};
    with(lvalue);
    const auto const_lvalue = lvalue;
    with(const_lvalue);
    with(asio::detached);
    with(asio::use_future).wait_for(0s);
    (void)with(asio::use_awaitable);
    (void)with(asio::deferred);
    (void)with(asio::as_tuple(asio::deferred));
    (void)with(asio::as_tuple(asio::use_awaitable));
    with(asio::as_tuple([](std::tuple<error_code, std::int64_t>) {}));
    error_code ec;
    (void)with(asio::redirect_error(asio::use_awaitable, ec));
    with(asio::consign(lvalue, std::make_unique<int>(1)));
    with(asio::bind_executor(asio::system_executor(), lvalue));
    with(asio::bind_allocator(std::allocator<int>(), lvalue));
    asio::cancellation_signal signal;
    with(asio::bind_cancellation_slot(signal.slot(), lvalue));
    static_assert(std::is_same_v<decltype(with(test::lazy_token())), int>);
    EXPECT_EQ(with(test::lazy_token()), 42);
    EXPECT_EQ(with(test::eager_token()), 43);
    run_with_answers();
    EXPECT_EQ(caller->snapshot().calls, caller->snapshot().succeeded);
}

TEST_F(client_tokens_test, awaits_a_call_with_the_default_token) {
    start();
    std::int64_t result = 0;
    asio::co_spawn(
        context,
        [&]() -> asio::awaitable<void> {
            result = co_await caller->async_call<std::int64_t(std::int64_t, std::int64_t)>("addThem", 2, 3);
            result += co_await caller->async_call<add_signature>("addThem", 2, 3, 10s);
            result += co_await caller->async_call<add_signature>("addThem", 2, 3, call_options{10s});
        },
        asio::detached);
    run_with_answers();
    EXPECT_EQ(result, 15);
}

TEST_F(client_tokens_test, throws_the_error_into_the_coroutine) {
    start();
    error_code caught;
    asio::co_spawn(
        context,
        [&]() -> asio::awaitable<void> {
            try {
                co_await caller->async_call<add_signature>("addThem", 2, 3, 0s);
            } catch (const boost::system::system_error& e) {
                caught = e.code();
            }
        },
        asio::detached);
    run();
    EXPECT_EQ(caught, errc::deadline_exceeded);
}

TEST_F(client_tokens_test, begins_a_deferred_call_when_it_is_started) {
    start();
    auto deferred = caller->async_call<add_signature>("addThem", 2, 3);
    EXPECT_EQ(sent_count(), 0U);
    ended<std::int64_t> end;
    std::move(deferred)(end.handler());
    EXPECT_EQ(sent_count(), 1U);
    respond(0, 5);
    EXPECT_EQ(end->result, 5);
}

TEST_F(client_tokens_test, gives_a_future) {
    start();
    auto future = caller->async_call<add_signature>("addThem", 2, 3, asio::use_future);
    run_with_answers();
    ASSERT_EQ(future.wait_for(0s), std::future_status::ready);
    EXPECT_EQ(future.get(), 5);
}

TEST_F(client_tokens_test, awaits_several_calls_at_once) {
    using namespace asio::experimental::awaitable_operators;
    start();
    std::int64_t sum = 0;
    asio::co_spawn(
        context,
        [&]() -> asio::awaitable<void> {
            const auto [a, b] =
                co_await (caller->async_call<add_signature>("addThem", 2, 3, asio::use_awaitable) &&
                          caller->async_call<add_signature>("addThem", 2, 3, asio::use_awaitable));
            sum = a + b;
        },
        asio::detached);
    EXPECT_EQ(sent_count(), 2U) << "the calls are not in flight together";
    run_with_answers();
    EXPECT_EQ(sum, 10);
}

TEST_F(client_tokens_test, is_cancelled_by_the_winner_of_a_race) {
    using namespace asio::experimental::awaitable_operators;
    start();
    std::size_t winner = 99;
    asio::co_spawn(
        context,
        [&]() -> asio::awaitable<void> {
            winner = (co_await (caller->async_call<add_signature>("addThem", 1, 1, asio::use_awaitable) ||
                                caller->async_call<add_signature>("addThem", 2, 2, asio::use_awaitable)))
                         .index();
        },
        asio::detached);
    EXPECT_EQ(sent_count(), 2U);
    respond(1, 4);
    run();
    EXPECT_EQ(winner, 1U);
    EXPECT_EQ(respond(0, 2), answer::late);
}

int counting_allocations = 0;

template <class T>
struct counting_allocator : std::allocator<T> {
    template <class U>
    struct rebind {
        using other = counting_allocator<U>;
    };
    counting_allocator() = default;
    template <class U>
    counting_allocator(const counting_allocator<U>&) noexcept {}
    T* allocate(std::size_t n) {
        ++counting_allocations;
        return std::allocator<T>::allocate(n);
    }
};

TEST_F(client_tokens_test, uses_the_handlers_allocator) {
    counting_allocations = 0;
    start();
    ended<std::int64_t> end;
    caller->async_call<add_signature>("addThem", 1, 1,
                                      asio::bind_allocator(counting_allocator<std::byte>(), end.handler()));
    respond(0, 2);
    EXPECT_EQ(end->result, 2);
    EXPECT_GE(counting_allocations, 1);
}

TEST_F(client_tokens_test, works_with_every_executor) {
    client<ring_type, asio::io_context::executor_type> plain(context, ring);
    static_assert(
        std::is_same_v<decltype(plain)::rebind_executor<asio::any_io_executor>::other, client_type>);
    client deduced(context, ring);
    static_assert(std::is_same_v<decltype(deduced), client_type>);
    client from_executor(context.get_executor(), ring);
    static_assert(std::is_same_v<decltype(from_executor), decltype(plain)>);
    using with_default = asio::use_awaitable_t<>::as_default_on_t<client_type>;
    with_default caller_with_default(context, ring);
    static_assert(std::is_same_v<decltype(caller_with_default.async_call<add_signature>("addThem", 1, 1)),
                                 asio::awaitable<std::int64_t>>);
    EXPECT_EQ(plain.get_executor(), context.get_executor());
}

template <class... Args>
concept can_call = requires(client<test::fake_slot_ring>& c, Args... args) {
    c.template async_call<add_signature>("addThem", std::move(args)...);
};
using handler = void (*)(error_code, std::int64_t);

TEST_F(client_tokens_test, is_constrained_to_its_arguments_options_and_tokens) {
    static_assert(can_call<int, int>);
    static_assert(can_call<int, int, handler>);
    static_assert(can_call<int, int, std::chrono::milliseconds>);
    static_assert(can_call<int, int, call_options, handler>);
    static_assert(!can_call<int>);
    static_assert(!can_call<int, int, int>);
    static_assert(!can_call<int, const char*>);
    static_assert(!can_call<int, int, handler, handler>);
    static_assert(!can_call<int, int, handler, call_options>);
    static_assert(!can_call<int, int, void (*)(error_code)>);
    SUCCEED();
}

} // namespace
} // namespace rocio::rpc
