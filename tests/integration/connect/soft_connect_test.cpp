#include "tcp_fixture.hpp"
#include "test_bytes.hpp"

#include <rocio/connect/async_connect.hpp>
#include <rocio/io/memory_region.hpp>
#include <rocio/io/queue_pair.hpp>
#include <rocio/open/open_device.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace rocio::test {
namespace {

constexpr auto use_tuple = asio::as_tuple(asio::use_awaitable);

void rethrow(const std::exception_ptr& failure) {
    if (failure) std::rethrow_exception(failure);
}

/// One host: a device with its memory and a queue pair.
struct host {
    host(asio::io_context& context, const std::string& address, const queue_pair_config& config = {})
        : device(open_device("soft:" + address)), memory(device, 16384) {
        pair.emplace(context, device, config);
    }

    std::shared_ptr<rocio::device> device;
    memory_region memory;
    std::optional<queue_pair> pair;
};

/// Real queue pairs on two hosts of one context.
class SoftConnect : public TcpFixture {
  public:
    using steps = asio::awaitable<void>;

    void spawn(steps work) { asio::co_spawn(*context, std::move(work), rethrow); }

    /// `count` messages there and back.
    static steps ask(host& h, std::uint32_t count) {
        for (std::uint32_t n = 0; n < count; ++n) {
            auto outbox = h.memory.buffer(0, 5000);
            fill_message({outbox.data, outbox.size}, n);
            co_await h.pair->async_send(outbox, asio::use_awaitable);
            const auto inbox = h.memory.buffer(8192, 5000);
            const auto answer = co_await h.pair->async_receive(inbox, asio::use_awaitable);
            EXPECT_EQ(answer.size, 5000U);
            EXPECT_EQ(first_difference(inbox.bytes(), n + 1000), 5000U);
        }
    }
    static steps answer(host& h, std::uint32_t count) {
        for (std::uint32_t n = 0; n < count; ++n) {
            const auto inbox = h.memory.buffer(8192, 5000);
            const auto question = co_await h.pair->async_receive(inbox, asio::use_awaitable);
            EXPECT_EQ(question.size, 5000U);
            EXPECT_EQ(first_difference(inbox.bytes(), n), 5000U);
            auto outbox = h.memory.buffer(0, 5000);
            fill_message({outbox.data, outbox.size}, n + 1000);
            co_await h.pair->async_send(outbox, asio::use_awaitable);
        }
    }
    /// `config` by value: the coroutine begins after the call.
    steps dial(host& h, tcp_listener& to, tcp_rendezvous_config config = {}) {
        co_await async_connect(*h.pair, tcp_connector(*context, to.local_endpoint(), config),
                               asio::use_awaitable);
    }
    static steps serve(host& h, tcp_listener& listener) {
        auto peer = co_await listener.async_accept(asio::use_awaitable);
        co_await async_connect(*h.pair, std::move(peer), asio::use_awaitable);
    }
    void connect(host& a, host& b) {
        tcp_listener listener(*context, listening());
        int done = 0;
        const auto count = [&](const std::exception_ptr& e) {
            rethrow(e);
            ++done;
        };
        asio::co_spawn(*context, serve(b, listener), count);
        asio::co_spawn(*context, dial(a, listener), count);
        run_until([&] { return done == 2; });
    }
};

TEST_F(SoftConnect, MessagesGoBothWaysAndThePairConnectsAgain) {
    host a(*context, "127.40.1.1"), b(*context, "127.40.1.2");
    tcp_listener listener(*context, listening());
    constexpr int rounds = 5;
    int closed = 0;
    spawn([](host& h, tcp_listener& l, int& closed_count) -> steps {
        for (int round = 0; round < rounds; ++round) {
            co_await serve(h, l);
            co_await answer(h, 20);
            auto [reason] = co_await h.pair->async_wait_closed(use_tuple);
            EXPECT_EQ(reason, errc::peer_closed) << h.pair->last_error().message();
            ++closed_count;
        }
    }(b, listener, closed));
    spawn([](SoftConnect& test, host& h, tcp_listener& l) -> steps {
        for (int round = 0; round < rounds; ++round) {
            co_await test.dial(h, l);
            co_await ask(h, 20);
            h.pair->close();
        }
    }(*this, a, listener));
    run();
    EXPECT_EQ(closed, rounds);
}

TEST_F(SoftConnect, FirstMessageMayComeRightAfterTheHandshake) {
    for (int round = 0; round < 20; ++round) {
        host a(*context, "127.40.1.3"), b(*context, "127.40.1.4");
        tcp_listener listener(*context, listening());
        bool received = false;
        bool sent = false;
        // Posted before the connection exists: it is on the device before the peer may send.
        b.pair->async_receive(b.memory.buffer(0, 64), [&](const error_code& ec, received_message m) {
            received = !ec && m.size == 3;
        });
        spawn(serve(b, listener));
        spawn([](SoftConnect& test, host& h, tcp_listener& l, bool& done) -> steps {
            co_await test.dial(h, l);
            const std::byte hi[3] = {};
            co_await h.pair->async_send(inline_bytes(hi), asio::use_awaitable);
            done = true;
        }(*this, a, listener, sent));
        run_until([&] { return received && sent; });
        a.pair.reset();
        b.pair.reset();
        run();
    }
}

TEST_F(SoftConnect, DestroyedQueuePairSaysGoodbye) {
    host a(*context, "127.40.1.5"), b(*context, "127.40.1.6");
    connect(a, b);
    ended closed;
    b.pair->async_wait_closed(into(closed));
    a.pair.reset();
    run();
    EXPECT_EQ(closed.ec, errc::peer_closed);
    EXPECT_EQ(b.pair->state(), queue_pair_state::error);
}

TEST_F(SoftConnect, DeathOfThePeersProcessClosesTheQueuePair) {
    auto others = std::make_unique<asio::io_context>();
    host a(*context, "127.40.1.7");
    auto b = std::make_unique<host>(*others, "127.40.1.8");
    tcp_listener listener(*context, listening());
    ended served, dialled, closed;
    listener.async_accept([&](const error_code& ec, tcp_peer peer) {
        ASSERT_FALSE(ec);
        async_connect(*a.pair, std::move(peer), into(served));
    });
    async_connect(*b->pair, tcp_connector(*others, listener.local_endpoint()), into(dialled));
    run_until([&] {
        others->restart();
        others->poll();
        return served.done && dialled.done;
    });
    ASSERT_FALSE(served.ec);
    a.pair->async_wait_closed(into(closed));
    ended receive;
    a.pair->async_receive(a.memory.buffer(0, 64),
                          [&](const error_code& ec, received_message) { into(receive)(ec); });
    // All of the process goes at once, and none of its handlers runs.
    others->stop();
    b->pair.reset();
    b.reset();
    others.reset();
    run();
    EXPECT_EQ(closed.ec, errc::peer_lost) << a.pair->last_error().message();
    EXPECT_TRUE(receive.done);
    EXPECT_TRUE(receive.ec);
}

TEST_F(SoftConnect, MisfitIsAnErrorOnBothQueuePairs) {
    queue_pair_config small;
    small.path_mtu = mtu::b512;
    host a(*context, "127.40.1.9"), b(*context, "127.40.1.10", small);
    tcp_listener listener(*context, listening());
    ended served, dialled;
    listener.async_accept(
        [&](const error_code&, tcp_peer peer) { async_connect(*b.pair, std::move(peer), into(served)); });
    async_connect(*a.pair, tcp_connector(*context, listener.local_endpoint()), into(dialled));
    run();
    EXPECT_EQ(served.ec, errc::path_mtu_mismatch);
    EXPECT_EQ(dialled.ec, errc::path_mtu_mismatch);
    EXPECT_THAT(a.pair->last_error().text, HasSubstr("listening side 512"));
    EXPECT_THAT(b.pair->last_error().text, HasSubstr("listening side 512"));
}

TEST_F(SoftConnect, ConnectIsCancelledAndTheQueuePairCanConnectAgain) {
    host a(*context, "127.40.1.11"), b(*context, "127.40.1.12");
    tcp::acceptor deaf(*context, tcp::endpoint(asio::ip::make_address("127.40.0.5"), 0));
    asio::cancellation_signal signal;
    ended first;
    async_connect(*a.pair, tcp_connector(*context, deaf.local_endpoint()),
                  asio::bind_cancellation_slot(signal.slot(), into(first)));
    settle();
    signal.emit(asio::cancellation_type::total);
    deaf.close();
    run_until(first);
    EXPECT_EQ(first.ec, asio::error::operation_aborted);
    connect(a, b);
    EXPECT_EQ(a.pair->state(), queue_pair_state::ready_to_send);
}

TEST_F(SoftConnect, QueuePairDestroyedOrClosedWhileItConnectsEndsTheAttemptAtOnce) {
    for (const bool destroyed : {true, false}) {
        host a(*context, "127.40.1.13");
        tcp::acceptor deaf(*context, tcp::endpoint(asio::ip::make_address("127.40.0.5"), 0));
        ended connecting;
        async_connect(*a.pair, tcp_connector(*context, deaf.local_endpoint()), into(connecting));
        settle();
        destroyed ? a.pair.reset() : a.pair->close();
        deaf.close();
        run();
        EXPECT_EQ(connecting.ec, asio::error::operation_aborted);
    }
}

TEST_F(SoftConnect, SecondConnectOfAConnectedQueuePairIsRefused) {
    host a(*context, "127.40.1.14"), b(*context, "127.40.1.15");
    connect(a, b);
    ended second;
    async_connect(*a.pair, tcp_connector(*context, {asio::ip::make_address("127.40.0.9"), 9}), into(second));
    run_until(second);
    EXPECT_EQ(second.ec, errc::already_connected);
    EXPECT_EQ(a.pair->state(), queue_pair_state::ready_to_send);
    bool answered = false;
    spawn(answer(b, 3));
    asio::co_spawn(*context, ask(a, 3), [&](const std::exception_ptr& e) {
        rethrow(e);
        answered = true;
    });
    run_until([&] { return answered; });
}

} // namespace
} // namespace rocio::test
