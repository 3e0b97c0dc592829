#pragma once

#include "connect/control_strand.hpp"

#include <rocio/connect/any_handshake.hpp>
#include <rocio/io/connectable.hpp>

#include <boost/asio/cancellation_signal.hpp>

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>

namespace rocio::detail {

/// One connection from the first step to the goodbye: what its coroutine, the user's cancellation slot and
/// the target's liveness share. It owns neither the target nor the handshake, so there is no cycle; the
/// handshake lives in the coroutine. The target and the slot may outlive the context, so the strand goes with
/// the coroutine.
class connection : public std::enable_shared_from_this<connection> {
  public:
    explicit connection(const control_strand& strand) : strand_(strand) {}

    /// The user cancels the attempt. Any thread.
    void request_cancel();
    /// The target was closed or connected anew: nothing more is said to it. Any thread, also under its lock.
    void release() noexcept;

    static task<void> run(std::shared_ptr<connection> self, std::shared_ptr<connectable> target,
                          any_handshake how, async::control_handler<void(error_code)> handler);

  private:
    class attempt_watch;
    class standing_watch;
    class lifetime;

    /// All steps up to the standing connection; `began` once the peer may know of us.
    task<error_info> attempt(connectable& target, any_handshake& how, bool& began);
    task<void> give_up(connectable& target, any_handshake& how, const error_info& why, bool began);
    task<void> keep_watch(any_handshake& how);
    error_info failure(const error_code& ec, const any_handshake& how) const;
    bool given_up() const noexcept { return cancelled_ || released_.load(); }
    void post(void (connection::*what)());
    void on_cancel();
    void interrupt();

    std::mutex mutex_; ///< Guards strand_.
    std::optional<control_strand> strand_;
    std::weak_ptr<connectable> target_;
    asio::cancellation_signal signal_; ///< Reaches the handshake's operation that is outstanding.
    bool cancelled_ = false;
    bool standing_ = false;
    std::atomic<bool> released_{false};
};

} // namespace rocio::detail
