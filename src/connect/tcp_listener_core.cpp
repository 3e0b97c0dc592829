#include "connect/tcp_listener_core.hpp"

#include "connect/tcp_socket.hpp"

#include <algorithm>

namespace rocio::detail {

using namespace std::chrono_literals;
using rendezvous::message;
using rendezvous::message_kind;

namespace {

/// The system could not give what a connection needs; the connection still waits.
bool lacks_resources(const error_code& ec) {
    using boost::system::errc::errc_t;
    return ec == errc_t::too_many_files_open || ec == errc_t::too_many_files_open_in_system ||
           ec == errc_t::no_buffer_space || ec == errc_t::not_enough_memory;
}

/// The listening socket itself is of no use any more; other errors are those of one connection (accept(2)).
bool is_final(const error_code& ec) {
    using boost::system::errc::errc_t;
    return ec == errc_t::bad_file_descriptor || ec == errc_t::invalid_argument || ec == errc_t::not_a_socket;
}

} // namespace

/// Connections are taken while somebody waits for one.
class tcp_listener_core::attendance {
  public:
    explicit attendance(tcp_listener_core& core) : core_(core) { ++core_.waiters_; }
    ~attendance() {
        if (--core_.waiters_ != 0 || !core_.taking_) return;
        error_code ignored;
        core_.acceptor_.cancel(ignored);
        core_.pause_.cancel();
    }
    attendance(const attendance&) = delete;
    attendance& operator=(const attendance&) = delete;

  private:
    tcp_listener_core& core_;
};

tcp_listener_core::tcp_listener_core(const asio::any_io_executor& executor, const tcp_listener_config& config)
    : strand_(asio::make_strand(executor)),
      config_(config),
      executor_(executor),
      acceptor_(strand_),
      door_(strand_, steady_clock::time_point::max()),
      pause_(strand_) {
    throw_if(validate(config));
    const char* what = "";
    if (const auto ec = open_acceptor(acceptor_, config.endpoint, what)) {
        throw exception(
            {ec, "cannot listen at " + to_text(config.endpoint) + ": " + what + ": " + ec.message()});
    }
    local_ = acceptor_.local_endpoint();
    native_ = acceptor_.native_handle();
    if (!config_.handshake.handshakes) config_.handshake.handshakes = std::make_shared<handshake_log>();
    log().identify("tcp", to_text(local_));
}

/// Of one that never became a session.
void tcp_listener_core::count_failure(const newcomer& who, const error_info& why) const {
    log().began();
    log().failed(why, to_text(who.address));
}

tcp_listener_snapshot tcp_listener_core::snapshot() const {
    const std::lock_guard held(mutex_);
    return seen_;
}

void tcp_listener_core::note(log_level level, const std::string& text) const {
    if (config_.log) config_.log->write(level, "connect", text);
}

// A waiter sleeps on the door's timer and not in a list of handlers: an unfinished one is then destroyed with
// its context like any other operation.
task<tcp_listener_core::accept_result> tcp_listener_core::accept(tcp_listener_ptr self,
                                                                 std::shared_ptr<waiter> me) {
    if (self->closed_) co_return accept_result{asio::error::bad_descriptor, nullptr};
    const attendance here(*self);
    const auto round = self->cancel_round_;
    for (;;) {
        if (self->closed_ || me->cancelled() || self->cancel_round_ != round) {
            co_return accept_result{asio::error::operation_aborted, nullptr};
        }
        if (auto visitor = self->next_visitor()) co_return accept_result{error_code(), std::move(visitor)};
        if (!self->taking_) {
            self->taking_ = true;
            asio::co_spawn(self->strand_, take_connections(self), [](const std::exception_ptr& e) {
                if (e) std::rethrow_exception(e);
            });
        }
        co_await self->door_.async_wait(as_result);
    }
}

void tcp_listener_core::call_in() {
    door_.cancel();
}

void tcp_listener_core::cancel_all() {
    ++cancel_round_;
    call_in();
}

void tcp_listener_core::stop_listening() noexcept {
    const std::lock_guard held(mutex_);
    if (native_ >= 0) detail::stop_listening(native_);
    native_ = -1;
}

void tcp_listener_core::close() {
    stop_listening();
    closed_ = true;
    error_code ignored;
    acceptor_.close(ignored);
    pause_.cancel();
    for (const auto& who : unfinished_) {
        who->dropped = true;
        who->channel.socket().close(ignored);
    }
    unfinished_.clear();
    count_unfinished();
    visitors_.clear();
    call_in();
}

tcp_session_ptr tcp_listener_core::next_visitor() {
    while (!visitors_.empty()) {
        auto v = std::move(visitors_.front());
        visitors_.pop_front();
        if (has_ended(v.session->channel().socket())) {
            v.session->count_failure({errc::peer_lost, "it went before anybody took its connection up"});
            continue;
        }
        if (steady_clock::now() < v.until) return v.session;
        v.session->count_failure({errc::handshake_timed_out, "nobody took its connection up in time"});
    }
    return nullptr;
}

task<void> tcp_listener_core::take_connections(tcp_listener_ptr self) {
    while (self->waiters_ != 0 && !self->closed_) {
        auto [ec] = co_await self->acceptor_.async_wait(asio::socket_base::wait_read, as_result);
        if (self->closed_ || self->waiters_ == 0) break;
        // A batch at a time, then the others on the strand have their turn.
        for (int taken = 0; taken < 16 && !ec; ++taken) ec = self->take_one();
        if (lacks_resources(ec)) co_await self->pause();
        if (is_final(ec)) self->close();
    }
    self->taking_ = false;
    // Somebody may have begun to wait after this loop was told to stop.
    if (self->waiters_ != 0) self->call_in();
}

task<void> tcp_listener_core::pause() {
    {
        const std::lock_guard held(mutex_);
        ++seen_.resource_errors;
    }
    back_off_ = std::clamp<std::chrono::milliseconds>(back_off_ * 2, 10ms, 1s);
    pause_.expires_after(back_off_);
    co_await pause_.async_wait(as_result);
}

error_code tcp_listener_core::take_one() {
    auto who = std::make_shared<newcomer>(strand_);
    if (const auto ec = accept_stream(acceptor_, who->channel.socket())) return ec;
    back_off_ = 0ms;
    error_code gone;
    who->address = who->channel.socket().remote_endpoint(gone);
    if (gone) return {};
    make_room();
    unfinished_.push_back(who);
    count_unfinished();
    asio::co_spawn(strand_, hear_hello(shared_from_this(), who), [](const std::exception_ptr& e) {
        if (e) std::rethrow_exception(e);
    });
    return {};
}

void tcp_listener_core::count_unfinished() {
    const std::lock_guard held(mutex_);
    seen_.unfinished = unfinished_.size();
}

void tcp_listener_core::make_room() {
    if (unfinished_.size() < config_.max_unfinished) return;
    const auto oldest = unfinished_.front();
    unfinished_.pop_front();
    oldest->dropped = true;
    const message busy{
        message_kind::refuse, {}, {rendezvous::refusal_reason::busy, "too many connections at once"}};
    send_at_once(oldest->channel.socket(), rendezvous::encode(busy));
    close_gently(oldest->channel.socket());
    count_failure(*oldest, {rendezvous::error_of(busy.why.reason), busy.why.text});
    const std::lock_guard held(mutex_);
    ++seen_.dropped;
}

task<void> tcp_listener_core::hear_hello(tcp_listener_ptr self, newcomer_ptr who) {
    message m;
    const step_guard guard(who->channel.socket(),
                           steady_clock::now() + self->config_.handshake.exchange_deadline, who->dropped);
    const auto e = co_await who->channel.read(m, guard);
    if (who->dropped) co_return;
    self->unfinished_.remove(who);
    self->count_unfinished();
    self->judge(*who, e, m, guard.expired());
    error_code ignored;
    who->channel.socket().close(ignored);
}

void tcp_listener_core::judge(newcomer& who, const error_info& e, const message& m, bool expired) {
    if (!e && m.kind == message_kind::hello) return admit(who, m.content);
    if (!e) return refuse(who, {errc::handshake_malformed, "the first message is no hello"});
    if (e.code.category() == error_category()) return refuse(who, e);
    const auto peer = to_text(who.address);
    if (expired) {
        const auto text = peer + " said no whole hello within " +
                          std::to_string(config_.handshake.exchange_deadline.count()) + " ms";
        note(log_level::warning, text);
        count_failure(who, {errc::handshake_timed_out, text});
        const std::lock_guard held(mutex_);
        ++seen_.timed_out;
        return;
    }
    note(log_level::debug, peer + " closed without a hello");
    const std::lock_guard held(mutex_);
    ++seen_.probes;
}

void tcp_listener_core::admit(newcomer& who, const rendezvous::offer& hello) {
    auto session = std::make_shared<tcp_session>(executor_, who.address, config_.handshake, hello);
    if (session->channel().take(who.channel)) return;
    visitors_.push_back({std::move(session), steady_clock::now() + config_.handshake.exchange_deadline});
    {
        const std::lock_guard held(mutex_);
        ++seen_.accepted;
    }
    call_in();
}

void tcp_listener_core::refuse(newcomer& who, const error_info& why) {
    const message no{message_kind::refuse, {}, {rendezvous::reason_of(why.code), why.text}};
    send_at_once(who.channel.socket(), rendezvous::encode(no));
    close_gently(who.channel.socket());
    note(log_level::warning, "refused " + to_text(who.address) + ": " + why.text);
    count_failure(who, why);
    const std::lock_guard held(mutex_);
    ++seen_.refused;
    seen_.last_refusal = why;
    seen_.last_refused_peer = to_text(who.address);
}

// ---- What the templates call

tcp_listener_ptr make_tcp_listener(const asio::any_io_executor& executor, const tcp_listener_config& config) {
    return std::make_shared<tcp_listener_core>(executor, config);
}

void start_accept(const tcp_listener_ptr& listener, accept_completion handler) {
    auto me = std::make_shared<tcp_listener_core::waiter>(listener);
    relay_cancellation(handler.slot(), me);
    run_task(listener->strand(), tcp_listener_core::accept(listener, me), std::move(handler));
}

void cancel(const tcp_listener_ptr& listener) {
    asio::post(listener->strand(), [listener] { listener->cancel_all(); });
}

void close(const tcp_listener_ptr& listener) {
    listener->stop_listening();
    asio::post(listener->strand(), [listener] { listener->close(); });
}

void abandon(tcp_listener_ptr&& listener) noexcept {
    const auto taken = std::move(listener);
    if (!taken) return;
    taken->stop_listening();
    // Alone, nothing is outstanding, and the socket closes with the listener.
    if (taken.use_count() == 1) return;
    try {
        asio::post(taken->strand(), [taken] { taken->close(); });
    } catch (const std::bad_alloc&) {
        // It does not listen any more; each hello ends by its own deadline.
    }
}

asio::ip::tcp::endpoint local_endpoint_of(const tcp_listener_ptr& listener) {
    return listener->local_endpoint();
}

tcp_listener_snapshot snapshot_of(const tcp_listener_ptr& listener) {
    return listener->snapshot();
}

handshake_snapshot handshake_of(const tcp_listener_ptr& listener) {
    return listener->handshake();
}

} // namespace rocio::detail
