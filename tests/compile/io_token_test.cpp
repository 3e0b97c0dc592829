// Every async_* of the room io with every kind of completion token: that it compiles is the test. What it
// gives for a lazy and an eager archetype is checked too.

#include "archetype_tokens.hpp"
#include "scripted_device.hpp"

#include <rocio/io/completion_queue.hpp>
#include <rocio/io/device_monitor.hpp>
#include <rocio/io/memory_region.hpp>
#include <rocio/io/queue_pair.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_allocator.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/consign.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/system_executor.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <gtest/gtest.h>

#include <array>
#include <future>
#include <memory>

namespace rocio::test {
namespace {

/// Calls `start(token)` with every token for the signature void(error_code, Results...).
template <class Executor, class Start, class... Results>
void with_every_token(Start start) {
    static_assert(std::is_void_v<decltype(start([](error_code, Results...) {}))>);
    start([owned = std::unique_ptr<int>()](error_code, Results...) {});         // move-only
    start([owned = std::unique_ptr<int>()](error_code, Results...) mutable {}); // its call operator not const
    auto lvalue = [](error_code, Results...) {};
    start(lvalue);
    const auto const_lvalue = lvalue;
    start(const_lvalue);
    start(asio::detached);
    start(asio::use_future).wait_for(std::chrono::seconds(0));
    (void)start(asio::use_awaitable_t<Executor>());
    (void)start(asio::deferred);
    (void)start(asio::as_tuple(asio::deferred));
    (void)start(asio::as_tuple(asio::use_awaitable_t<Executor>()));
    start(asio::as_tuple([](std::tuple<error_code, Results...>) {}));
    error_code ec;
    (void)start(asio::redirect_error(asio::use_awaitable_t<Executor>(), ec));
    start(asio::consign(lvalue, std::make_unique<int>(1)));
    start(asio::bind_executor(asio::system_executor(), lvalue));
    start(asio::bind_allocator(std::allocator<int>(), lvalue));
    asio::cancellation_signal signal;
    start(asio::bind_cancellation_slot(signal.slot(), lvalue));
    static_assert(std::is_same_v<decltype(start(lazy_token())), int>);
    static_assert(std::is_same_v<decltype(start(eager_token())), int>);
    EXPECT_EQ(start(lazy_token()), 42);
    EXPECT_EQ(start(eager_token()), 43);
}

template <class Executor>
class io_tokens : public ::testing::Test {
  protected:
    static Executor executor_of(asio::io_context& context) {
        if constexpr (std::is_same_v<Executor, asio::strand<asio::io_context::executor_type>>)
            return asio::make_strand(context);
        else
            return context.get_executor();
    }
    std::shared_ptr<scripted_device> dev = std::make_shared<scripted_device>();
    memory_region memory{dev, 4096};
};

using executors = ::testing::Types<asio::any_io_executor, asio::io_context::executor_type,
                                   asio::strand<asio::io_context::executor_type>>;
TYPED_TEST_SUITE(io_tokens, executors);

TYPED_TEST(io_tokens, of_a_queue_pair) {
    asio::io_context context;
    basic_queue_pair<TypeParam> qp(this->executor_of(context), this->dev);
    const auto buffer = this->memory.buffer(0, 64);
    const inline_bytes few(std::as_bytes(std::span("few")));
    const auto send = [&](auto&& token) {
        return qp.async_send(buffer, std::forward<decltype(token)>(token));
    };
    with_every_token<TypeParam, decltype(send)>(send);
    const auto send_inline = [&](auto&& token) {
        return qp.async_send(few, std::forward<decltype(token)>(token));
    };
    with_every_token<TypeParam, decltype(send_inline)>(send_inline);
    const auto numbered = [&](auto&& token) {
        return qp.async_send_with_immediate(buffer, 1, std::forward<decltype(token)>(token));
    };
    with_every_token<TypeParam, decltype(numbered)>(numbered);
    const auto numbered_inline = [&](auto&& token) {
        return qp.async_send_with_immediate(few, 1, std::forward<decltype(token)>(token));
    };
    with_every_token<TypeParam, decltype(numbered_inline)>(numbered_inline);
    const auto receive = [&](auto&& token) {
        return qp.async_receive(buffer, std::forward<decltype(token)>(token));
    };
    with_every_token<TypeParam, decltype(receive), received_message>(receive);
    const auto closed = [&](auto&& token) {
        return qp.async_wait_closed(std::forward<decltype(token)>(token));
    };
    with_every_token<TypeParam, decltype(closed)>(closed);
    (void)qp.async_send(buffer);
    (void)qp.async_send(few);
    (void)qp.async_send_with_immediate(buffer, 1);
    (void)qp.async_send_with_immediate(few, 1);
    (void)qp.async_receive(buffer);
    (void)qp.async_wait_closed();
}

TYPED_TEST(io_tokens, of_a_completion_queue) {
    asio::io_context context;
    basic_completion_queue<TypeParam> queue(this->executor_of(context), this->dev, 16);
    std::array<work_completion, 4> out;
    const auto poll = [&](auto&& token) {
        return queue.async_poll(out, std::forward<decltype(token)>(token));
    };
    with_every_token<TypeParam, decltype(poll), std::size_t>(poll);
    (void)queue.async_poll(out);
}

TYPED_TEST(io_tokens, of_a_device_monitor) {
    asio::io_context context;
    basic_device_monitor<TypeParam> monitor(this->executor_of(context), this->dev);
    const auto next = [&](auto&& token) {
        return monitor.async_next_event(std::forward<decltype(token)>(token));
    };
    with_every_token<TypeParam, decltype(next), device_event>(next);
    (void)monitor.async_next_event();
}

// Only what is registered, or copied, can be sent.
template <class QueuePair, class Buffer>
concept can_send = requires(QueuePair& qp, Buffer b) {
    qp.async_send(b, asio::detached);
};
template <class QueuePair, class Buffer>
concept can_receive = requires(QueuePair& qp, Buffer b) {
    qp.async_receive(b, asio::detached);
};

static_assert(can_send<queue_pair, registered_buffer>);
static_assert(can_send<queue_pair, inline_bytes>);
static_assert(!can_send<queue_pair, asio::const_buffer>);
static_assert(!can_send<queue_pair, asio::mutable_buffer>);
static_assert(!can_send<queue_pair, std::span<std::byte>>);
static_assert(!can_send<queue_pair, std::span<const std::byte>>);
static_assert(!can_send<queue_pair, std::vector<std::byte>>);
static_assert(!can_send<queue_pair, void*>);
static_assert(can_receive<queue_pair, registered_buffer>);
static_assert(!can_receive<queue_pair, inline_bytes>);
static_assert(!can_receive<queue_pair, asio::mutable_buffer>);
static_assert(!can_receive<queue_pair, std::span<std::byte>>);

// Tokens that do not fit the signature are refused by the constraint, not deep inside.
template <class Token>
concept sends_with = requires(queue_pair& qp, registered_buffer b, Token t) {
    qp.async_send(b, std::move(t));
};
struct takes_nothing {
    void operator()() {}
};
struct takes_only_an_error {
    void operator()(error_code) {}
};
static_assert(!sends_with<int>);
static_assert(!sends_with<takes_nothing>);
static_assert(sends_with<takes_only_an_error>);
template <class Token>
concept receives_with = requires(queue_pair& qp, registered_buffer b, Token t) {
    qp.async_receive(b, std::move(t));
};
static_assert(!receives_with<takes_only_an_error>);

// Shape of the objects.
template <template <class> class Basic, class Alias>
constexpr bool is_io_object() {
    using typed = Basic<asio::io_context::executor_type>;
    return std::is_same_v<Alias, Basic<asio::any_io_executor>> && !std::is_copy_constructible_v<Alias> &&
           !std::is_copy_assignable_v<Alias> && std::is_nothrow_move_constructible_v<Alias> &&
           std::is_nothrow_move_assignable_v<Alias> && std::is_nothrow_destructible_v<Alias> &&
           std::is_same_v<typename Alias::executor_type, asio::any_io_executor> &&
           std::is_same_v<typename Alias::template rebind_executor<asio::io_context::executor_type>::other,
                          typed> &&
           std::is_constructible_v<Alias, typed&&> &&
           !std::is_constructible_v<typed, Alias&&>&& noexcept(std::declval<const Alias&>().get_executor());
}
static_assert(is_io_object<basic_queue_pair, queue_pair>());
static_assert(is_io_object<basic_completion_queue, completion_queue>());
static_assert(is_io_object<basic_device_monitor, device_monitor>());

// The default token: deferred where the executor has none of its own.
static_assert(std::is_same_v<default_token_t<asio::any_io_executor>, asio::deferred_t>);
using awaiting = asio::use_awaitable_t<>::as_default_on_t<queue_pair>;
static_assert(std::is_same_v<default_token_t<awaiting::executor_type>, asio::use_awaitable_t<>>);
static_assert(std::is_same_v<decltype(std::declval<awaiting&>().async_send(registered_buffer())),
                             asio::awaitable<void>>);
static_assert(std::is_same_v<decltype(std::declval<awaiting&>().async_receive(registered_buffer())),
                             asio::awaitable<received_message>>);

} // namespace
} // namespace rocio::test
