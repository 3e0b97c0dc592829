#pragma once

#include "connect/control_strand.hpp"
#include "connect/message_channel.hpp"
#include "connect/tcp_session.hpp"

#include <rocio/connect/detail/tcp_listener_core.hpp>

#include <atomic>
#include <deque>
#include <list>
#include <memory>
#include <mutex>
#include <tuple>

namespace rocio::detail {

/// Takes connections and hears their hellos. Runs on its strand; config, counters and the listening socket's
/// number are open to other threads.
class tcp_listener_core : public std::enable_shared_from_this<tcp_listener_core> {
  public:
    using waiter = cancellable_operation<tcp_listener_core>; ///< One async_accept().
    using accept_result = std::tuple<error_code, tcp_session_ptr>;

    /// Throws rocio::exception.
    tcp_listener_core(const asio::any_io_executor& executor, const tcp_listener_config& config);

    const control_strand& strand() const noexcept { return strand_; }
    const asio::ip::tcp::endpoint& local_endpoint() const noexcept { return local_; }
    tcp_listener_snapshot snapshot() const;
    handshake_snapshot handshake() const { return log().snapshot(); }

    static task<accept_result> accept(tcp_listener_ptr self, std::shared_ptr<waiter> me);
    void on_cancel(const waiter&) { call_in(); }
    void cancel_all();
    /// Stops listening; the address is free for another socket when this returns. Any thread.
    void stop_listening() noexcept;
    void close();

  private:
    /// A connection that has not said hello yet.
    struct newcomer {
        explicit newcomer(const control_strand& strand) : channel(strand) {}
        message_channel channel;
        asio::ip::tcp::endpoint address{};
        bool dropped = false;
    };
    using newcomer_ptr = std::shared_ptr<newcomer>;
    struct visitor {
        tcp_session_ptr session;
        steady_clock::time_point until; ///< The other side has lost patience after this.
    };
    class attendance;

    static task<void> take_connections(tcp_listener_ptr self);
    static task<void> hear_hello(tcp_listener_ptr self, newcomer_ptr who);
    task<void> pause();
    error_code take_one();
    void make_room();
    void count_unfinished();
    void admit(newcomer& who, const rendezvous::offer& hello);
    void refuse(newcomer& who, const error_info& why);
    void judge(newcomer& who, const error_info& e, const rendezvous::message& m, bool expired);
    tcp_session_ptr next_visitor();
    void call_in();
    handshake_log& log() const noexcept { return *config_.handshake.handshakes; }
    void count_failure(const newcomer& who, const error_info& why) const;
    void note(log_level level, const std::string& text) const;

    control_strand strand_;
    tcp_listener_config config_;
    asio::any_io_executor executor_;
    control_acceptor acceptor_;
    control_timer door_;  ///< Cancelled when there is a visitor, or to send the waiters away.
    control_timer pause_; ///< The back-off after a lack of resources.
    asio::ip::tcp::endpoint local_{};
    std::list<newcomer_ptr> unfinished_; ///< Oldest first.
    std::deque<visitor> visitors_;
    std::size_t waiters_ = 0;
    std::uint64_t cancel_round_ = 0;
    std::chrono::milliseconds back_off_{0};
    bool taking_ = false;
    bool closed_ = false;
    mutable std::mutex mutex_; ///< Guards what follows.
    int native_ = -1;
    tcp_listener_snapshot seen_{};
};

} // namespace rocio::detail
