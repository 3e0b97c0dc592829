// What the status learns of how connections are made: each attempt counts once as begun and once as ended.

#include "listener_fixture.hpp"

#include <rocio/connect/cudaq_rendezvous.hpp>
#include <rocio/connect/handshake_log.hpp>

#include <boost/asio/connect.hpp>

#include <array>

namespace rocio::test {
namespace {

class HandshakeLog : public TcpListener {
  protected:
    static tcp_rendezvous_config counted_in(const std::shared_ptr<handshake_log>& log) {
        tcp_rendezvous_config config;
        config.handshakes = log;
        return config;
    }
    std::shared_ptr<handshake_log> log = std::make_shared<handshake_log>("camera");
};

TEST_F(HandshakeLog, AListenerBeginsWithNothing) {
    tcp_listener listener(*context, listening());
    const auto s = listener.handshake();
    EXPECT_EQ(s.name, "");
    EXPECT_EQ(s.kind, "tcp");
    EXPECT_EQ(s.endpoint, "127.40.0.1:" + std::to_string(listener.local_endpoint().port()));
    EXPECT_EQ(s.attempts + s.established + s.failed, 0U);
    EXPECT_FALSE(s.last_error);
    EXPECT_EQ(s.last_error_time, std::chrono::system_clock::time_point{});
}

TEST_F(HandshakeLog, AConnectionIsEstablishedOnBothSides) {
    const auto here = std::make_shared<handshake_log>("listening");
    auto ends = connect(counted_in(log), counted_in(here));
    for (const auto& s : {log->snapshot(), here->snapshot()}) {
        EXPECT_EQ(s.attempts, 1U) << s.name;
        EXPECT_EQ(s.established, 1U) << s.name;
        EXPECT_EQ(s.failed, 0U) << s.name;
    }
    EXPECT_EQ(log->snapshot().kind, "tcp");
    EXPECT_EQ(log->snapshot().endpoint.substr(0, 11), "127.40.0.1:");
    ends->drop();
    settle();
    EXPECT_EQ(log->snapshot().failed, 0U) << "its end is no failure of the handshake";
}

TEST_F(HandshakeLog, ARefusedHelloIsAFailureWithTimeAndPeer) {
    tcp_listener listener(*context, listening());
    accepted next;
    listener.async_accept(into(next));
    const auto before = std::chrono::system_clock::now();
    auto garbage = dial(listener);
    garbage->send("GET / HTTP/1.1\r\nHost: rocio\r\n\r\n");
    run_until([&] { return listener.handshake().failed == 1; });
    const auto s = listener.handshake();
    EXPECT_EQ(s.attempts, 1U);
    EXPECT_EQ(s.last_error.code, errc::handshake_malformed);
    EXPECT_EQ(s.last_error.text, listener.snapshot().last_refusal.text);
    EXPECT_EQ(s.last_error_peer, listener.snapshot().last_refused_peer);
    EXPECT_GE(s.last_error_time, before);
    EXPECT_LE(s.last_error_time, std::chrono::system_clock::now());
    listener.close();
    run();
}

TEST_F(HandshakeLog, AHelloThatDoesNotComeIsAFailureAndAProbeIsNone) {
    tcp_rendezvous_config brisk;
    brisk.exchange_deadline = 50ms;
    tcp_listener listener(*context, listening(brisk));
    accepted next;
    listener.async_accept(into(next));
    auto silent = dial(listener);
    { auto probe = dial(listener); }
    run_until([&] { return listener.snapshot().timed_out == 1 && listener.snapshot().probes == 1; });
    const auto s = listener.handshake();
    EXPECT_EQ(s.attempts, 1U);
    EXPECT_EQ(s.failed, 1U);
    EXPECT_EQ(s.last_error.code, errc::handshake_timed_out);
    listener.close();
    run();
}

TEST_F(HandshakeLog, AHandshakeThatFailsLaterCountsOnce) {
    const auto here = std::make_shared<handshake_log>("listening");
    auto ends = meet(side(100), counted_in(log), counted_in(here));
    EXPECT_EQ(here->snapshot().attempts, 1U);
    EXPECT_EQ(here->snapshot().failed, 0U) << "it goes on";
    ended refused;
    ends->listening->async_refuse("not today", into(refused));
    run_until(ends->asked);
    EXPECT_EQ(ends->asked.ec, errc::refused_by_peer);
    EXPECT_EQ(log->snapshot().failed, 1U);
    EXPECT_THAT(log->snapshot().last_error.text, HasSubstr("not today"));
    EXPECT_EQ(log->snapshot().last_error_peer, log->snapshot().endpoint);
    EXPECT_EQ(here->snapshot().failed, 1U);
    ends->drop();
    settle();
    EXPECT_EQ(log->snapshot().failed, 1U);
    EXPECT_EQ(here->snapshot().failed, 1U);
    EXPECT_EQ(here->snapshot().attempts, 1U);
}

TEST_F(HandshakeLog, AHandshakeThatIsDroppedHalfwayIsGivenUp) {
    const auto here = std::make_shared<handshake_log>("listening");
    auto ends = meet(side(100), counted_in(log), counted_in(here));
    ends->drop();
    run();
    for (const auto& s : {log->snapshot(), here->snapshot()}) {
        EXPECT_EQ(s.attempts, 1U) << s.name;
        EXPECT_EQ(s.established, 0U) << s.name;
        EXPECT_EQ(s.failed, 1U) << s.name;
        EXPECT_EQ(s.last_error.code, asio::error::operation_aborted) << s.name;
    }
}

TEST_F(HandshakeLog, WhoeverGoesBeforeHeIsAcceptedIsAFailure) {
    tcp_listener listener(*context, listening());
    accepted first, second;
    listener.async_accept(into(first));
    auto taken = dial_with_hello(listener);
    auto gone = dial_with_hello(listener);
    run_until([&] { return listener.snapshot().accepted == 2; });
    gone->socket().close();
    listener.async_accept(into(second));
    run_until([&] { return listener.handshake().failed == 1; });
    EXPECT_EQ(listener.handshake().attempts, 2U);
    EXPECT_EQ(listener.handshake().last_error.code, errc::peer_lost);
    listener.close();
    run();
}

TEST_F(HandshakeLog, ConnectorsThatTryAgainShareOne) {
    tcp::acceptor nobody(*context, {asio::ip::make_address("127.40.0.3"), 0});
    const auto where = nobody.local_endpoint();
    nobody.close();
    for (int n = 0; n < 3; ++n) {
        tcp_connector connector(*context, where, counted_in(log));
        ended asked;
        connector.async_exchange(side(100), into(asked));
        run_until(asked);
        EXPECT_TRUE(asked.ec);
    }
    const auto s = log->snapshot();
    EXPECT_EQ(s.name, "camera");
    EXPECT_EQ(s.attempts, 3U);
    EXPECT_EQ(s.failed, 3U);
    EXPECT_THAT(s.last_error.text, HasSubstr("cannot connect to 127.40.0.3"));
}

TEST_F(HandshakeLog, MisuseIsNoFailureOfTheHandshake) {
    auto ends = meet(side(100), counted_in(log));
    ended again;
    ends->connecting->async_exchange(side(100), into(again));
    run_until(again);
    EXPECT_EQ(again.ec, errc::invalid_state);
    EXPECT_EQ(log->snapshot().failed, 0U);
}

TEST_F(HandshakeLog, CudaqServiceAndCallerCountTheirOne) {
    cudaq_service service(*context, {asio::ip::make_address("127.40.0.4"), 0});
    EXPECT_EQ(service.handshake().kind, "cuda-q");
    EXPECT_EQ(service.handshake().endpoint, "127.40.0.4:" + std::to_string(service.local_endpoint().port()));
    cudaq_config config;
    config.handshakes = log;
    cudaq_caller caller(*context, service.local_endpoint(), config);
    ended served, called, ready_a, ready_b;
    service.async_exchange(side(100, mtu::b1024), into(served));
    settle();
    EXPECT_EQ(service.handshake().attempts, 0U) << "nobody has called yet";
    caller.async_exchange(side(200, mtu::b1024), into(called));
    run_until(served);
    service.async_ready(into(ready_a));
    run_until([&] { return ready_a.done && called.done; });
    caller.async_ready(into(ready_b));
    run_until(ready_b);
    for (const auto& s : {service.handshake(), log->snapshot()}) {
        EXPECT_EQ(s.kind, "cuda-q");
        EXPECT_EQ(s.attempts, 1U);
        EXPECT_EQ(s.established, 1U);
        EXPECT_EQ(s.failed, 0U);
    }
}

TEST_F(HandshakeLog, CudaqServiceThatWaitsInVainFails) {
    cudaq_config config;
    config.accept_deadline = 20ms;
    cudaq_service service(*context, {asio::ip::make_address("127.40.0.4"), 0}, config);
    ended served;
    service.async_exchange(side(100, mtu::b1024), into(served));
    run_until(served);
    EXPECT_EQ(service.handshake().attempts, 1U);
    EXPECT_EQ(service.handshake().failed, 1U);
    EXPECT_EQ(service.handshake().last_error.code, errc::handshake_timed_out);
    EXPECT_EQ(service.handshake().last_error_peer, "");
}

} // namespace
} // namespace rocio::test
