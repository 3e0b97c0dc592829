#pragma once

#include "connect/control_strand.hpp"
#include "connect/message_channel.hpp"
#include "connect/rendezvous_message.hpp"

#include <rocio/connect/detail/tcp_session.hpp>

#include <memory>
#include <mutex>
#include <string>
#include <tuple>

namespace rocio::detail {

/// The steps of a rendezvous. Everything but the constructors and last_error() runs on the strand; at most
/// one operation is in it at a time, the `current_` one.
class tcp_session : public std::enable_shared_from_this<tcp_session> {
  public:
    using operation = cancellable_operation<tcp_session>;
    using operation_ptr = std::shared_ptr<operation>;
    using step_result = std::tuple<error_code>;
    using exchange_result = std::tuple<error_code, peer_parameters>;

    /// The connecting side.
    tcp_session(const asio::any_io_executor& executor, const asio::ip::tcp::endpoint& peer,
                const tcp_rendezvous_config& config);
    /// The listening side, after a valid hello.
    tcp_session(const asio::any_io_executor& executor, const asio::ip::tcp::endpoint& peer,
                const tcp_rendezvous_config& config, const rendezvous::offer& hello);

    const control_strand& strand() const noexcept { return strand_; }
    message_channel& channel() noexcept { return channel_; }
    const asio::ip::tcp::endpoint& peer() const noexcept { return peer_; }
    const rendezvous::offer& theirs() const noexcept { return theirs_; }
    error_info last_error() const;

    static task<exchange_result> exchange(tcp_session_ptr self, operation_ptr op, local_parameters local);
    static task<step_result> ready(tcp_session_ptr self, operation_ptr op);
    static task<step_result> wait_lost(tcp_session_ptr self, operation_ptr op);
    static task<step_result> release(tcp_session_ptr self);
    static task<step_result> refuse(tcp_session_ptr self, std::string text);
    /// The owner is gone: whatever goes on ends soon.
    void interrupt();
    void on_cancel(const operation& op);

  private:
    enum class stage { fresh, exchanged, standing, over };
    /// The operation that is in the session while this lives.
    class occupancy {
      public:
        occupancy(tcp_session& session, operation& op) : session_(session) { session_.current_ = &op; }
        ~occupancy() {
            session_.current_ = nullptr;
            session_.idle_.cancel();
        }
        occupancy(const occupancy&) = delete;
        occupancy& operator=(const occupancy&) = delete;

      private:
        tcp_session& session_;
    };
    struct step {
        const char* waits_for; ///< In the sentence of a step that timed out.
        const char* name;      ///< Of the deadline in the configuration.
        std::chrono::milliseconds limit;
        steady_clock::time_point at;
    };

    bool connecting() const noexcept { return connecting_; }
    step begin(const char* waits_for, const char* name, std::chrono::milliseconds limit) const;
    error_info misused(const char* what);
    error_info remember(error_info e);
    /// Says why and closes.
    error_info turn_away(error_info e);
    error_info judge(error_info e, const step& s, const step_guard& guard) const;
    error_info unexpected(const rendezvous::message& m) const;

    task<error_info> connect(const operation& op);
    task<error_info> tell(rendezvous::message m, const step& s, const step_guard& guard);
    task<error_info> hear(rendezvous::message_kind kind, rendezvous::message& out, const step& s,
                          const step_guard& guard);
    task<error_info> ask(const operation& op);
    task<error_info> answer(const operation& op);
    task<error_info> agree_to_start(const operation& op);
    task<error_info> watch(const operation& op);
    task<void> say_goodbye(const operation& op);
    bool has_unread();

    control_strand strand_;
    message_channel channel_;
    control_timer idle_; ///< Cancelled when no operation is in the session any more.
    asio::ip::tcp::endpoint peer_;
    tcp_rendezvous_config config_;
    bool connecting_;
    rendezvous::offer ours_{};
    rendezvous::offer theirs_{};
    stage stage_ = stage::fresh;
    bool released_ = false;
    steady_clock::time_point all_until_{};
    operation* current_ = nullptr;
    mutable std::mutex mutex_; ///< Guards last_error_.
    error_info last_error_{};
};

} // namespace rocio::detail
