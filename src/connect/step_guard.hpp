#pragma once

#include "connect/control_strand.hpp"

#include <memory>

namespace rocio::detail {

/// Ends what `socket` waits for when the time has come. Lives in the coroutine that waits, on the socket's
/// strand. The time may run out, or a cancellation come, just as a wait was done: ask over() before the next
/// one begins.
class step_guard {
  public:
    /// `cancelled` is set by whoever cancels the operation; it must outlive this object.
    step_guard(control_socket& socket, steady_clock::time_point at, const bool& cancelled)
        : cancelled_(cancelled),
          timer_(socket.get_executor(), at),
          state_(std::make_shared<state>(state{&socket, false})) {
        timer_.async_wait([s = state_](const error_code& ec) {
            if (ec || !s->socket) return;
            s->expired = true;
            error_code ignored;
            s->socket->cancel(ignored);
        });
    }
    ~step_guard() { state_->socket = nullptr; }
    step_guard(const step_guard&) = delete;
    step_guard& operator=(const step_guard&) = delete;

    bool expired() const noexcept { return state_->expired; }
    bool cancelled() const noexcept { return cancelled_; }
    bool over() const noexcept { return expired() || cancelled(); }

  private:
    struct state {
        control_socket* socket;
        bool expired;
    };

    const bool& cancelled_;
    control_timer timer_;
    std::shared_ptr<state> state_;
};

} // namespace rocio::detail
