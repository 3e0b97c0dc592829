#pragma once

#include "soft/deadline_queue.hpp"
#include "soft/rc_repairs.hpp"
#include "soft/uc_losses.hpp"

#include <rocio/device/device_queue_pair.hpp>
#include <rocio/soft/link.hpp>
#include <rocio/transport/queue_pair.hpp>
#include <rocio/wire/icrc.hpp>

#include <boost/intrusive/list_hook.hpp>

#include <memory>
#include <optional>
#include <utility>

namespace rocio::soft {

class device_core;
class soft_completion_queue;

using auto_unlink = boost::intrusive::link_mode<boost::intrusive::auto_unlink>;
struct ready_tag;
struct touched_tag;
using ready_hook = boost::intrusive::list_base_hook<boost::intrusive::tag<ready_tag>, auto_unlink>;
using touched_hook = boost::intrusive::list_base_hook<boost::intrusive::tag<touched_tag>, auto_unlink>;

/// Everything about a connected peer that one packet needs.
struct peer_path {
    destination to{};
    wire::icrc_engine outgoing;
    wire::icrc_engine incoming;
    std::uint16_t incoming_port =
        0;                 ///< The source port that `incoming` is made for: NICs and rxe choose it freely.
    bool exact_id = false; ///< The peer said which IP ids its packets carry: 0,
    std::uint16_t last_id = 0; ///< or up to this one, in trains.
};

/// A transport queue pair on a device: its number, its path, its completion queue.
class soft_queue_pair final : public device_queue_pair,
                              public ready_hook,
                              public touched_hook,
                              public deadline_node {
  public:
    soft_queue_pair(std::shared_ptr<device_core> core, const device_queue_pair_config& config,
                    soft_completion_queue& completions);
    ~soft_queue_pair() override;

    qpn number() const noexcept override { return number_; }
    rocio::queue_pair_state state() const noexcept override;
    error_info to_init(const init_attributes& attributes) override;
    error_info to_ready_to_receive(const connect_attributes& attributes) override;
    error_info to_ready_to_send(const connect_attributes& attributes) override;
    error_info to_error() override;
    post_outcome post_send(std::span<const send_request> requests) noexcept override;
    post_outcome post_receive(std::span<const receive_request> requests) noexcept override;
    bool counters(device_queue_pair_counters& out) const noexcept override;

    // For device_core.
    transport::queue_pair& transport() noexcept { return *transport_; }
    const transport::queue_pair& transport() const noexcept { return *transport_; }
    soft_completion_queue& completions() noexcept { return completions_; }
    wire::service service() const noexcept {
        return type_ == queue_pair_type::uc ? wire::service::uc : wire::service::rc;
    }
    /// True at the first call of a turn; always for RC, whose packets in flight are bounded by
    /// acknowledgements. A UC queue pair sends one burst per turn, so that a peer that polls can keep up.
    bool may_burst(std::uint64_t turn) noexcept {
        return type_ == queue_pair_type::rc || std::exchange(burst_in_, turn) != turn;
    }
    /// What was lost since the last call.
    uc_losses::values new_losses() noexcept { return losses_.since_last(transport_->counters()); }
    /// What was repaired since the last call; false: nothing.
    bool new_repairs(rc_repairs::values& out) noexcept {
        return repairs_.since_last(transport_->counters(), out);
    }
    bool connected() const noexcept { return path_.has_value(); }
    const peer_path& path() const noexcept { return *path_; }
    /// The link cannot carry them.
    void end_trains() noexcept {
        transport_->end_trains();
        if (path_) path_->to.trains = false;
    }
    bool is_from_peer(const received_datagram& d) const noexcept { return d.source == path_->to.address; }
    bool icrc_fits(const received_datagram& d);
    /// True once, when the queue pair has gone to the error state without to_error().
    bool take_failure() noexcept;

  private:
    error_info refuse_state(const char* step, const char* needed) const;
    bool takes_trains(const peer_parameters& peer) const noexcept;
    std::uint32_t agreed_train(const peer_parameters& peer) const noexcept;
    std::uint32_t accepted_train(const peer_parameters& peer) const noexcept;

    std::shared_ptr<device_core> core_;
    soft_completion_queue& completions_;
    queue_pair_type type_;
    uc_losses losses_{};
    rc_repairs repairs_{};
    std::uint64_t burst_in_ = 0; ///< The turn of the last burst.
    qpn number_{};
    std::unique_ptr<transport::queue_pair> transport_;
    std::optional<peer_path> path_{};
    bool error_known_ = false;
};

} // namespace rocio::soft
