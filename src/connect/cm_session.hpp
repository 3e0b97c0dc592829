#pragma once

#include "connect/cm_channel.hpp"
#include "connect/cm_greeting.hpp"
#include "connect/cm_steps.hpp"
#include "connect/handshake_session.hpp"

#include <rocio/connect/detail/cm_session.hpp>

#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace rocio::detail {

/// The steps of a connection by rdma_cm, on the strand of its channel.
class cm_session final : public handshake_session<cm_session>, public cm_event_target {
  public:
    /// The connecting side.
    cm_session(std::shared_ptr<cm_channel> channel, const cm_endpoint& peer, const cm_config& config);
    /// The listening side: `request` is its connect_request.
    cm_session(std::shared_ptr<cm_channel> channel, const cm_event& request, const cm_config& config);
    ~cm_session();

    const cm_endpoint& peer() const noexcept { return peer_; }
    std::vector<std::byte> private_data() const;
    /// Called after construction: events of the listening side's id come here.
    void attach();
    /// Nobody has taken the request up, and its program waits no more.
    bool is_over() const noexcept { return stage_ == cm_stage::over; }

    static task<exchange_result> exchange(cm_session_ptr self, operation_ptr op, local_parameters local);
    static task<step_result> ready(cm_session_ptr self, operation_ptr op);
    static task<step_result> wait_lost(cm_session_ptr self, operation_ptr op);
    static task<step_result> release(cm_session_ptr self);
    static task<step_result> reject(cm_session_ptr self, std::string text);
    void on_cancel(const operation& op);
    void on_event(const cm_event& event) override;
    /// Says why, and gives the connection up.
    void turn_away(const rendezvous::refusal& why);
    /// The owner is gone.
    void end();
    /// Nobody else uses the channel, so its ids may be destroyed on any thread.
    bool is_alone() const noexcept { return is_last_owner(channel_); }

  private:
    struct step {
        cm_stage stage;
        const char* waits_for; ///< In the sentence of a step that timed out.
        const char* name;      ///< Of the deadline in the configuration.
        std::chrono::milliseconds limit;
        steady_clock::time_point at;
    };

    step begin(cm_stage stage, const char* waits_for, const char* name, std::chrono::milliseconds limit);
    void begin_attempt();
    std::string peer_text() const;
    /// Waits for the event that `s` wants; then `event` holds it.
    task<error_info> wait(step s, const operation& op, cm_event& event);
    task<error_info> ask(const operation& op);
    error_info answer();
    error_info learn(const cm_private_data& data, peer_parameters& out);
    /// What came meanwhile while nobody waited.
    error_info check_events();
    error_info source(cm_endpoint& out) const;
    std::optional<cm_greeting::greeting> greeting_of(const cm_private_data& data, error_info& error) const;
    std::vector<std::byte> our_data() const;
    cm_offer offer(const std::vector<std::byte>& data) const noexcept;
    task<void> leave(const operation& op);
    void forget() noexcept;
    void keep_private_data(const cm_private_data& data);

    std::shared_ptr<cm_channel> channel_;
    control_timer alarm_; ///< Cancelled by events and cancellations, expires at a step's deadline.
    cm_endpoint peer_;
    cm_config config_;
    bool connecting_;
    cm_id id_ = cm_id::none;
    cm_stage stage_ = cm_stage::fresh;
    bool exchanged_ = false;
    std::deque<cm_event> events_;
    cm_private_data request_{};
    local_parameters ours_{};
    peer_parameters theirs_{};
    steady_clock::time_point all_until_{};
    mutable std::mutex data_mutex_; ///< Guards private_data_.
    std::vector<std::byte> private_data_;
};

} // namespace rocio::detail
