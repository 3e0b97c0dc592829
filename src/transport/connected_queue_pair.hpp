#pragma once

#include "transport/completion_ring.hpp"
#include "transport/segmentation.hpp"

#include <rocio/transport/memory_region_table.hpp>
#include <rocio/transport/queue_pair.hpp>

#include <cstddef>
#include <span>

namespace rocio::transport {

/// What RC and UC queue pairs have in common: states, posting, completions.
class connected_queue_pair : public queue_pair {
  public:
    qpn number() const noexcept final { return config_.number; }
    queue_pair_state state() const noexcept final { return state_; }

    errc to_init(memory_access remote_access) final;
    errc to_rtr(const receive_path& path) final;
    errc to_rts(const send_path& path) final;
    void to_error() override { enter_error(); }

    post_result post_send(std::span<const send_request> requests) final;
    post_result post_receive(std::span<const receive_request> requests) final;

    std::size_t poll(std::span<work_completion> out) final { return completions_.take(out); }
    bool has_completions() const noexcept final { return !completions_.empty(); }
    const queue_pair_counters& counters() const noexcept final { return counters_; }

  protected:
    /// Throws rocio::exception naming the member of `config` that is outside its range.
    connected_queue_pair(const queue_pair_config& config, wire::service service);

    bool can_receive() const noexcept {
        return state_ == queue_pair_state::ready_to_receive || state_ == queue_pair_state::ready_to_send;
    }
    bool can_send() const noexcept { return state_ == queue_pair_state::ready_to_send; }
    void enter_error() noexcept;

    virtual void connect_responder(const receive_path& path, memory_access granted) noexcept = 0;
    virtual void connect_requester(const segmentation& cutter, const send_path& path) noexcept = 0;
    virtual std::size_t sends_outstanding() const noexcept = 0;
    virtual std::size_t receives_outstanding() const noexcept = 0;
    virtual void take(const send_request& request) noexcept = 0;
    virtual void take(const receive_request& request) noexcept = 0;
    virtual void withdraw_offer() noexcept = 0; ///< Packets given can no longer be committed.
    virtual void flush() noexcept = 0;          ///< Completes everything posted as flushed, sends first.

    const queue_pair_config config_;
    queue_pair_counters counters_{};
    completion_ring completions_;

  private:
    errc refusal_of(const send_request& request) const noexcept;

    queue_pair_state state_ = queue_pair_state::reset;
    memory_access granted_ = memory_access::local_read;
    segmentation cutter_{};
    wire::service service_;
};

} // namespace rocio::transport
