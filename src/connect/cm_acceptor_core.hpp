#pragma once

#include "connect/cm_channel.hpp"
#include "connect/cm_session.hpp"

#include <rocio/connect/detail/cm_acceptor_core.hpp>

#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>

namespace rocio::detail {

/// Takes requests for connections, on the strand of its channel; config and counters are open to other
/// threads.
class cm_acceptor_core final : public std::enable_shared_from_this<cm_acceptor_core>, public cm_event_target {
  public:
    using waiter = cancellable_operation<cm_acceptor_core>; ///< One async_accept().
    using accept_result = std::tuple<error_code, cm_session_ptr>;

    /// Throws rocio::exception.
    cm_acceptor_core(const asio::any_io_executor& executor, const std::shared_ptr<device>& dev,
                     const cm_acceptor_config& config);
    ~cm_acceptor_core();
    /// Called once after construction: from now on events come here.
    void attach();

    const control_strand& strand() const noexcept { return channel_->strand(); }
    const asio::ip::tcp::endpoint& local_endpoint() const noexcept { return local_; }
    cm_acceptor_snapshot snapshot() const;
    handshake_snapshot handshake() const { return config_.handshake.handshakes->snapshot(); }
    /// Nobody else uses the channel, so its ids may be destroyed on any thread.
    bool is_alone() const noexcept { return is_last_owner(channel_); }

    static task<accept_result> accept(cm_acceptor_ptr self, std::shared_ptr<waiter> me);
    void on_cancel(const waiter&) { call_in(); }
    void on_event(const cm_event& event) override;
    void cancel_all();
    void close();

  private:
    struct visitor {
        cm_session_ptr session;
        steady_clock::time_point until;
    };

    /// The turn of one async_accept(): they are served in the order they began.
    class turn {
      public:
        turn(cm_acceptor_core& core, const waiter& me);
        ~turn();
        turn(const turn&) = delete;
        turn& operator=(const turn&) = delete;
        bool has_come() const noexcept { return core_.waiters_.front() == &me_; }

      private:
        cm_acceptor_core& core_;
        const waiter& me_;
    };

    void admit(const cm_event& request);
    /// Turns those away that gave up or waited too long.
    void drop_stale();
    void watch_patience();
    void turn_away(const cm_session_ptr& session, const char* why,
                   std::uint64_t cm_acceptor_snapshot::*count);
    cm_session_ptr next_visitor();
    void call_in() { door_.cancel(); }
    void count_waiting();

    cm_acceptor_config config_;
    std::shared_ptr<cm_channel> channel_;
    control_timer door_;     ///< Cancelled when there is a visitor, or to send the waiters away.
    control_timer patience_; ///< Expires when the first visitor has waited too long.
    cm_id id_ = cm_id::none;
    asio::ip::tcp::endpoint local_{};
    std::deque<visitor> visitors_;
    std::deque<const waiter*> waiters_;
    std::uint64_t cancel_round_ = 0;
    error_code failure_{}; ///< Of the device; nothing comes any more.
    bool closed_ = false;
    mutable std::mutex mutex_; ///< Guards seen_.
    cm_acceptor_snapshot seen_{};
};

} // namespace rocio::detail
