#include "connect/control_strand.hpp"

#include <rocio/connect/detail/static_session.hpp>

namespace rocio::detail {

class static_session {
  public:
    using operation = cancellable_operation<static_session>;

    static_session(const asio::any_io_executor& executor, const peer_parameters& peer)
        : strand_(asio::make_strand(executor)),
          never_(strand_, steady_clock::time_point::max()),
          peer_(peer) {}

    const control_strand& strand() const noexcept { return strand_; }
    const peer_parameters& peer() const noexcept { return peer_; }

    static task<std::tuple<error_code>> wait_lost(static_session_ptr self, std::shared_ptr<operation> op) {
        while (!op->cancelled() && !self->released_) co_await self->never_.async_wait(as_result);
        co_return std::tuple<error_code>(asio::error::operation_aborted);
    }
    void on_cancel(const operation&) { never_.cancel(); }
    void release() {
        released_ = true;
        never_.cancel();
    }

  private:
    control_strand strand_;
    control_timer never_;
    peer_parameters peer_;
    bool released_ = false;
};

static_session_ptr make_static_session(const asio::any_io_executor& executor, const peer_parameters& peer) {
    return std::make_shared<static_session>(executor, peer);
}

void start_static_exchange(const static_session_ptr& session, exchange_completion handler) {
    if (!session) return handler.post(errc::invalid_state, {});
    handler.post(validate(session->peer()).code, session->peer());
}

void start_static_ready(const static_session_ptr& session, step_completion handler) {
    handler.post(session ? error_code() : error_code(errc::invalid_state));
}

void start_static_wait_lost(const static_session_ptr& session, step_completion handler) {
    if (!session) return handler.post(errc::invalid_state);
    auto op = std::make_shared<static_session::operation>(session);
    relay_cancellation(handler.slot(), op);
    run_task(session->strand(), static_session::wait_lost(session, op), std::move(handler));
}

void start_static_release(const static_session_ptr& session, step_completion handler) {
    if (session) asio::post(session->strand(), [session] { session->release(); });
    handler.post(error_code());
}

error_info last_error_of(const static_session_ptr& session) {
    return session ? validate(session->peer()) : error_info{errc::invalid_state, "no peer"};
}

void abandon(static_session_ptr&& session) noexcept {
    const auto taken = std::move(session);
    if (!taken || taken.use_count() == 1) return;
    try {
        asio::post(taken->strand(), [taken] { taken->release(); });
    } catch (const std::bad_alloc&) {
        // A wait that is still outstanding can be cancelled by its own handler.
    }
}

} // namespace rocio::detail
