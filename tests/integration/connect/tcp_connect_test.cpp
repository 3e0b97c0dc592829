#include "connect_script.hpp"
#include "tcp_fixture.hpp"

#include <rocio/connect/static_peer.hpp>

#include <boost/asio/detached.hpp>
#include <boost/asio/steady_timer.hpp>

namespace rocio::test {
namespace {

/// One queue pair to be, as far as a handshake can tell.
struct endpoint {
    endpoint(asio::io_context& context, std::uint32_t number, mtu path_mtu = mtu::b4096)
        : target(std::make_shared<scripted_target>(context, events)) {
        target->local = side(number, path_mtu);
    }
    bool stands() const { return target->has_watch(); }

    event_log events{};
    std::shared_ptr<scripted_target> target;
    ended connect{};
};

class TcpConnect : public TcpFixture {
  protected:
    void start(endpoint& e, any_handshake how) {
        detail::start_connect(e.target, std::move(how), {into(e.connect), context->get_executor()});
    }
    void start(endpoint& e, const tcp_listener& to, const tcp_rendezvous_config& config = {}) {
        start(e, tcp_connector(*context, to.local_endpoint(), config));
    }
    /// The next connection of the listener goes to `e`.
    void serve(tcp_listener& listener, endpoint& e) {
        listener.async_accept([this, &e](const error_code& ec, tcp_peer peer) {
            ASSERT_FALSE(ec) << ec.message();
            start(e, std::move(peer));
        });
    }
    void run_until_connected(endpoint& a, endpoint& b) {
        run_until(a.connect);
        run_until(b.connect);
        ASSERT_FALSE(a.connect.ec) << a.target->last_error.message();
        ASSERT_FALSE(b.connect.ec) << b.target->last_error.message();
    }
};

TEST_F(TcpConnect, TwoTargetsConnectAndKnowEachOther) {
    tcp_listener listener(*context, listening());
    endpoint a(*context, 100), b(*context, 200);
    serve(listener, b);
    start(a, listener);
    run_until_connected(a, b);
    EXPECT_EQ(a.target->established_with.queue_pair, qpn(200));
    EXPECT_EQ(b.target->established_with.queue_pair, qpn(100));
}

TEST_F(TcpConnect, CloseOfOneSideIsPeerClosedOnTheOtherAndBothContextsEnd) {
    for (const bool connecting_side_closes : {true, false}) {
        tcp_listener listener(*context, listening());
        endpoint a(*context, 100), b(*context, 200);
        serve(listener, b);
        start(a, listener);
        run_until_connected(a, b);
        auto& closes = connecting_side_closes ? a : b;
        auto& hears = connecting_side_closes ? b : a;
        closes.target->close();
        run();
        EXPECT_EQ(hears.target->last_error.code, errc::peer_closed);
        EXPECT_FALSE(closes.target->last_error) << "who closes is told nothing";
        EXPECT_EQ(a.target.use_count(), 1);
        EXPECT_EQ(b.target.use_count(), 1);
    }
}

TEST_F(TcpConnect, DeathOfAPeerIsPeerLostWithinTheLivenessDeadline) {
    tcp_listener listener(*context, listening());
    // The peer's process: a context of its own that ends without a word.
    auto others = std::make_unique<asio::io_context>();
    endpoint a(*context, 100), b(*others, 200);
    serve(listener, a);
    detail::start_connect(b.target, tcp_connector(*others, listener.local_endpoint()),
                          {into(b.connect), others->get_executor()});
    run_until([&] {
        others->restart();
        others->poll();
        return a.connect.done && b.connect.done;
    });
    ASSERT_FALSE(a.connect.ec);
    others.reset();
    run();
    EXPECT_EQ(a.target->last_error.code, errc::peer_lost);
}

TEST_F(TcpConnect, StoppedPeerIsPeerLostByTheLivenessDeadline) {
    tcp_rendezvous_config config;
    config.liveness_deadline = 200ms;
    config.release_deadline = 50ms;
    tcp_listener listener(*context, listening(config));
    asio::io_context others;
    endpoint a(*context, 100), b(others, 200);
    serve(listener, a);
    detail::start_connect(b.target, tcp_connector(others, listener.local_endpoint(), config),
                          {into(b.connect), others.get_executor()});
    run_until([&] {
        others.restart();
        others.poll();
        return a.connect.done && b.connect.done;
    });
    run(); // The other context does not run any more: its TCP connection stands, but nobody is at home.
    EXPECT_EQ(a.target->last_error.code, errc::peer_lost);
    EXPECT_THAT(a.target->last_error.text, HasSubstr("liveness_deadline"));
    others.restart();
    others.run_for(20s);
    EXPECT_TRUE(others.stopped());
    EXPECT_FALSE(b.stands()) << "when it wakes up it finds that it was given up";
}

TEST_F(TcpConnect, MisfitReachesBothTargetsWithTheReason) {
    tcp_listener listener(*context, listening());
    endpoint a(*context, 100, mtu::b4096), b(*context, 200, mtu::b512);
    serve(listener, b);
    start(a, listener);
    run();
    for (auto* e : {&a, &b}) {
        EXPECT_EQ(e->connect.ec, errc::path_mtu_mismatch);
        EXPECT_THAT(e->target->last_error.text, HasSubstr("path MTU 4096, the listening side 512"));
        EXPECT_FALSE(e->stands());
    }
}

TEST_F(TcpConnect, FailureToEstablishOnOneSideIsHeardOnTheOther) {
    for (const bool at_listener : {true, false}) {
        tcp_listener listener(*context, listening());
        endpoint a(*context, 100), b(*context, 200);
        (at_listener ? b : a).target->fails_to_establish = {errc::path_mtu_too_large,
                                                            "1024 is the port's limit"};
        serve(listener, b);
        start(a, listener);
        run();
        EXPECT_EQ((at_listener ? b : a).connect.ec, errc::path_mtu_too_large);
        EXPECT_EQ((at_listener ? a : b).connect.ec, errc::peer_closed);
        EXPECT_FALSE(a.stands() || b.stands());
    }
}

TEST_F(TcpConnect, TargetClosedWhileItConnectsEndsAtOnceOnBothSides) {
    auto a = ask_raw(); // Only for its acceptor's manners: a listening side that reads and never answers.
    endpoint e(*context, 100);
    start(e, tcp_connector(*context, a->acceptor.local_endpoint()));
    raw_peer peer(*context);
    peer.accept(a->acceptor);
    ASSERT_TRUE(peer.receive());
    e.target->close();
    const auto bye = peer.receive();
    ASSERT_TRUE(bye);
    EXPECT_EQ(bye->kind, message_kind::bye);
    peer.close();
    run_until(e.connect);
    EXPECT_EQ(e.connect.ec, asio::error::operation_aborted);
}

TEST_F(TcpConnect, BothSidesDialEachOtherAgainAndAgain) {
    tcp_listener at_a(*context, listening()), at_b(*context, listening());
    settle();
    std::size_t before = 0;
    for (int round = 0; round < 100; ++round) {
        // Each side dials the other at the same moment: two connections, each with its own pair.
        endpoint a_dials(*context, 100), a_served(*context, 101), b_dials(*context, 200),
            b_served(*context, 201);
        serve(at_a, a_served);
        serve(at_b, b_served);
        start(a_dials, at_b);
        start(b_dials, at_a);
        run_until_connected(a_dials, b_served);
        run_until_connected(b_dials, a_served);
        ASSERT_EQ(a_dials.target->established_with.queue_pair, qpn(201));
        ASSERT_EQ(b_served.target->established_with.queue_pair, qpn(100));
        ASSERT_EQ(b_dials.target->established_with.queue_pair, qpn(101));
        ASSERT_EQ(a_served.target->established_with.queue_pair, qpn(200));
        a_dials.target->close();
        a_served.target->close();
        run();
        ASSERT_FALSE(b_dials.stands() || b_served.stands());
        if (round == 0) before = open_descriptors();
    }
    EXPECT_EQ(open_descriptors(), before);
}

TEST_F(TcpConnect, AnswerAtTheDeadlineLeavesBothSidesConnectedOrNeither) {
    tcp_rendezvous_config tight;
    tight.exchange_deadline = 6ms;
    tight.ready_deadline = 6ms;
    tcp_listener listener(*context, listening());
    int connected = 0;
    for (int round = 0; round < 120; ++round) {
        endpoint a(*context, 100), b(*context, 200);
        asio::steady_timer late(*context);
        listener.async_accept([&](const error_code& ec, tcp_peer peer) {
            ASSERT_FALSE(ec);
            late.expires_after(std::chrono::microseconds(5000 + 20 * round));
            late.async_wait([&, p = std::make_shared<tcp_peer>(std::move(peer))](const error_code&) {
                start(b, std::move(*p));
            });
        });
        start(a, listener, tight);
        run_until(a.connect);
        // A connecting side that gave up before it was accepted was never there.
        listener.cancel();
        if (b.target->has_watch() || !b.events.empty()) run_until(b.connect);
        if (a.connect.ec) {
            run();
            ASSERT_FALSE(b.stands()) << "half a connection in round " << round;
        } else {
            run_until(b.connect);
            ASSERT_FALSE(b.connect.ec);
            ++connected;
            a.target->close();
            run();
        }
        ASSERT_FALSE(a.stands());
    }
    RecordProperty("connected", connected);
}

TEST_F(TcpConnect, DestroyedContextWithStandingConnectionsFreesThem) {
    std::weak_ptr<scripted_target> alive;
    {
        tcp_listener listener(*context, listening());
        endpoint a(*context, 100), b(*context, 200);
        serve(listener, b);
        start(a, listener);
        run_until_connected(a, b);
        alive = a.target;
    }
    EXPECT_TRUE(alive.expired());
    context.reset();
}

TEST_F(TcpConnect, StaticPeerConnectsWithoutAWordAndEndsWithTheTarget) {
    endpoint e(*context, 100);
    auto peer = good_peer();
    start(e, static_peer(*context, peer));
    run_until(e.connect);
    EXPECT_FALSE(e.connect.ec);
    EXPECT_EQ(e.target->established_with.queue_pair, peer.queue_pair);
    settle();
    EXPECT_TRUE(e.stands());
    e.target->close();
    run();
    EXPECT_EQ(e.target.use_count(), 1);
}

} // namespace
} // namespace rocio::test
