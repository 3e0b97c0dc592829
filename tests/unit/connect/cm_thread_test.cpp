// Several threads run the context: no event is fetched while an id is destroyed, and nothing is left.

#include "cm_fixture.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <atomic>
#include <thread>

namespace rocio::test {
namespace {

#ifdef ROCIO_SANITIZED
constexpr int rounds_of_a_worker = 150;
#else
constexpr int rounds_of_a_worker = 600;
#endif
constexpr int workers = 4;

using result = asio::as_tuple_t<asio::use_awaitable_t<>>;
constexpr result as_tuple{asio::use_awaitable_t<>{}};

class CmThreads : public CmFixture {
  protected:
    using work = asio::awaitable<void>;

    template <class Function>
    void start(Function function) {
        asio::co_spawn(asio::any_io_executor(asio::make_strand(*context)), std::move(function),
                       [](const std::exception_ptr& e) {
                           if (e) std::rethrow_exception(e);
                       });
    }
    void run_threads() {
        std::vector<std::thread> threads;
        for (int n = 0; n < 2; ++n) threads.emplace_back([this] { context->run_for(300s); });
        for (auto& t : threads) t.join();
        EXPECT_TRUE(context->stopped()) << "something still waits";
        context->restart();
    }
    asio::ip::tcp::endpoint where() const {
        return {asio::ip::make_address("10.0.0.1"), acceptor->local_endpoint().port()};
    }

    /// One side of a connection until the other one leaves.
    static work serve(CmThreads& t, cm_peer peer) {
        const auto here = co_await asio::this_coro::executor;
        queue_pair qp(here, t.dev, {.send_depth = 1, .receive_depth = 1});
        auto [ec] = co_await async_connect(qp, std::move(peer), as_tuple);
        if (ec) {
            ++t.given_up;
            co_return;
        }
        auto [why] = co_await qp.async_wait_closed(as_tuple);
        EXPECT_EQ(why, errc::peer_closed) << qp.last_error().message();
        ++t.served;
    }
    static work accept_all(CmThreads& t) {
        for (;;) {
            auto [ec, peer] = co_await t.acceptor->async_accept(as_tuple);
            if (ec) break;
            t.start([&t, p = std::make_shared<cm_peer>(std::move(peer))] { return serve(t, std::move(*p)); });
        }
    }
    /// Connects and leaves.
    static work connect_once(CmThreads& t) {
        const auto here = co_await asio::this_coro::executor;
        queue_pair qp(here, t.dev, {.send_depth = 1, .receive_depth = 1});
        auto [ec] = co_await async_connect(qp, cm_connector(here, t.dev, t.where()), as_tuple);
        EXPECT_FALSE(ec) << qp.last_error().message();
        if (!ec) ++t.connected;
        qp.close();
    }
    /// The handshake alone; its object goes just as its last operation ends.
    static work shake_hands(CmThreads& t) {
        const auto here = co_await asio::this_coro::executor;
        cm_connector how(here, t.dev, t.where());
        auto [ec, theirs] = co_await how.async_exchange(side(0xABCDE), as_tuple);
        EXPECT_FALSE(ec) << how.last_error().message();
        auto [ready] = co_await how.async_ready(as_tuple);
        EXPECT_FALSE(ready) << how.last_error().message();
        if (!ready) ++t.connected;
        co_await how.async_release(asio::use_awaitable);
    }
    /// Goes away in the middle of its handshake.
    static work give_up(CmThreads& t, int steps) {
        const auto here = co_await asio::this_coro::executor;
        std::optional<cm_connector> how(std::in_place, here, t.dev, t.where());
        how->async_exchange(side(0xABCDE), [&t](const error_code& ec, const peer_parameters&) {
            EXPECT_TRUE(!ec || ec == asio::error::operation_aborted) << ec.message();
            ++t.abandoned;
        });
        for (int n = 0; n < steps; ++n) co_await asio::post(here, asio::use_awaitable);
        how.reset();
    }
    static work worker(CmThreads& t, int rounds) {
        for (int n = 0; n < rounds; ++n) {
            switch (n % 3) {
            case 0:
                co_await connect_once(t);
                break;
            case 1:
                co_await shake_hands(t);
                break;
            default:
                co_await give_up(t, n % 17);
                break;
            }
        }
        if (++t.finished == workers) t.acceptor->close();
    }

    std::optional<cm_acceptor> acceptor;
    std::atomic<int> connected{0}, served{0}, abandoned{0}, given_up{0}, finished{0};
};

TEST_F(CmThreads, ConnectAndCloseThousandsOfTimes) {
    cm->be_slow(true);
    cm_acceptor_config config;
    config.endpoint = {asio::ip::make_address("10.0.0.1"), 4000};
    config.max_waiting = 1000;
    config.handshake.release_deadline = 60s;
    acceptor.emplace(*context, dev, config);
    start([this] { return accept_all(*this); });
    for (int n = 0; n < workers; ++n) start([this] { return worker(*this, rounds_of_a_worker); });
    run_threads();
    EXPECT_EQ(connected, workers * rounds_of_a_worker * 2 / 3);
    EXPECT_EQ(served, connected);
    EXPECT_EQ(abandoned, workers * rounds_of_a_worker / 3);
    acceptor.reset();
    settle();
    expect_no_ids();
}

TEST_F(CmThreads, PeersOfOneAcceptorEndOnThreadsOfTheirOwn) {
    cm->be_slow(true);
    cm_acceptor_config config;
    config.max_waiting = 1000;
    acceptor.emplace(*context, dev, config);
    constexpr int many = 400;
    std::atomic<int> ended{0};
    start([&]() -> work {
        for (int n = 0; n < many; ++n) {
            cm->request();
            auto [ec, peer] = co_await acceptor->async_accept(as_tuple);
            EXPECT_FALSE(ec);
            start([&, p = std::make_shared<cm_peer>(std::move(peer))]() -> work {
                auto mine = std::move(*p);
                auto [exchanged, theirs] = co_await mine.async_exchange(side(), as_tuple);
                EXPECT_FALSE(exchanged);
                auto [ready] = co_await mine.async_ready(as_tuple);
                EXPECT_FALSE(ready);
                ++ended;
            });
        }
        acceptor->close();
    });
    run_threads();
    EXPECT_EQ(ended, many);
    acceptor.reset();
    settle();
    expect_no_ids();
}

} // namespace
} // namespace rocio::test
