#pragma once

#include "connect/handshake_session.hpp"
#include "connect/message_channel.hpp"
#include "connect/rendezvous_message.hpp"

#include <rocio/connect/detail/tcp_session.hpp>

#include <memory>
#include <string>

namespace rocio::detail {

/// The steps of a rendezvous.
class tcp_session : public handshake_session<tcp_session> {
  public:
    /// The connecting side.
    tcp_session(const asio::any_io_executor& executor, const asio::ip::tcp::endpoint& peer,
                const tcp_rendezvous_config& config);
    /// The listening side, after a valid hello.
    tcp_session(const asio::any_io_executor& executor, const asio::ip::tcp::endpoint& peer,
                const tcp_rendezvous_config& config, const rendezvous::offer& hello);

    message_channel& channel() noexcept { return channel_; }
    const asio::ip::tcp::endpoint& peer() const noexcept { return peer_; }
    const rendezvous::offer& theirs() const noexcept { return theirs_; }
    /// Nobody took it up.
    void count_failure(const error_info& e) { attempt_.failed(e); }

    static task<exchange_result> exchange(tcp_session_ptr self, operation_ptr op, local_parameters local);
    static task<step_result> ready(tcp_session_ptr self, operation_ptr op);
    static task<step_result> wait_lost(tcp_session_ptr self, operation_ptr op);
    static task<step_result> release(tcp_session_ptr self);
    static task<step_result> refuse(tcp_session_ptr self, std::string text);
    void on_cancel(const operation& op);

  private:
    enum class stage { fresh, exchanged, standing, over };
    struct step {
        const char* waits_for; ///< In the sentence of a step that timed out.
        const char* name;      ///< Of the deadline in the configuration.
        std::chrono::milliseconds limit;
        steady_clock::time_point at;
    };

    void begin_attempt();
    bool connecting() const noexcept { return connecting_; }
    step begin(const char* waits_for, const char* name, std::chrono::milliseconds limit) const;
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

    message_channel channel_;
    asio::ip::tcp::endpoint peer_;
    tcp_rendezvous_config config_;
    bool connecting_;
    rendezvous::offer ours_{};
    rendezvous::offer theirs_{};
    stage stage_ = stage::fresh;
    steady_clock::time_point all_until_{};
};

} // namespace rocio::detail
