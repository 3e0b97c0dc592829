// Any completion token for both sides of rdma_cm.

#include "cm_fixture.hpp"

#include <rocio/connect/any_handshake.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>

namespace rocio::test {
namespace {

using io_executor = asio::io_context::executor_type;

static_assert(handshake<cm_connector>);
static_assert(handshake<cm_peer>);
static_assert(handshake<basic_cm_connector<io_executor>>);
static_assert(std::is_constructible_v<any_handshake, cm_connector>);
static_assert(std::is_constructible_v<any_handshake, cm_peer>);

template <class T>
constexpr bool move_only = std::is_nothrow_move_constructible_v<T>&& std::is_nothrow_move_assignable_v<T> &&
                           !std::is_copy_constructible_v<T> && !std::is_copy_assignable_v<T>;
static_assert(move_only<cm_connector>);
static_assert(move_only<cm_peer>);
static_assert(move_only<cm_acceptor>);

static_assert(
    std::is_same_v<cm_connector::rebind_executor<io_executor>::other, basic_cm_connector<io_executor>>);
static_assert(std::is_same_v<cm_peer::rebind_executor<io_executor>::other, basic_cm_peer<io_executor>>);
static_assert(
    std::is_same_v<cm_acceptor::rebind_executor<io_executor>::other, basic_cm_acceptor<io_executor>>);

class CmTokens : public CmFixture {
  protected:
    void SetUp() override { peer_accepts(); }
};

TEST_F(CmTokens, CallbackWithAMoveOnlyState) {
    cm_acceptor acceptor(*context, dev);
    cm_connector connector(*context, dev, nine());
    int calls = 0;
    acceptor.async_accept([&, state = std::make_unique<int>(7)](const error_code& ec, cm_peer peer) {
        EXPECT_FALSE(ec);
        EXPECT_EQ(*state, 7);
        EXPECT_EQ(peer.remote_endpoint().address().to_string(), "10.0.0.99");
        ++calls;
    });
    connector.async_exchange(
        side(), [&, state = std::make_unique<int>(8)](const error_code& ec, const peer_parameters& p) {
            EXPECT_FALSE(ec);
            EXPECT_EQ(*state, 8);
            EXPECT_EQ(p.queue_pair, qpn(77));
            ++calls;
        });
    cm->request();
    run_until([&] { return calls == 2; });
}

TEST_F(CmTokens, Coroutine) {
    bool done = false;
    asio::co_spawn(
        *context,
        [&]() -> asio::awaitable<void> {
            cm_acceptor acceptor(*context, dev);
            cm->request();
            auto peer = co_await acceptor.async_accept(asio::use_awaitable);
            (void)co_await peer.async_exchange(side(), asio::use_awaitable);
            co_await peer.async_ready();
            cm->request();
            auto [ec, other] = co_await acceptor.async_accept(asio::as_tuple(asio::use_awaitable));
            EXPECT_FALSE(ec);
            co_await other.async_reject("no");
            co_await peer.async_release();
            auto [lost] = co_await peer.async_wait_lost(asio::as_tuple(asio::use_awaitable));
            EXPECT_EQ(lost, asio::error::operation_aborted);
            done = true;
        },
        asio::detached);
    run();
    EXPECT_TRUE(done);
}

TEST_F(CmTokens, CoroutineOfAQueuePair) {
    bool done = false;
    asio::co_spawn(
        *context,
        [&]() -> asio::awaitable<void> {
            queue_pair qp(*context, dev);
            co_await async_connect(qp, cm_connector(co_await asio::this_coro::executor, dev, nine()));
            EXPECT_EQ(qp.state(), queue_pair_state::ready_to_send);
            qp.close();
            done = true;
        },
        asio::detached);
    run();
    EXPECT_TRUE(done);
}

TEST_F(CmTokens, DeferredStartsOnlyWhenItIsCalled) {
    cm_acceptor acceptor(*context, dev);
    cm_connector connector(*context, dev, nine());
    auto accept = acceptor.async_accept(asio::deferred);
    auto exchange = connector.async_exchange(side(), asio::deferred);
    settle();
    EXPECT_EQ(cm->count("create"), 0U);
    int calls = 0;
    std::move(accept)([&](const error_code& ec, cm_peer) {
        EXPECT_FALSE(ec);
        ++calls;
    });
    std::move(exchange)([&](const error_code& ec, const peer_parameters&) {
        EXPECT_FALSE(ec);
        ++calls;
    });
    cm->request();
    run_until([&] { return calls == 2; });
}

TEST_F(CmTokens, Future) {
    cm_acceptor acceptor(*context, dev);
    cm_connector connector(*context, dev, nine());
    auto exchanged = connector.async_exchange(side(), asio::use_future);
    auto accepted = acceptor.async_accept(asio::use_future);
    cm->request();
    run();
    EXPECT_EQ(exchanged.get().queue_pair, qpn(77));
    auto peer = accepted.get();
    auto rejected = peer.async_reject("no", asio::use_future);
    auto waits = acceptor.async_accept(asio::use_future);
    acceptor.close();
    run();
    rejected.get();
    EXPECT_THROW(waits.get(), boost::system::system_error);
}

TEST_F(CmTokens, DefaultTokenOfTheExecutor) {
    using executor = asio::use_awaitable_t<>::executor_with_default<asio::any_io_executor>;
    bool done = false;
    basic_cm_acceptor<executor> acceptor{executor(context->get_executor()), dev};
    basic_cm_connector<executor> connector{executor(context->get_executor()), dev, nine()};
    asio::co_spawn(
        *context,
        [&]() -> asio::awaitable<void> {
            cm->request();
            auto peer = co_await acceptor.async_accept();
            co_await peer.async_reject("no");
            const auto theirs = co_await connector.async_exchange(side());
            EXPECT_EQ(theirs.queue_pair, qpn(77));
            co_await connector.async_ready();
            co_await connector.async_release();
            done = true;
        },
        asio::detached);
    run();
    EXPECT_TRUE(done);
}

TEST_F(CmTokens, HandlerRunsOnItsExecutorAndNotInsideTheCall) {
    auto strand = asio::make_strand(*context);
    int good = 0;
    const auto check = [&](auto&&...) {
        good += strand.running_in_this_thread() && !initiation_scope::active() ? 1 : 0;
    };
    cm_peer none(context->get_executor());
    cm_connector unused(*context, dev, nine());
    cm_acceptor closed(*context, dev);
    closed.close();
    asio::post(*context, [&] {
        const initiation_scope inside;
        none.async_exchange({}, asio::bind_executor(strand, check));
        none.async_ready(asio::bind_executor(strand, check));
        none.async_reject("no", asio::bind_executor(strand, check));
        none.async_release(asio::bind_executor(strand, check));
        unused.async_ready(asio::bind_executor(strand, check));
        unused.async_wait_lost(asio::bind_executor(strand, check));
        unused.async_release(asio::bind_executor(strand, check));
        closed.async_accept(asio::bind_executor(strand, check));
    });
    run();
    EXPECT_EQ(good, 8);
}

TEST_F(CmTokens, ObjectsOfAnotherExecutorAreConverted) {
    cm_connector connector(basic_cm_connector<io_executor>(context->get_executor(), dev, nine()));
    EXPECT_EQ(connector.remote_endpoint(), nine());
    basic_cm_acceptor<io_executor> typed(*context, dev);
    const auto at = typed.local_endpoint();
    cm_acceptor acceptor(std::move(typed));
    EXPECT_EQ(acceptor.local_endpoint(), at);
    EXPECT_EQ(acceptor.get_executor(), context->get_executor());
    cm_peer none{basic_cm_peer<io_executor>(context->get_executor())};
    EXPECT_EQ(none.last_error().code, errc::invalid_state);
}

TEST_F(CmTokens, PeersHaveTheExecutorOfTheirAcceptor) {
    basic_cm_acceptor<io_executor> acceptor(*context, dev);
    bool done = false;
    acceptor.async_accept([&](const error_code& ec, basic_cm_peer<io_executor> peer) {
        EXPECT_FALSE(ec);
        EXPECT_EQ(peer.get_executor(), context->get_executor());
        done = true;
    });
    cm->request();
    run_until([&] { return done; });
}

} // namespace
} // namespace rocio::test
