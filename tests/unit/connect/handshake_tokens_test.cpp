#include "connect_script.hpp"
#include "tracker_executor.hpp"

#include <rocio/connect/any_handshake.hpp>
#include <rocio/connect/static_peer.hpp>
#include <rocio/connect/tcp_rendezvous.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

namespace rocio::test {
namespace {

using io_executor = asio::io_context::executor_type;

static_assert(handshake<tcp_connector>);
static_assert(handshake<tcp_peer>);
static_assert(handshake<static_peer>);
static_assert(handshake<basic_tcp_connector<io_executor>>);
static_assert(handshake<scripted_handshake>);

template <class T>
constexpr bool move_only = std::is_nothrow_move_constructible_v<T>&& std::is_nothrow_move_assignable_v<T> &&
                           !std::is_copy_constructible_v<T> && !std::is_copy_assignable_v<T>;
static_assert(move_only<tcp_connector>);
static_assert(move_only<tcp_peer>);
static_assert(move_only<tcp_listener>);
static_assert(move_only<static_peer>);

static_assert(
    std::is_same_v<tcp_connector::rebind_executor<io_executor>::other, basic_tcp_connector<io_executor>>);
static_assert(std::is_same_v<tcp_peer::rebind_executor<io_executor>::other, basic_tcp_peer<io_executor>>);
static_assert(
    std::is_same_v<tcp_listener::rebind_executor<io_executor>::other, basic_tcp_listener<io_executor>>);
static_assert(
    std::is_same_v<static_peer::rebind_executor<io_executor>::other, basic_static_peer<io_executor>>);

class HandshakeTokens : public ::testing::Test {
  protected:
    asio::io_context context;
    static_peer peer{context, good_peer()};
};

TEST_F(HandshakeTokens, CallbackWithAMoveOnlyState) {
    qpn seen;
    peer.async_exchange(
        {}, [&, state = std::make_unique<int>(7)](const error_code& ec, const peer_parameters& p) {
            EXPECT_FALSE(ec);
            EXPECT_EQ(*state, 7);
            seen = p.queue_pair;
        });
    EXPECT_EQ(seen, qpn());
    context.run();
    EXPECT_EQ(seen, good_peer().queue_pair);
}

TEST_F(HandshakeTokens, Coroutine) {
    bool done = false;
    asio::co_spawn(
        context,
        [&]() -> asio::awaitable<void> {
            const auto p = co_await peer.async_exchange({}, asio::use_awaitable);
            EXPECT_EQ(p.queue_pair, good_peer().queue_pair);
            auto [ec] = co_await peer.async_ready(asio::as_tuple(asio::use_awaitable));
            EXPECT_FALSE(ec);
            co_await peer.async_release();
            done = true;
        },
        asio::detached);
    context.run();
    EXPECT_TRUE(done);
}

TEST_F(HandshakeTokens, DeferredStartsOnlyWhenItIsCalled) {
    auto later = peer.async_exchange({}, asio::deferred);
    EXPECT_EQ(context.poll(), 0U);
    context.restart();
    bool done = false;
    std::move(later)([&](const error_code&, const peer_parameters&) { done = true; });
    context.run();
    EXPECT_TRUE(done);
}

TEST_F(HandshakeTokens, Future) {
    auto result = peer.async_exchange({}, asio::use_future);
    context.run();
    EXPECT_EQ(result.get().queue_pair, good_peer().queue_pair);
}

TEST_F(HandshakeTokens, DefaultTokenOfTheExecutor) {
    using executor = asio::use_awaitable_t<>::executor_with_default<asio::any_io_executor>;
    basic_static_peer<executor> with_default{executor(context.get_executor()), good_peer()};
    asio::co_spawn(
        context, [&]() -> asio::awaitable<void> { co_await with_default.async_exchange({}); },
        asio::detached);
    EXPECT_GT(context.run(), 0U);
}

TEST_F(HandshakeTokens, HandlerRunsOnItsExecutorAndNotInsideTheCall) {
    auto strand = asio::make_strand(context);
    int good = 0;
    const auto check = [&](auto&&...) {
        good += strand.running_in_this_thread() && !initiation_scope::active() ? 1 : 0;
    };
    tcp_peer none(context.get_executor());
    tcp_connector unused(context, {});
    asio::post(context, [&] {
        const initiation_scope inside;
        peer.async_exchange({}, asio::bind_executor(strand, check));
        peer.async_ready(asio::bind_executor(strand, check));
        peer.async_release(asio::bind_executor(strand, check));
        none.async_exchange({}, asio::bind_executor(strand, check));
        none.async_ready(asio::bind_executor(strand, check));
        none.async_refuse("no", asio::bind_executor(strand, check));
        unused.async_ready(asio::bind_executor(strand, check));
        unused.async_release(asio::bind_executor(strand, check));
    });
    context.run();
    EXPECT_EQ(good, 8);
}

TEST_F(HandshakeTokens, ObjectsOfAnotherExecutorAreConverted) {
    const auto nowhere = parse_endpoint("127.40.0.1:9");
    tcp_connector connector(basic_tcp_connector<io_executor>(context.get_executor(), nowhere));
    EXPECT_EQ(connector.remote_endpoint(), nowhere);
    basic_tcp_listener<io_executor> typed(context.get_executor());
    const auto at = typed.local_endpoint();
    tcp_listener listener(std::move(typed));
    EXPECT_EQ(listener.local_endpoint(), at);
    static_peer fixed(basic_static_peer<io_executor>(context.get_executor(), good_peer()));
    EXPECT_FALSE(fixed.last_error());
    tcp_peer none{basic_tcp_peer<io_executor>(context.get_executor())};
    EXPECT_EQ(none.last_error().code, errc::invalid_state);
}

TEST_F(HandshakeTokens, AcceptTakesAnyTokenAndGivesPeersOfItsExecutor) {
    basic_tcp_listener<io_executor> listener(context.get_executor());
    std::size_t ended = 0;
    auto strand = asio::make_strand(context);
    listener.async_accept(
        asio::bind_executor(strand, [&](const error_code& ec, basic_tcp_peer<io_executor> caller) {
            EXPECT_EQ(ec, asio::error::operation_aborted);
            EXPECT_TRUE(strand.running_in_this_thread());
            EXPECT_EQ(caller.get_executor(), context.get_executor());
            ++ended;
        }));
    asio::co_spawn(
        context,
        [&]() -> asio::awaitable<void> {
            auto [ec, caller] = co_await listener.async_accept(asio::as_tuple(asio::use_awaitable));
            EXPECT_EQ(ec, asio::error::operation_aborted);
            ++ended;
        },
        asio::detached);
    auto later = listener.async_accept(asio::use_future);
    context.poll();
    listener.cancel();
    context.restart();
    context.run();
    EXPECT_EQ(ended, 2U);
    EXPECT_THROW(later.get(), boost::system::system_error);
}

// ---- static_peer

TEST_F(HandshakeTokens, StaticPeerOutOfRangeIsRefusedWithItsReason) {
    auto bad = good_peer();
    bad.queue_pair = qpn(1);
    static_peer wrong(context, bad);
    error_code seen;
    wrong.async_exchange({}, [&](const error_code& ec, const peer_parameters&) { seen = ec; });
    context.run();
    EXPECT_EQ(seen, errc::invalid_peer_parameters);
    EXPECT_THAT(wrong.last_error().text, ::testing::HasSubstr("queue_pair is 1"));
}

TEST_F(HandshakeTokens, StaticPeerIsNeverLost) {
    error_code seen;
    peer.async_wait_lost([&](const error_code& ec) { seen = ec; });
    context.poll();
    EXPECT_FALSE(seen);
    EXPECT_FALSE(context.stopped());
    peer.async_release([](const error_code& ec) { EXPECT_FALSE(ec); });
    context.run();
    EXPECT_EQ(seen, asio::error::operation_aborted);
}

TEST_F(HandshakeTokens, WaitForAStaticPeerIsCancelledAndCanBeginAgain) {
    asio::cancellation_signal signal;
    for (const auto type : {asio::cancellation_type::terminal, asio::cancellation_type::total}) {
        error_code seen;
        peer.async_wait_lost(
            asio::bind_cancellation_slot(signal.slot(), [&](const error_code& ec) { seen = ec; }));
        context.restart();
        context.poll();
        EXPECT_FALSE(seen);
        signal.emit(type);
        context.run();
        EXPECT_EQ(seen, asio::error::operation_aborted);
    }
}

TEST_F(HandshakeTokens, WaitAfterTheReleaseOfAStaticPeerEndsAtOnce) {
    error_code seen;
    peer.async_release(asio::detached);
    peer.async_wait_lost([&](const error_code& ec) { seen = ec; });
    context.run();
    EXPECT_EQ(seen, asio::error::operation_aborted);
}

TEST_F(HandshakeTokens, DestroyedStaticPeerEndsItsWait) {
    error_code seen;
    {
        static_peer gone(context, good_peer());
        gone.async_wait_lost([&](const error_code& ec) { seen = ec; });
        context.poll();
    }
    context.restart();
    context.run();
    EXPECT_EQ(seen, asio::error::operation_aborted);
}

TEST_F(HandshakeTokens, MovedStaticPeerKeepsItsWait) {
    error_code seen;
    peer.async_wait_lost([&](const error_code& ec) { seen = ec; });
    static_peer moved(std::move(peer));
    context.poll();
    EXPECT_FALSE(seen);
    moved = static_peer(context, good_peer());
    context.restart();
    context.run();
    EXPECT_EQ(seen, asio::error::operation_aborted);
}

TEST(HandshakeContext, DestroyedContextFreesTheHandlerOfAWait) {
    auto context = std::make_unique<asio::io_context>();
    auto peer = std::make_unique<static_peer>(*context, good_peer());
    auto kept = std::make_shared<int>(0);
    const std::weak_ptr<int> alive = kept;
    peer->async_wait_lost(
        [kept = std::move(kept)](const error_code&) { FAIL() << "called by a dying context"; });
    context->poll();
    peer.reset();
    context.reset();
    EXPECT_TRUE(alive.expired());
}

// ---- No peer at all

TEST_F(HandshakeTokens, AnEmptyTcpPeerAnswersInvalidState) {
    tcp_peer none(context.get_executor());
    std::vector<error_code> seen;
    const auto note = [&](const error_code& ec, auto&&...) { seen.push_back(ec); };
    none.async_exchange({}, note);
    none.async_ready(note);
    none.async_wait_lost(note);
    none.async_refuse("x", note);
    context.run();
    EXPECT_THAT(seen, ::testing::ElementsAre(errc::invalid_state, errc::invalid_state, errc::invalid_state,
                                             errc::invalid_state));
    EXPECT_EQ(none.last_error().code, errc::invalid_state);
}

TEST_F(HandshakeTokens, ReleaseOfAnEmptyTcpPeerIsHarmless) {
    tcp_peer none(context.get_executor());
    bool done = false;
    none.async_release([&](const error_code& ec) { done = !ec; });
    context.run();
    EXPECT_TRUE(done);
}

TEST_F(HandshakeTokens, ObjectsTakeDeadlinesWithinTheirBoundsOnly) {
    tcp_rendezvous_config bad;
    bad.ready_deadline = std::chrono::milliseconds(0);
    EXPECT_THROW(tcp_connector(context, parse_endpoint("127.40.0.1:9"), bad), exception);
    tcp_listener_config listener;
    listener.handshake = bad;
    EXPECT_THROW(tcp_listener(context, listener), exception);
}

// ---- any_handshake

TEST_F(HandshakeTokens, AnyHandshakePassesEachOperationOn) {
    event_log events;
    const auto script = std::make_shared<handshake_script>(context, events);
    script->ends("wait_lost", errc::peer_lost, "gone");
    any_handshake any{scripted_handshake(script)};
    any_handshake how = std::move(any);
    local_parameters local;
    local.depth = 99;
    const auto step = [&](auto member) {
        (how.*member)(
            {[&](const error_code& ec) { EXPECT_EQ(ec, script->last_error.code); }, context.get_executor()});
        context.run();
        context.restart();
    };
    how.async_exchange(local, {[&](const error_code& ec, const peer_parameters& p) {
                                   EXPECT_FALSE(ec);
                                   EXPECT_EQ(p.queue_pair, qpn(77));
                               },
                               context.get_executor()});
    context.run();
    context.restart();
    step(&any_handshake::async_ready);
    step(&any_handshake::async_wait_lost);
    script->last_error = {};
    step(&any_handshake::async_release);
    EXPECT_EQ(script->local.depth, 99U);
    EXPECT_THAT(events,
                ::testing::ElementsAre("exchange", "ready", "wait_lost", "wait_lost failed", "release"));
}

TEST_F(HandshakeTokens, AnyHandshakeCarriesCancellationAndTheLastSentence) {
    event_log events;
    const auto script = std::make_shared<handshake_script>(context, events);
    any_handshake how{scripted_handshake(script)};
    asio::cancellation_signal signal;
    error_code seen;
    how.async_wait_lost(
        {asio::bind_cancellation_slot(signal.slot(), [&](const error_code& ec) { seen = ec; }),
         context.get_executor()});
    context.poll();
    signal.emit(asio::cancellation_type::total);
    context.run();
    EXPECT_EQ(seen, asio::error::operation_aborted);
    script->last_error = {errc::peer_lost, "its sentence"};
    EXPECT_EQ(how.last_error().text, "its sentence");
}

} // namespace
} // namespace rocio::test
