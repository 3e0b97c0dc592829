#pragma once

#include "connect/control_strand.hpp"
#include "connect/handshake_attempt.hpp"

#include <rocio/types/parameters.hpp>

#include <memory>
#include <mutex>
#include <tuple>
#include <utility>

namespace rocio::detail {

/// What the handshakes that talk to a peer have in common. Everything but the constructor and last_error()
/// runs on the strand; at most one operation is in the session at a time, the `current_` one.
template <class Self>
class handshake_session : public std::enable_shared_from_this<Self> {
  public:
    using operation = cancellable_operation<Self>;
    using operation_ptr = std::shared_ptr<operation>;
    using step_result = std::tuple<error_code>;
    using exchange_result = std::tuple<error_code, peer_parameters>;

    const control_strand& strand() const noexcept { return strand_; }
    error_info last_error() const {
        const std::lock_guard held(mutex_);
        return last_error_;
    }
    /// The owner is gone: whatever goes on ends soon.
    void interrupt() {
        if (current_) current_->cancel();
    }

  protected:
    explicit handshake_session(const control_strand& strand, std::shared_ptr<handshake_log> log = {})
        : strand_(strand), attempt_(std::move(log)), idle_(strand_, steady_clock::time_point::max()) {}
    ~handshake_session() = default;

    /// The operation that is in the session while this lives.
    class occupancy {
      public:
        occupancy(handshake_session& session, operation& op) : session_(session) { session_.current_ = &op; }
        ~occupancy() {
            session_.current_ = nullptr;
            session_.idle_.cancel();
        }
        occupancy(const occupancy&) = delete;
        occupancy& operator=(const occupancy&) = delete;

      private:
        handshake_session& session_;
    };

    error_info remember(error_info e) {
        attempt_.failed(e);
        return note(std::move(e));
    }
    error_info misused(const char* what) { return note({errc::invalid_state, what}); }
    /// Ends what is in the session, the first time, and waits until it has left.
    task<void> make_idle() {
        if (!std::exchange(released_, true)) interrupt();
        while (current_) co_await idle_.async_wait(as_result);
        attempt_.given_up();
    }

    control_strand strand_;
    handshake_attempt attempt_;
    operation* current_ = nullptr;
    bool released_ = false;

  private:
    error_info note(error_info e) {
        const std::lock_guard held(mutex_);
        last_error_ = e;
        return e;
    }

    control_timer idle_;       ///< Cancelled when no operation is in the session any more.
    mutable std::mutex mutex_; ///< Guards last_error_.
    error_info last_error_{};
};

/// Starts an operation of a session, `work(session, op, args…)`; its handler's slot can cancel it.
template <class Session, class Handler, class Work, class... Args>
void start_operation(const std::shared_ptr<Session>& session, Handler handler, Work work, Args&&... args) {
    auto op = std::make_shared<typename Session::operation>(session);
    relay_cancellation(handler.slot(), op);
    run_task(session->strand(), work(session, op, std::forward<Args>(args)...), std::move(handler));
}

/// Ends what the session is doing, soon. Alone, nothing is outstanding, and all that it has goes with it.
template <class Session>
void let_go(std::shared_ptr<Session> session) noexcept {
    if (!session || session.use_count() == 1) return;
    try {
        const auto strand = session->strand();
        asio::post(strand, [session = std::move(session)] { session->interrupt(); });
    } catch (const std::bad_alloc&) {
        // Each step ends by its own deadline.
    }
}

} // namespace rocio::detail
