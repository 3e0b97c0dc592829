#include "tcp_fixture.hpp"

#include <fcntl.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

namespace rocio::test {
namespace {

class TcpHandshake : public TcpFixture {};

TEST_F(TcpHandshake, EachSideLearnsTheOthersNumbers) {
    auto ends = meet(side(100));
    EXPECT_EQ(ends->listening->hello().queue_pair, qpn(100));
    ended answered;
    ends->listening->async_exchange(side(200), into(answered));
    run_until(ends->asked);
    run_until(answered);
    EXPECT_FALSE(ends->asked.ec);
    EXPECT_FALSE(answered.ec);
    EXPECT_EQ(ends->asked.peer.queue_pair, qpn(200));
    EXPECT_EQ(ends->asked.peer.send_psn, psn(600));
    EXPECT_EQ(answered.peer.queue_pair, qpn(100));
    EXPECT_EQ(answered.peer.send_psn, psn(300));
    EXPECT_EQ(answered.peer.address.to_address_string(), "127.40.0.1");
}

TEST_F(TcpHandshake, EachSideKnowsTheOthersAddress) {
    auto ends = meet();
    EXPECT_EQ(ends->listening->remote_endpoint().address(), asio::ip::make_address("127.0.0.1"));
    EXPECT_EQ(ends->connecting->remote_endpoint().address(), asio::ip::make_address("127.40.0.1"));
}

TEST_F(TcpHandshake, NobodyIsReadyBeforeBothAre) {
    for (const bool connecting_first : {true, false}) {
        auto ends = meet();
        ended answered, first, second;
        ends->listening->async_exchange(side(200), into(answered));
        run_until(ends->asked);
        run_until(answered);
        const auto get_ready = [&](bool connecting, ended& e) {
            connecting ? ends->connecting->async_ready(into(e)) : ends->listening->async_ready(into(e));
        };
        get_ready(connecting_first, first);
        settle();
        EXPECT_FALSE(first.done);
        get_ready(!connecting_first, second);
        run_until(first);
        run_until(second);
        EXPECT_FALSE(first.ec);
        EXPECT_FALSE(second.ec);
    }
}

TEST_F(TcpHandshake, SocketsAreClosedOnExecAndSendAtOnce) {
    auto ends = connect();
    std::size_t sockets = 0;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
        std::error_code gone;
        const auto target = std::filesystem::read_symlink(entry.path(), gone).string();
        if (!target.starts_with("socket:")) continue;
        const int fd = std::stoi(entry.path().filename().string());
        sockaddr_in address{};
        socklen_t size = sizeof address;
        if (::getpeername(fd, static_cast<sockaddr*>(static_cast<void*>(&address)), &size) != 0) continue;
        if (address.sin_family != AF_INET) continue;
        ++sockets;
        EXPECT_NE(::fcntl(fd, F_GETFD) & FD_CLOEXEC, 0) << fd;
        int no_delay = 0;
        size = sizeof no_delay;
        ASSERT_EQ(::getsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &no_delay, &size), 0);
        EXPECT_NE(no_delay, 0) << fd;
    }
    EXPECT_GE(sockets, 2U);
}

TEST_F(TcpHandshake, ListeningSocketIsClosedOnExec) {
    tcp_listener listener(*context, listening());
    std::size_t listeners = 0;
    for (int fd = 0; fd < 256; ++fd) {
        int accepting = 0;
        socklen_t size = sizeof accepting;
        if (::getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &accepting, &size) != 0 || accepting == 0) continue;
        ++listeners;
        EXPECT_NE(::fcntl(fd, F_GETFD) & FD_CLOEXEC, 0) << fd;
    }
    EXPECT_EQ(listeners, 1U);
}

// ---- Refusals, seen on both sides

struct misfit {
    const char* name;
    local_parameters connecting;
    std::uint32_t connecting_sends;
    local_parameters listening;
    std::uint32_t listening_sends;
    errc code;
    const char* text;
};

local_parameters taking(std::uint32_t bytes) {
    auto p = side(100);
    p.max_payload = bytes;
    return p;
}

class TcpMisfit : public TcpFixture, public ::testing::WithParamInterface<misfit> {};

TEST_P(TcpMisfit, IsReportedOnBothSidesWithTheSameReason) {
    tcp_rendezvous_config at_connector, at_listener;
    at_connector.largest_message = GetParam().connecting_sends;
    at_listener.largest_message = GetParam().listening_sends;
    auto ends = meet(GetParam().connecting, at_connector, at_listener);
    ended answered;
    ends->listening->async_exchange(GetParam().listening, into(answered));
    run_until(answered);
    run_until(ends->asked);
    EXPECT_EQ(answered.ec, GetParam().code);
    EXPECT_EQ(ends->asked.ec, GetParam().code);
    EXPECT_THAT(ends->listening->last_error().text, HasSubstr(GetParam().text));
    EXPECT_THAT(ends->connecting->last_error().text, HasSubstr(GetParam().text));
    EXPECT_THAT(ends->connecting->last_error().text, HasSubstr("127.40.0.1:"));
    run();
}

INSTANTIATE_TEST_SUITE_P(
    Cases, TcpMisfit,
    ::testing::Values(
        misfit{"path_mtu", side(100, mtu::b4096), 0, side(200, mtu::b1024), 0, errc::path_mtu_mismatch,
               "connecting side has path MTU 4096, the listening side 1024"},
        misfit{"connecting_sends_too_much", side(100), 8193, taking(8192), 0, errc::geometry_mismatch,
               "messages of up to 8193 bytes, the listening side takes at most 8192"},
        misfit{"listening_sends_too_much", taking(64), 0, side(200), 65, errc::geometry_mismatch,
               "messages of up to 65 bytes, the connecting side takes at most 64"}),
    [](const auto& p) { return std::string(p.param.name); });

TEST_F(TcpHandshake, ApplicationMayRefuse) {
    auto ends = meet();
    ended refused;
    ends->listening->async_refuse("no stream\nleft", into(refused));
    run_until(refused);
    run_until(ends->asked);
    EXPECT_FALSE(refused.ec);
    EXPECT_EQ(ends->asked.ec, errc::refused_by_peer);
    EXPECT_THAT(ends->connecting->last_error().text, HasSubstr("refuses: no stream?left"));
    run();
}

TEST_F(TcpHandshake, PeerThatIsDroppedUnansweredIsLostToTheOtherSide) {
    auto ends = meet();
    ends->listening.reset();
    run_until(ends->asked);
    EXPECT_EQ(ends->asked.ec, errc::peer_lost);
    EXPECT_THAT(ends->connecting->last_error().text, HasSubstr("when it should answer our hello"));
    run();
}

// ---- A connecting side against a listening side that does as it likes

TEST_F(TcpHandshake, HelloCarriesTheDeadlineOfLivenessAndTheLargestMessage) {
    tcp_rendezvous_config config;
    config.liveness_deadline = 4321ms;
    config.largest_message = 1234;
    auto a = ask_raw(config);
    EXPECT_EQ(a->hello.content.liveness, 4321ms);
    EXPECT_EQ(a->hello.content.largest_message, 1234U);
    EXPECT_EQ(a->hello.content.side.queue_pair, qpn(100));
}

class TcpRefusalReason : public TcpFixture, public ::testing::WithParamInterface<errc> {};

TEST_P(TcpRefusalReason, BecomesTheErrorOfTheRefusedSide) {
    auto a = ask_raw();
    a->peer.send({message_kind::refuse, {}, {rendezvous::reason_of(GetParam()), "because"}});
    run_until(a->exchange);
    EXPECT_EQ(a->exchange.ec, GetParam());
    EXPECT_THAT(a->connector.last_error().text, HasSubstr("refuses: because"));
}

INSTANTIATE_TEST_SUITE_P(Reasons, TcpRefusalReason,
                         ::testing::Values(errc::handshake_malformed, errc::version_mismatch,
                                           errc::invalid_peer_parameters, errc::geometry_mismatch,
                                           errc::path_mtu_mismatch, errc::refused_by_peer));

struct bad_answer {
    const char* name;
    std::vector<std::byte> bytes;
    errc code;
    refusal_reason told;
};

std::vector<std::byte> changed_accept(std::size_t offset, std::uint8_t value) {
    auto bytes = rendezvous::encode({message_kind::accept, {side(300), 0, 0ms}, {}});
    bytes[offset] = std::byte(value);
    return bytes;
}

std::vector<std::byte> text_bytes(std::string_view text) {
    const auto bytes = std::as_bytes(std::span(text));
    return {bytes.begin(), bytes.end()};
}

class TcpBadAnswer : public TcpFixture, public ::testing::WithParamInterface<bad_answer> {};

TEST_P(TcpBadAnswer, IsRefusedSoThatBothSidesKnowWhy) {
    auto a = ask_raw();
    a->peer.send(GetParam().bytes);
    const auto no = a->peer.receive();
    ASSERT_TRUE(no);
    EXPECT_EQ(no->kind, message_kind::refuse);
    EXPECT_EQ(no->why.reason, GetParam().told);
    run_until(a->exchange);
    EXPECT_EQ(a->exchange.ec, GetParam().code);
    EXPECT_EQ(no->why.text, a->connector.last_error().text.substr(0, 256));
    a->peer.wait_until_closed();
}

INSTANTIATE_TEST_SUITE_P(
    Answers, TcpBadAnswer,
    ::testing::Values(
        bad_answer{"http", text_bytes("HTTP/1.1 400 Bad Request\r\n\r\n"), errc::handshake_malformed,
                   refusal_reason::malformed},
        bad_answer{"next_version", changed_accept(4, 2), errc::version_mismatch, refusal_reason::version},
        bad_answer{"endless_length", changed_accept(6, 0xFF), errc::handshake_malformed,
                   refusal_reason::malformed},
        bad_answer{"queue_pair_25_bits", changed_accept(28, 1), errc::invalid_peer_parameters,
                   refusal_reason::parameters},
        bad_answer{"path_mtu_6", changed_accept(26, 6), errc::invalid_peer_parameters,
                   refusal_reason::parameters},
        bad_answer{"other_path_mtu", changed_accept(26, 1), errc::path_mtu_mismatch,
                   refusal_reason::path_mtu},
        bad_answer{"ready_out_of_turn", rendezvous::encode(message_kind::ready), errc::handshake_malformed,
                   refusal_reason::malformed},
        bad_answer{"hello_out_of_turn", rendezvous::encode({message_kind::hello, {side(300), 0, 0ms}, {}}),
                   errc::handshake_malformed, refusal_reason::malformed}),
    [](const auto& p) { return std::string(p.param.name); });

TEST_F(TcpHandshake, SignsOfLifeAndUnknownKindsBeforeTheAnswerAreSkipped) {
    auto a = ask_raw();
    auto later = rendezvous::encode(message_kind::ping);
    later[5] = std::byte{99};
    a->peer.send(message_kind::ping);
    a->peer.send(later);
    a->peer.send(accept_message());
    run_until(a->exchange);
    EXPECT_FALSE(a->exchange.ec) << a->connector.last_error().message();
}

TEST_F(TcpHandshake, AnswerMayComeByteByByte) {
    auto a = ask_raw();
    for (const auto b : rendezvous::encode(accept_message())) {
        a->peer.send(std::span(&b, 1));
        settle();
    }
    run_until(a->exchange);
    EXPECT_FALSE(a->exchange.ec);
    EXPECT_EQ(a->exchange.peer.queue_pair, qpn(300));
}

TEST_F(TcpHandshake, AnswerAndReadyMayComeInOnePiece) {
    auto a = ask_raw();
    auto bytes = rendezvous::encode(accept_message());
    const auto ready = rendezvous::encode(message_kind::ready);
    bytes.insert(bytes.end(), ready.begin(), ready.end());
    a->peer.send(bytes);
    run_until(a->exchange);
    a->connector.async_ready(into(a->ready));
    run_until(a->ready);
    EXPECT_FALSE(a->ready.ec);
}

enum class end { close, reset, bye };

class TcpPeerEnds : public TcpFixture, public ::testing::WithParamInterface<end> {
  protected:
    void end_it(raw_peer& peer) const {
        if (GetParam() == end::close) peer.close();
        if (GetParam() == end::reset) peer.reset();
        if (GetParam() == end::bye) peer.send(message_kind::bye);
    }
    static errc expected() { return GetParam() == end::bye ? errc::peer_closed : errc::peer_lost; }
};

TEST_P(TcpPeerEnds, InsteadOfAnAnswer) {
    auto a = ask_raw();
    end_it(a->peer);
    run_until(a->exchange);
    EXPECT_EQ(a->exchange.ec, expected());
    EXPECT_THAT(a->connector.last_error().text, HasSubstr("127.40.0.2:"));
}

TEST_F(TcpHandshake, PeerThatEndsInTheMiddleOfItsAnswerIsLost) {
    for (const bool abruptly : {false, true}) {
        auto a = ask_raw();
        const auto answer = rendezvous::encode(accept_message());
        a->peer.send(std::span(answer).first(20));
        settle();
        abruptly ? a->peer.reset() : a->peer.close();
        run_until(a->exchange);
        EXPECT_EQ(a->exchange.ec, errc::peer_lost);
    }
}

TEST_P(TcpPeerEnds, InsteadOfBeingReady) {
    auto a = ask_raw();
    a->peer.send(accept_message());
    run_until(a->exchange);
    a->connector.async_ready(into(a->ready));
    settle();
    end_it(a->peer);
    run_until(a->ready);
    EXPECT_EQ(a->ready.ec, expected());
}

TEST_P(TcpPeerEnds, WhileTheConnectionStands) {
    auto a = stand_raw();
    a->connector.async_wait_lost(into(a->lost));
    settle();
    EXPECT_FALSE(a->lost.done);
    end_it(a->peer);
    run_until(a->lost);
    EXPECT_EQ(a->lost.ec, expected());
    EXPECT_EQ(a->connector.last_error().code, expected());
}

TEST_P(TcpPeerEnds, BeforeAnybodyWatches) {
    auto a = stand_raw();
    end_it(a->peer);
    a->connector.async_wait_lost(into(a->lost));
    run_until(a->lost);
    EXPECT_EQ(a->lost.ec, expected());
}

INSTANTIATE_TEST_SUITE_P(
    Ends, TcpPeerEnds, ::testing::Values(end::close, end::reset, end::bye), [](const auto& p) {
        return std::string(p.param == end::close ? "close" : p.param == end::reset ? "reset" : "bye");
    });

} // namespace
} // namespace rocio::test
