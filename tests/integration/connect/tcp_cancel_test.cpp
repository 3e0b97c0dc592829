#include "tcp_fixture.hpp"

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/strand.hpp>

#include <atomic>
#include <thread>

namespace rocio::test {
namespace {

/// Where a connecting side can be suspended.
enum class place { connect, answer, ready, watch };

const char* name_of(place p) {
    switch (p) {
    case place::connect:
        return "connect";
    case place::answer:
        return "answer";
    case place::ready:
        return "ready";
    case place::watch:
        return "watch";
    }
    return "";
}

class TcpSuspended : public TcpFixture, public ::testing::WithParamInterface<place> {
  protected:
    /// Brings a connector to the place, where it hangs.
    void suspend() {
        tcp::acceptor listening_socket(*context, tcp::endpoint(asio::ip::make_address("127.40.0.4"), 0));
        connector.emplace(*context, listening_socket.local_endpoint());
        acceptor.emplace(std::move(listening_socket));
        peer.emplace(*context);
        connector->async_exchange(
            side(100), asio::bind_cancellation_slot(slot(place::connect, place::answer), into(exchange)));
        if (GetParam() == place::connect) return;
        peer->accept(*acceptor);
        ASSERT_TRUE(peer->receive());
        if (GetParam() == place::answer) return;
        peer->send(accept_message());
        run_until(exchange);
        connector->async_ready(asio::bind_cancellation_slot(slot(place::ready, place::ready), into(ready)));
        ASSERT_TRUE(peer->receive());
        if (GetParam() == place::ready) return;
        peer->send(message_kind::ready);
        run_until(ready);
        connector->async_wait_lost(asio::bind_cancellation_slot(signal.slot(), into(lost)));
        settle();
    }
    ended& last() {
        if (GetParam() == place::ready) return ready;
        return GetParam() == place::watch ? lost : exchange;
    }

    std::optional<tcp::acceptor> acceptor;
    std::optional<raw_peer> peer;
    asio::cancellation_signal signal;
    std::optional<tcp_connector> connector;
    ended exchange{};
    ended ready{};
    ended lost{};

  private:
    asio::cancellation_slot slot(place a, place b) {
        return GetParam() == a || GetParam() == b ? signal.slot() : asio::cancellation_slot();
    }
};

TEST_P(TcpSuspended, CancellationEndsTheOperation) {
    suspend();
    EXPECT_FALSE(last().done);
    signal.emit(asio::cancellation_type::total);
    run_until(last());
    EXPECT_EQ(last().ec, asio::error::operation_aborted);
    connector.reset();
    run();
}

TEST_P(TcpSuspended, TerminalCancellationDoesTheSame) {
    suspend();
    signal.emit(asio::cancellation_type::terminal);
    run_until(last());
    EXPECT_EQ(last().ec, asio::error::operation_aborted);
}

TEST_P(TcpSuspended, PartialCancellationIsIgnored) {
    suspend();
    signal.emit(asio::cancellation_type::partial);
    settle();
    EXPECT_FALSE(last().done);
    connector.reset();
    run();
    EXPECT_TRUE(last().done);
}

TEST_P(TcpSuspended, GoodbyeAfterACancellationReachesThePeer) {
    suspend();
    if (GetParam() == place::connect) peer->accept(*acceptor);
    signal.emit(asio::cancellation_type::total);
    run_until(last());
    ended released;
    connector->async_release(into(released));
    auto m = peer->receive_word();
    while (m && m->kind != message_kind::bye) m = peer->receive_word();
    EXPECT_TRUE(m) << "closed without a goodbye";
    peer->close();
    run();
    EXPECT_TRUE(released.done);
}

TEST_P(TcpSuspended, DestroyedHandshakeEndsItsOperationAndCloses) {
    suspend();
    if (GetParam() == place::connect) peer->accept(*acceptor);
    connector.reset();
    EXPECT_FALSE(last().done) << "completed inside the destructor";
    run_until(last());
    EXPECT_EQ(last().ec, asio::error::operation_aborted);
    peer->wait_until_closed();
    run();
}

TEST_P(TcpSuspended, DestroyedContextCallsNothing) {
    suspend();
    connector.reset();
    peer->close();
    acceptor.reset();
    context.reset();
    EXPECT_FALSE(last().done);
    signal.emit(asio::cancellation_type::total);
}

TEST_P(TcpSuspended, SignalAfterTheEndReachesNobody) {
    suspend();
    connector.reset();
    run_until(last());
    signal.emit(asio::cancellation_type::total);
    run();
}

INSTANTIATE_TEST_SUITE_P(Places, TcpSuspended,
                         ::testing::Values(place::connect, place::answer, place::ready, place::watch),
                         [](const auto& p) { return std::string(name_of(p.param)); });

class TcpCancel : public TcpFixture {};

TEST_F(TcpCancel, CancelledWaitCanBeginAgainAndLosesNoMessage) {
    auto a = stand_raw();
    asio::cancellation_signal signal;
    const auto bye = rendezvous::encode(message_kind::bye);
    for (std::size_t sent = 0; sent < bye.size(); ++sent) {
        ended wait;
        a->connector.async_wait_lost(asio::bind_cancellation_slot(signal.slot(), into(wait)));
        settle();
        a->peer.send(std::span(bye).subspan(sent, 1));
        if (sent + 1 == bye.size()) {
            run_until(wait);
            EXPECT_EQ(wait.ec, errc::peer_closed) << a->connector.last_error().message();
            break;
        }
        settle();
        signal.emit(asio::cancellation_type::total);
        run_until(wait);
        ASSERT_EQ(wait.ec, asio::error::operation_aborted);
    }
}

TEST_F(TcpCancel, LateCancellationOfAnAnswerThatHasComeIsHonoured) {
    tcp::acceptor acceptor(*context, tcp::endpoint(asio::ip::make_address("127.40.0.4"), 0));
    tcp_connector connector(*context, acceptor.local_endpoint());
    asio::cancellation_signal signal;
    ended exchange;
    connector.async_exchange(side(100), asio::bind_cancellation_slot(signal.slot(), into(exchange)));
    raw_peer peer(*context);
    peer.accept(acceptor);
    ASSERT_TRUE(peer.receive());
    signal.emit(asio::cancellation_type::total);
    peer.send(accept_message());
    run_until(exchange);
    EXPECT_EQ(exchange.ec, asio::error::operation_aborted);
}

TEST_F(TcpCancel, HandlersOfOneStrandMayCancelAgainstAnotherThread) {
    // Each round: a waiting handshake, cancelled from its handler's strand while a second thread runs the
    // context.
    std::atomic<int> aborted = 0;
    std::vector<std::unique_ptr<asked_raw>> all;
    for (int n = 0; n < 20; ++n) all.push_back(stand_raw());
    struct user {
        explicit user(asio::io_context& c) : strand(asio::make_strand(c)) {}
        asio::strand<asio::io_context::executor_type> strand;
        asio::cancellation_signal signal;
    };
    std::vector<std::unique_ptr<user>> users;
    for (auto& a : all) {
        auto& u = *users.emplace_back(std::make_unique<user>(*context));
        asio::post(u.strand, [&] {
            a->connector.async_wait_lost(asio::bind_cancellation_slot(
                u.signal.slot(), asio::bind_executor(u.strand, [&](const error_code& ec) {
                    if (ec == asio::error::operation_aborted) ++aborted;
                })));
            asio::post(u.strand, [&] { u.signal.emit(asio::cancellation_type::total); });
        });
    }
    context->restart();
    std::thread second([&] { context->run(); });
    context->run();
    second.join();
    EXPECT_EQ(aborted, 20);
}

} // namespace
} // namespace rocio::test
