#include "tcp_fixture.hpp"

#include <boost/asio/steady_timer.hpp>

namespace rocio::test {
namespace {

/// One deadline is short, so that it is the one that ends the step.
tcp_rendezvous_config with_short(std::chrono::milliseconds tcp_rendezvous_config::*deadline) {
    tcp_rendezvous_config config;
    config.*deadline = 150ms;
    return config;
}

class TcpDeadline : public TcpFixture {
  protected:
    /// A listening socket whose queue is full: the system drops further attempts, as a black hole does.
    struct black_hole {
        explicit black_hole(asio::io_context& context) : acceptor(context, tcp::v4()) {
            acceptor.bind({asio::ip::make_address("127.40.0.3"), 0});
            acceptor.listen(0);
            bool swallowed = true;
            while (swallowed) {
                auto& filler = fillers.emplace_back(context, tcp::v4());
                filler.native_non_blocking(true);
                const auto at = acceptor.local_endpoint();
                (void)::connect(filler.native_handle(), at.data(), static_cast<socklen_t>(at.size()));
                pollfd p{filler.native_handle(), POLLOUT, 0};
                swallowed = ::poll(&p, 1, 50) > 0;
            }
        }
        tcp::acceptor acceptor;
        std::vector<tcp::socket> fillers;
    };
};

TEST_F(TcpDeadline, NobodyListens) {
    tcp::acceptor gone(*context, tcp::endpoint(asio::ip::make_address("127.40.0.3"), 0));
    const auto at = gone.local_endpoint();
    gone.close();
    tcp_connector connector(*context, at);
    ended exchange;
    connector.async_exchange(side(1), into(exchange));
    run();
    EXPECT_EQ(exchange.ec, asio::error::connection_refused);
    EXPECT_EQ(exchange.ec, condition::refused);
    EXPECT_THAT(connector.last_error().text, HasSubstr("cannot connect to 127.40.0.3:"));
}

TEST_F(TcpDeadline, BlackHoleEndsByTheConnectDeadlineAndHoldsNothingUp) {
    black_hole hole(*context);
    tcp_connector connector(*context, hole.acceptor.local_endpoint(),
                            with_short(&tcp_rendezvous_config::connect_deadline));
    ended exchange;
    connector.async_exchange(side(1), into(exchange));
    asio::steady_timer tick(*context, 5ms);
    bool ticked_meanwhile = false;
    tick.async_wait([&](const error_code&) { ticked_meanwhile = !exchange.done; });
    run_until(exchange);
    EXPECT_TRUE(ticked_meanwhile) << "the connection attempt blocked the context";
    EXPECT_EQ(exchange.ec, errc::handshake_timed_out);
    EXPECT_EQ(exchange.ec, condition::timed_out);
    EXPECT_THAT(connector.last_error().text, HasSubstr("waited 150 ms (connect_deadline)"));
    EXPECT_THAT(connector.last_error().text, HasSubstr("to accept a TCP connection"));
}

TEST_F(TcpDeadline, SilentListeningSideEndsByTheExchangeDeadline) {
    auto a = ask_raw(with_short(&tcp_rendezvous_config::exchange_deadline));
    run_until(a->exchange);
    EXPECT_EQ(a->exchange.ec, errc::handshake_timed_out);
    EXPECT_THAT(a->connector.last_error().text, HasSubstr("(exchange_deadline) in vain for 127.40.0.2:"));
    EXPECT_THAT(a->connector.last_error().text, HasSubstr("to answer our hello"));
}

TEST_F(TcpDeadline, CountsForTheWholeAnswerAndNotForEachByte) {
    auto a = ask_raw(with_short(&tcp_rendezvous_config::exchange_deadline));
    const auto answer = rendezvous::encode(accept_message());
    std::size_t sent = 0;
    asio::steady_timer each(*context);
    std::function<void(const error_code&)> next = [&](const error_code&) {
        if (a->exchange.done) return;
        ASSERT_LT(sent, answer.size()) << "each byte prolonged the step";
        a->peer.send(std::span(answer).subspan(sent++, 1));
        each.expires_after(20ms);
        each.async_wait(next);
    };
    next({});
    run_until(a->exchange);
    EXPECT_EQ(a->exchange.ec, errc::handshake_timed_out);
}

TEST_F(TcpDeadline, EndlessSignsOfLifeDoNotProlongAStep) {
    auto a = ask_raw(with_short(&tcp_rendezvous_config::exchange_deadline));
    asio::steady_timer each(*context);
    std::function<void(const error_code&)> next = [&](const error_code&) {
        if (a->exchange.done) return;
        a->peer.send(message_kind::ping);
        each.expires_after(20ms);
        each.async_wait(next);
    };
    next({});
    run_until(a->exchange);
    EXPECT_EQ(a->exchange.ec, errc::handshake_timed_out);
}

TEST_F(TcpDeadline, PeerThatNeverGetsReadyEndsByTheReadyDeadline) {
    auto a = ask_raw(with_short(&tcp_rendezvous_config::ready_deadline));
    a->peer.send(accept_message());
    run_until(a->exchange);
    a->connector.async_ready(into(a->ready));
    run_until(a->ready);
    EXPECT_EQ(a->ready.ec, errc::handshake_timed_out);
    EXPECT_THAT(a->connector.last_error().text, HasSubstr("(ready_deadline)"));
    EXPECT_THAT(a->connector.last_error().text, HasSubstr("to say that it is ready"));
}

TEST_F(TcpDeadline, ListeningSideHasItsReadyDeadlineToo) {
    auto ends = meet(side(100), {}, with_short(&tcp_rendezvous_config::ready_deadline));
    ended answered, ready;
    ends->listening->async_exchange(side(200), into(answered));
    run_until(answered);
    ends->listening->async_ready(into(ready));
    run_until(ready);
    EXPECT_EQ(ready.ec, errc::handshake_timed_out);
    EXPECT_THAT(ends->listening->last_error().text, HasSubstr("(ready_deadline)"));
}

TEST_F(TcpDeadline, AllStepsTogetherHaveOneToo) {
    auto a = ask_raw(with_short(&tcp_rendezvous_config::total_deadline));
    run_until(a->exchange);
    EXPECT_EQ(a->exchange.ec, errc::handshake_timed_out);
    EXPECT_THAT(a->connector.last_error().text, HasSubstr("waited 150 ms (total_deadline)"));
}

TEST_F(TcpDeadline, TotalGoesOnCountingWhileTheQueuePairIsMadeReady) {
    auto a = ask_raw(with_short(&tcp_rendezvous_config::total_deadline));
    a->peer.send(accept_message());
    run_until(a->exchange);
    ASSERT_FALSE(a->exchange.ec);
    a->connector.async_ready(into(a->ready));
    run_until(a->ready);
    EXPECT_EQ(a->ready.ec, errc::handshake_timed_out);
    EXPECT_THAT(a->connector.last_error().text, HasSubstr("(total_deadline)"));
}

// ---- Liveness

TEST_F(TcpDeadline, SilentPeerIsLostByTheLivenessDeadline) {
    // Its TCP connection stands: as a stopped process, or one behind a cut cable.
    auto a = stand_raw(with_short(&tcp_rendezvous_config::liveness_deadline));
    a->connector.async_wait_lost(into(a->lost));
    run_until(a->lost);
    EXPECT_EQ(a->lost.ec, errc::peer_lost);
    EXPECT_EQ(a->lost.ec, condition::connection_failed);
    EXPECT_THAT(a->connector.last_error().text,
                HasSubstr("gave no sign of life for 150 ms (liveness_deadline)"));
}

TEST_F(TcpDeadline, SignsOfLifeKeepThePeer) {
    auto a = stand_raw(with_short(&tcp_rendezvous_config::liveness_deadline));
    a->connector.async_wait_lost(into(a->lost));
    asio::steady_timer each(*context);
    int sent = 0;
    std::function<void(const error_code&)> next = [&](const error_code&) {
        EXPECT_FALSE(a->lost.done) << "after " << sent << " signs of life";
        if (a->lost.done || ++sent == 20) return;
        a->peer.send(message_kind::ping);
        each.expires_after(20ms);
        each.async_wait(next);
    };
    next({});
    run_until([&] { return sent == 20 || a->lost.done; });
    run_until(a->lost);
    EXPECT_EQ(a->lost.ec, errc::peer_lost);
    EXPECT_EQ(sent, 20);
}

TEST_F(TcpDeadline, SignsOfLifeAreSentAsOftenAsThePeerWants) {
    auto a = stand_raw({}, 120ms);
    a->connector.async_wait_lost(into(a->lost));
    for (int n = 0; n < 6; ++n) {
        const auto m = a->peer.receive();
        ASSERT_TRUE(m);
        EXPECT_EQ(m->kind, message_kind::ping);
    }
    EXPECT_FALSE(a->lost.done);
}

TEST_F(TcpDeadline, PeerThatNamesAnAbsurdDeadlineIsNotFlooded) {
    auto a = stand_raw({}, 1ms);
    a->connector.async_wait_lost(into(a->lost));
    bool over = false;
    asio::steady_timer later(*context, 100ms);
    later.async_wait([&](const error_code&) { over = true; });
    std::size_t bytes = 0;
    run_until([&] { return over; });
    bytes = a->peer.socket().available();
    EXPECT_GE(bytes, 8U);
    EXPECT_LE(bytes, 8U * 11) << "at most one every 10 ms";
}

TEST_F(TcpDeadline, BothSidesKeepEachOther) {
    tcp_rendezvous_config config;
    config.liveness_deadline = 300ms;
    auto ends = connect(config, config);
    ended lost_a, lost_b;
    ends->connecting->async_wait_lost(into(lost_a));
    ends->listening->async_wait_lost(into(lost_b));
    bool over = false;
    asio::steady_timer later(*context, 900ms);
    later.async_wait([&](const error_code&) { over = true; });
    run_until([&] { return over; });
    EXPECT_FALSE(lost_a.done) << ends->connecting->last_error().message();
    EXPECT_FALSE(lost_b.done) << ends->listening->last_error().message();
    ends->drop();
    run();
    EXPECT_EQ(lost_a.ec, asio::error::operation_aborted);
    EXPECT_EQ(lost_b.ec, asio::error::operation_aborted);
}

TEST_F(TcpDeadline, ContextThatDidNotRunForLongerThanTheDeadlineDoesNotLoseALivePeer) {
    auto a = stand_raw(with_short(&tcp_rendezvous_config::liveness_deadline));
    a->connector.async_wait_lost(into(a->lost));
    settle();
    // The application blocks; the peer goes on with its signs of life, on a context of its own.
    asio::io_context peers_context;
    asio::steady_timer each(peers_context);
    int sent = 0;
    std::function<void(const error_code&)> next = [&](const error_code&) {
        a->peer.send(message_kind::ping);
        if (++sent == 10) return;
        each.expires_after(40ms);
        each.async_wait(next);
    };
    next({});
    peers_context.run();
    a->peer.send(message_kind::bye);
    run_until(a->lost);
    EXPECT_EQ(a->lost.ec, errc::peer_closed) << a->connector.last_error().message();
}

TEST_F(TcpDeadline, WithoutALivenessDeadlineOnlyTheEndOfTheConnectionCounts) {
    tcp_rendezvous_config config;
    config.liveness_deadline = 0ms;
    auto a = stand_raw(config, 60ms);
    a->connector.async_wait_lost(into(a->lost));
    for (int n = 0; n < 10; ++n) ASSERT_TRUE(a->peer.receive()) << "a sign of life each 10 ms";
    EXPECT_FALSE(a->lost.done);
    a->peer.close();
    run_until(a->lost);
    EXPECT_EQ(a->lost.ec, errc::peer_lost);
}

TEST_F(TcpDeadline, PeerThatTalksGarbageWhileTheConnectionStandsIsLost) {
    auto a = stand_raw();
    a->connector.async_wait_lost(into(a->lost));
    a->peer.send("GET /status HTTP/1.1\r\n\r\n");
    run_until(a->lost);
    EXPECT_EQ(a->lost.ec, errc::peer_lost);
    EXPECT_THAT(a->connector.last_error().text, HasSubstr("47 45 54 20"));
}

} // namespace
} // namespace rocio::test
