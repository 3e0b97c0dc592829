#include "connect/cudaq_numbers.hpp"
#include "connect/deadline_check.hpp"
#include "connect/handshake_session.hpp"
#include "connect/step_guard.hpp"
#include "connect/tcp_socket.hpp"

#include <rocio/connect/detail/cudaq_session.hpp>

#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>

#include <optional>

namespace rocio::detail {

using namespace std::chrono_literals;

namespace {

constexpr auto between_attempts = 20ms; // as the original's caller

} // namespace

class cudaq_session : public handshake_session<cudaq_session> {
  public:
    /// The caller.
    cudaq_session(const asio::any_io_executor& executor, const asio::ip::tcp::endpoint& service,
                  const cudaq_config& config)
        : handshake_session(asio::make_strand(executor), config.handshakes),
          socket_(strand_),
          acceptor_(strand_),
          pause_(strand_, steady_clock::time_point::max()),
          peer_(service),
          config_(config),
          calling_(true) {}
    void listen(const asio::ip::tcp::endpoint& where) {
        const char* what = "";
        if (const auto ec = open_acceptor(acceptor_, where, what))
            throw exception({ec, "cannot listen at " + to_text(where) + ": " + what + ": " + ec.message()});
        local_ = acceptor_.local_endpoint();
        calling_ = false;
        attempt_.log()->identify("cuda-q", to_text(local_));
    }
    handshake_snapshot handshake() const {
        return attempt_.log() ? attempt_.log()->snapshot() : handshake_snapshot{};
    }
    const asio::ip::tcp::endpoint& local_endpoint() const noexcept { return local_; }

    void on_cancel(const operation& op) {
        if (current_ != &op) return;
        error_code ignored;
        socket_.cancel(ignored);
        acceptor_.cancel(ignored);
        pause_.cancel();
    }

    static task<exchange_result> exchange(cudaq_session_ptr self, operation_ptr op, local_parameters local) {
        if (self->used_ || self->current_ || self->released_) {
            const auto e =
                self->misused("async_exchange() is the first operation of a handshake, which serves one "
                              "connection: make a new one");
            co_return exchange_result{e.code, {}};
        }
        const occupancy here(*self, *op);
        self->used_ = true;
        if (self->calling_) self->begin_attempt();
        auto e = cudaq_numbers::encode(local, self->ours_);
        if (!e && self->calling_)
            e = co_await self->call(*op);
        else if (!e)
            e = co_await self->wait_for_caller(*op);
        peer_parameters peer;
        if (!e) {
            peer = cudaq_numbers::decode(self->theirs_, local);
            e = validate(peer);
        }
        if (self->calling_ || e) self->close();
        if (e) co_return exchange_result{self->remember(e).code, {}};
        self->exchanged_ = true;
        co_return exchange_result{error_code(), peer};
    }

    static task<step_result> ready(cudaq_session_ptr self, operation_ptr op) {
        if (!self->exchanged_ || self->current_)
            co_return step_result{
                self->misused("async_ready() comes after a successful async_exchange()").code};
        const occupancy here(*self, *op);
        if (self->calling_) {
            self->attempt_.established();
            co_return step_result{error_code()};
        }
        const step_guard guard(self->socket_, steady_clock::now() + self->config_.exchange_deadline,
                               op->cancelled());
        auto [ec, n] = co_await asio::async_write(self->socket_, asio::buffer(self->ours_), as_result);
        const auto e = self->judge(ec, *op, guard.expired(), "take our numbers");
        self->close();
        if (e) co_return step_result{self->remember(e).code};
        self->attempt_.established();
        co_return step_result{error_code()};
    }

    static task<step_result> wait_lost(cudaq_session_ptr self, operation_ptr op) {
        const occupancy here(*self, *op);
        while (!op->cancelled() && !self->released_) {
            self->pause_.expires_at(steady_clock::time_point::max());
            co_await self->pause_.async_wait(as_result);
        }
        co_return step_result{asio::error::operation_aborted};
    }

    static task<step_result> release(cudaq_session_ptr self) {
        co_await self->make_idle();
        self->close();
        co_return step_result{error_code()};
    }

  private:
    void begin_attempt() {
        if (const auto& log = attempt_.log()) log->identify("cuda-q", to_text(peer_));
        attempt_.begin(to_text(peer_));
    }
    void close() {
        error_code ignored;
        socket_.close(ignored);
        acceptor_.close(ignored);
    }
    error_info judge(const error_code& ec, const operation& op, bool expired, const char* waits_for) const {
        if (op.cancelled()) return {asio::error::operation_aborted, {}};
        if (!ec) return {};
        const auto peer = to_text(peer_);
        if (expired) {
            return {errc::handshake_timed_out, "waited " + std::to_string(config_.exchange_deadline.count()) +
                                                   " ms (exchange_deadline) in vain for " + peer + " to " +
                                                   waits_for};
        }
        return {errc::peer_lost,
                peer + " ended the connection when it should " + waits_for + " (" + ec.message() + ")"};
    }

    task<error_info> call(const operation& op) {
        const auto until = steady_clock::now() + config_.exchange_deadline;
        error_code ec;
        for (;;) {
            if (op.cancelled()) co_return error_info{asio::error::operation_aborted, {}};
            ec = open_stream(socket_, peer_.protocol());
            if (ec)
                co_return error_info{ec, "no socket for the connection to " + to_text(peer_) + ": " +
                                             ec.message()};
            const step_guard guard(socket_, until, op.cancelled());
            auto [failed] = co_await socket_.async_connect(peer_, as_result);
            if (!failed) break;
            if (op.cancelled() || steady_clock::now() >= until)
                co_return judge(failed, op, true, "accept a TCP connection");
            socket_.close(ec);
            pause_.expires_after(between_attempts);
            co_await pause_.async_wait(as_result);
        }
        const step_guard guard(socket_, until, op.cancelled());
        auto [unsent, n] = co_await asio::async_write(socket_, asio::buffer(ours_), as_result);
        if (unsent) co_return judge(unsent, op, guard.expired(), "take our numbers");
        auto [unread, m] = co_await asio::async_read(socket_, asio::buffer(theirs_), as_result);
        co_return judge(unread, op, guard.expired(), "tell its numbers");
    }

    task<error_info> wait_for_caller(const operation& op) {
        std::optional<control_timer> limit;
        bool expired = false;
        if (config_.accept_deadline > 0ms) {
            limit.emplace(strand_, config_.accept_deadline);
            limit->async_wait([this, &expired](const error_code& ec) {
                if (ec) return;
                expired = true;
                error_code ignored;
                acceptor_.cancel(ignored);
            });
        }
        auto [waited] = co_await acceptor_.async_wait(asio::socket_base::wait_read, as_result);
        limit.reset();
        if (op.cancelled()) co_return error_info{asio::error::operation_aborted, {}};
        if (expired) {
            co_return error_info{errc::handshake_timed_out,
                                 "nobody called within " + std::to_string(config_.accept_deadline.count()) +
                                     " ms (accept_deadline)"};
        }
        error_code ec = waited;
        if (!ec) ec = accept_stream(acceptor_, socket_);
        if (ec) co_return error_info{ec, "cannot accept a caller: " + ec.message()};
        error_code ignored;
        peer_ = socket_.remote_endpoint(ignored);
        acceptor_.close(ignored);
        attempt_.begin(to_text(peer_));
        const step_guard guard(socket_, steady_clock::now() + config_.exchange_deadline, op.cancelled());
        auto [unread, n] = co_await asio::async_read(socket_, asio::buffer(theirs_), as_result);
        co_return judge(unread, op, guard.expired(), "tell its numbers");
    }

    control_socket socket_;
    control_acceptor acceptor_;
    control_timer pause_;
    asio::ip::tcp::endpoint peer_;
    asio::ip::tcp::endpoint local_{};
    cudaq_config config_;
    cudaq_numbers::bytes ours_{}, theirs_{};
    bool calling_;
    bool used_ = false, exchanged_ = false;
};

// ---- What the templates call

cudaq_session_ptr make_cudaq_caller(const asio::any_io_executor& executor,
                                    const asio::ip::tcp::endpoint& service, const cudaq_config& config) {
    throw_if(validate(config));
    return std::make_shared<cudaq_session>(executor, service, config);
}

cudaq_session_ptr make_cudaq_service(const asio::any_io_executor& executor,
                                     const asio::ip::tcp::endpoint& where, const cudaq_config& config) {
    throw_if(validate(config));
    auto counted = config;
    if (!counted.handshakes) counted.handshakes = std::make_shared<handshake_log>();
    auto made = std::make_shared<cudaq_session>(executor, asio::ip::tcp::endpoint(), counted);
    made->listen(where);
    return made;
}

void start_cudaq_exchange(const cudaq_session_ptr& session, const local_parameters& local,
                          exchange_completion handler) {
    if (!session) return handler.post(errc::invalid_state, {});
    start_operation(session, std::move(handler), &cudaq_session::exchange, local);
}

void start_cudaq_ready(const cudaq_session_ptr& session, step_completion handler) {
    if (!session) return handler.post(errc::invalid_state);
    start_operation(session, std::move(handler), &cudaq_session::ready);
}

void start_cudaq_wait_lost(const cudaq_session_ptr& session, step_completion handler) {
    if (!session) return handler.post(errc::invalid_state);
    start_operation(session, std::move(handler), &cudaq_session::wait_lost);
}

void start_cudaq_release(const cudaq_session_ptr& session, step_completion handler) {
    if (!session) return handler.post(error_code());
    run_task(session->strand(), cudaq_session::release(session), std::move(handler));
}

error_info last_error_of(const cudaq_session_ptr& session) {
    return session ? session->last_error() : error_info{errc::invalid_state, "no peer"};
}

asio::ip::tcp::endpoint local_endpoint_of(const cudaq_session_ptr& session) {
    return session ? session->local_endpoint() : asio::ip::tcp::endpoint();
}

handshake_snapshot handshake_of(const cudaq_session_ptr& session) {
    return session ? session->handshake() : handshake_snapshot{};
}

void abandon(cudaq_session_ptr&& session) noexcept {
    let_go(std::move(session));
}

} // namespace rocio::detail

namespace rocio {

error_info validate(const cudaq_config& config) {
    using namespace std::chrono_literals;
    if (auto e = detail::check_deadline("exchange_deadline", config.exchange_deadline, 1ms)) return e;
    return detail::check_deadline("accept_deadline", config.accept_deadline, 0ms);
}

} // namespace rocio
