#include "connect/tcp_session.hpp"
#include "connect/tcp_socket.hpp"

#include <algorithm>

namespace rocio::detail {

using rendezvous::message;
using rendezvous::message_kind;
using namespace std::chrono_literals;

namespace {

constexpr auto longest_beat = 10s;

/// How often to give a sign of life to a peer that takes us for lost after `patience`. Bounded whatever the
/// peer says; a peer that waits for ever (0) still gets some, so that our own TCP notices when it is gone.
std::chrono::milliseconds beat_for(std::chrono::milliseconds patience) {
    if (patience == 0ms) return longest_beat;
    return std::clamp<std::chrono::milliseconds>(patience / 6, 10ms, longest_beat);
}

} // namespace

bool tcp_session::has_unread() {
    error_code ec;
    return channel_.socket().available(ec) > 0 && !ec;
}

task<error_info> tcp_session::watch(const operation& op) {
    const auto patience = config_.liveness_deadline;
    const auto beat = beat_for(theirs_.liveness);
    auto heard = steady_clock::now();
    auto next_beat = heard + beat;
    for (;;) {
        if (steady_clock::now() >= next_beat) {
            if (!channel_.has_unsent()) channel_.put(message_kind::ping);
            next_beat = steady_clock::now() + beat;
        }
        channel_.try_flush();
        const step_guard guard(channel_.socket(),
                               patience == 0ms ? next_beat : std::min(next_beat, heard + patience),
                               op.cancelled());
        message m;
        const auto e = co_await channel_.read(m, guard);
        if (op.cancelled()) co_return error_info{asio::error::operation_aborted, {}};
        if (!e && m.kind != message_kind::bye && m.kind != message_kind::refuse) {
            heard = steady_clock::now();
            continue;
        }
        if (!e) co_return error_info{errc::peer_closed, to_text(peer_) + " said goodbye"};
        if (!guard.expired() || e.code != asio::error::operation_aborted) {
            co_return error_info{errc::peer_lost, "the connection to " + to_text(peer_) +
                                                      " ended without a goodbye (" + e.message() + ")"};
        }
        // After a time in which our own context did not run, the peer's signs of life are still unread.
        if (patience == 0ms || steady_clock::now() < heard + patience || has_unread()) continue;
        co_return error_info{errc::peer_lost, to_text(peer_) + " gave no sign of life for " +
                                                  std::to_string(patience.count()) +
                                                  " ms (liveness_deadline)"};
    }
}

task<tcp_session::step_result> tcp_session::wait_lost(tcp_session_ptr self, operation_ptr op) {
    if (self->released_) co_return step_result{asio::error::operation_aborted};
    if (self->stage_ != stage::standing || self->current_) {
        co_return step_result{
            self->misused("async_wait_lost() needs a connection: after async_ready(), once at a "
                          "time")
                .code};
    }
    const occupancy here(*self, *op);
    if (op->cancelled()) co_return step_result{asio::error::operation_aborted};
    const auto e = co_await self->watch(*op);
    if (e.code != asio::error::operation_aborted) {
        self->stage_ = stage::over;
        self->remember(e);
    }
    co_return step_result{e.code};
}

task<void> tcp_session::say_goodbye(const operation& op) {
    auto& socket = channel_.socket();
    const step_guard guard(socket, steady_clock::now() + config_.release_deadline, op.cancelled());
    channel_.put(message_kind::bye);
    auto ec = co_await channel_.flush(guard);
    if (ec) co_return;
    socket.shutdown(asio::socket_base::shutdown_send, ec);
    if (!ec) co_await channel_.discard(guard);
}

task<tcp_session::step_result> tcp_session::release(tcp_session_ptr self) {
    co_await self->make_idle();
    const auto op = std::make_shared<operation>(self);
    const occupancy here(*self, *op);
    self->stage_ = stage::over;
    if (self->channel_.socket().is_open()) co_await self->say_goodbye(*op);
    close_gently(self->channel_.socket());
    co_return step_result{error_code()};
}

task<tcp_session::step_result> tcp_session::refuse(tcp_session_ptr self, std::string text) {
    if (self->stage_ != stage::fresh || self->current_ || self->connecting()) {
        co_return step_result{self->misused("async_refuse() comes instead of async_exchange()").code};
    }
    self->stage_ = stage::over;
    self->attempt_.failed({errc::refused_by_peer, "this side refused: " + text});
    self->turn_away({errc::refused_by_peer, std::move(text)});
    co_return step_result{error_code()};
}

// ---- What the templates call

tcp_session_ptr make_tcp_session(const asio::any_io_executor& executor, const asio::ip::tcp::endpoint& peer,
                                 const tcp_rendezvous_config& config) {
    throw_if(validate(config));
    return std::make_shared<tcp_session>(executor, peer, config);
}

void start_tcp_exchange(const tcp_session_ptr& session, const local_parameters& local,
                        exchange_completion handler) {
    if (!session) return handler.post(errc::invalid_state, {});
    start_operation(session, std::move(handler), &tcp_session::exchange, local);
}

void start_tcp_ready(const tcp_session_ptr& session, step_completion handler) {
    if (!session) return handler.post(errc::invalid_state);
    start_operation(session, std::move(handler), &tcp_session::ready);
}

void start_tcp_wait_lost(const tcp_session_ptr& session, step_completion handler) {
    if (!session) return handler.post(errc::invalid_state);
    start_operation(session, std::move(handler), &tcp_session::wait_lost);
}

void start_tcp_release(const tcp_session_ptr& session, step_completion handler) {
    if (!session) return handler.post(error_code());
    run_task(session->strand(), tcp_session::release(session), std::move(handler));
}

void start_tcp_refuse(const tcp_session_ptr& session, const std::string& text, step_completion handler) {
    if (!session) return handler.post(errc::invalid_state);
    run_task(session->strand(), tcp_session::refuse(session, text), std::move(handler));
}

error_info last_error_of(const tcp_session_ptr& session) {
    return session ? session->last_error() : error_info{errc::invalid_state, "no peer"};
}

asio::ip::tcp::endpoint remote_endpoint_of(const tcp_session_ptr& session) {
    return session ? session->peer() : asio::ip::tcp::endpoint();
}

peer_parameters hello_of(const tcp_session_ptr& session) {
    return session ? rendezvous::peer_of(session->theirs()) : peer_parameters{};
}

void abandon(tcp_session_ptr&& session) noexcept {
    let_go(std::move(session));
}

} // namespace rocio::detail
