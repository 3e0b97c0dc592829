#include "connect/tcp_session.hpp"

#include "connect/tcp_socket.hpp"

#include <algorithm>

namespace rocio::detail {

using rendezvous::message;
using rendezvous::message_kind;

void tcp_session::on_cancel(const operation& op) {
    if (current_ != &op) return;
    error_code ignored;
    channel_.socket().cancel(ignored);
}

tcp_session::tcp_session(const asio::any_io_executor& executor, const asio::ip::tcp::endpoint& peer,
                         const tcp_rendezvous_config& config)
    : handshake_session(asio::make_strand(executor), config.handshakes),
      channel_(strand_),
      peer_(peer),
      config_(config),
      connecting_(true) {}

tcp_session::tcp_session(const asio::any_io_executor& executor, const asio::ip::tcp::endpoint& peer,
                         const tcp_rendezvous_config& config, const rendezvous::offer& hello)
    : tcp_session(executor, peer, config) {
    connecting_ = false;
    theirs_ = hello;
    attempt_.begin(to_text(peer));
}

tcp_session::step tcp_session::begin(const char* waits_for, const char* name,
                                     std::chrono::milliseconds limit) const {
    const auto at = steady_clock::now() + limit;
    if (at <= all_until_) return {waits_for, name, limit, at};
    return {waits_for, "total_deadline", config_.total_deadline, all_until_};
}

error_info tcp_session::judge(error_info e, const step& s, const step_guard& guard) const {
    if (guard.cancelled()) return {asio::error::operation_aborted, {}};
    if (!e) return {};
    const auto peer = to_text(peer_);
    if (guard.expired() && e.code == asio::error::operation_aborted) {
        return {errc::handshake_timed_out, "waited " + std::to_string(s.limit.count()) + " ms (" + s.name +
                                               ") in vain for " + peer + " to " + s.waits_for};
    }
    if (e.code.category() == error_category()) return e;
    return {errc::peer_lost,
            peer + " ended the TCP connection when it should " + s.waits_for + " (" + e.code.message() + ")"};
}

error_info tcp_session::turn_away(error_info e) {
    message no{message_kind::refuse, {}, {rendezvous::reason_of(e.code), e.text}};
    send_at_once(channel_.socket(), rendezvous::encode(no));
    close_gently(channel_.socket());
    return e;
}

error_info tcp_session::unexpected(const message& m) const {
    const auto peer = to_text(peer_);
    if (m.kind == message_kind::refuse) {
        return {rendezvous::error_of(m.why.reason), peer + " refuses: " + m.why.text};
    }
    if (m.kind == message_kind::bye) return {errc::peer_closed, peer + " gave the handshake up"};
    return {errc::handshake_malformed, peer + " sent a message of kind " +
                                           std::to_string(static_cast<unsigned>(m.kind)) + " out of turn"};
}

void tcp_session::begin_attempt() {
    if (!connecting_) return;
    if (const auto& log = attempt_.log()) log->identify("tcp", to_text(peer_));
    attempt_.begin(to_text(peer_));
}

task<error_info> tcp_session::connect(const operation& op) {
    auto& socket = channel_.socket();
    if (const auto ec = open_stream(socket, peer_.protocol())) {
        co_return error_info{ec, "no socket for the connection to " + to_text(peer_) + ": " + ec.message()};
    }
    const auto s = begin("accept a TCP connection", "connect_deadline", config_.connect_deadline);
    const step_guard guard(socket, s.at, op.cancelled());
    auto [ec] = co_await socket.async_connect(peer_, as_result);
    if (!ec || guard.over()) co_return judge({ec, {}}, s, guard);
    co_return error_info{ec, "cannot connect to " + to_text(peer_) + ": " + ec.message() +
                                 "; check that the other side listens there"};
}

task<error_info> tcp_session::tell(message m, const step& s, const step_guard& guard) {
    channel_.put(m);
    const auto ec = co_await channel_.flush(guard);
    // A peer that refuses and closes resets the connection under our writing; its reason is there to be read.
    if (ec && !guard.over()) co_return error_info{};
    co_return judge({ec, {}}, s, guard);
}

task<error_info> tcp_session::hear(message_kind kind, message& out, const step& s, const step_guard& guard) {
    for (;;) {
        const auto e = judge(co_await channel_.read(out, guard), s, guard);
        const bool garbled = e && e.code.category() == error_category() &&
                             e.code != errc::handshake_timed_out && e.code != errc::peer_lost;
        if (garbled) co_return turn_away(e);
        if (e || out.kind == kind) co_return e;
        if (out.kind >= message_kind::ping) continue; // A sign of life, or a kind of a later version.
        const auto bad = unexpected(out);
        if (out.kind == message_kind::refuse || out.kind == message_kind::bye) co_return bad;
        co_return turn_away(bad);
    }
}

task<error_info> tcp_session::ask(const operation& op) {
    auto e = co_await connect(op);
    if (e) co_return e;
    const auto s = begin("answer our hello", "exchange_deadline", config_.exchange_deadline);
    const step_guard guard(channel_.socket(), s.at, op.cancelled());
    message m{message_kind::hello, ours_, {}};
    e = co_await tell(m, s, guard);
    if (e) co_return e;
    e = co_await hear(message_kind::accept, m, s, guard);
    if (e) co_return e;
    theirs_ = m.content;
    e = rendezvous::check_fit(ours_, theirs_);
    if (e) co_return turn_away(e);
    co_return e;
}

task<error_info> tcp_session::answer(const operation& op) {
    if (auto e = rendezvous::check_fit(theirs_, ours_)) co_return turn_away(e);
    const auto s = begin("take our answer", "exchange_deadline", config_.exchange_deadline);
    const step_guard guard(channel_.socket(), s.at, op.cancelled());
    const message m{message_kind::accept, ours_, {}};
    co_return co_await tell(m, s, guard);
}

task<error_info> tcp_session::agree_to_start(const operation& op) {
    const auto s = begin("say that it is ready", "ready_deadline", config_.ready_deadline);
    const step_guard guard(channel_.socket(), s.at, op.cancelled());
    message m{message_kind::ready, {}, {}};
    auto e = co_await tell(m, s, guard);
    if (!e) e = co_await hear(message_kind::ready, m, s, guard);
    co_return e;
}

task<tcp_session::exchange_result> tcp_session::exchange(tcp_session_ptr self, operation_ptr op,
                                                         local_parameters local) {
    if (self->stage_ != stage::fresh || self->current_) {
        const auto e =
            self->misused("async_exchange() is the first operation of a handshake, which serves one "
                          "connection: make a new one");
        co_return exchange_result{e.code, {}};
    }
    const occupancy here(*self, *op);
    self->begin_attempt();
    self->all_until_ = steady_clock::now() + self->config_.total_deadline;
    self->ours_ = {local, self->config_.largest_message, self->config_.liveness_deadline};
    self->stage_ = stage::over;
    error_info e{};
    if (op->cancelled())
        e.code = asio::error::operation_aborted;
    else if (self->connecting())
        e = co_await self->ask(*op);
    else
        e = co_await self->answer(*op);
    if (e) co_return exchange_result{self->remember(e).code, {}};
    self->stage_ = stage::exchanged;
    co_return exchange_result{error_code(), rendezvous::peer_of(self->theirs_)};
}

task<tcp_session::step_result> tcp_session::ready(tcp_session_ptr self, operation_ptr op) {
    if (self->stage_ != stage::exchanged || self->current_) {
        co_return step_result{
            self->misused("async_ready() comes once, after a successful async_exchange()").code};
    }
    const occupancy here(*self, *op);
    self->stage_ = stage::over;
    error_info e{};
    if (op->cancelled())
        e.code = asio::error::operation_aborted;
    else
        e = co_await self->agree_to_start(*op);
    if (e) co_return step_result{self->remember(e).code};
    self->stage_ = stage::standing;
    self->attempt_.established();
    co_return step_result{error_code()};
}

} // namespace rocio::detail
