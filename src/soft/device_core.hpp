#pragma once

#include "soft/deadline_queue.hpp"
#include "soft/drop_counters.hpp"
#include "soft/event_queue.hpp"
#include "soft/queue_pair_table.hpp"
#include "soft/rc_repairs.hpp"
#include "soft/send_batch.hpp"
#include "soft/soft_queue_pair.hpp"
#include "soft/uc_losses.hpp"

#include <rocio/device/device.hpp>
#include <rocio/device/event_log.hpp>
#include <rocio/soft/link.hpp>
#include <rocio/transport/memory_region_table.hpp>
#include <rocio/types/relaxed_counter.hpp>

#include <boost/intrusive/list.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <optional>

namespace rocio::soft {

/// The state of a soft device, shared by the device and its objects: one link, the queue pairs and regions,
/// and three lists of queue pairs with something to do. Work costs by packet, never by queue pair.
class device_core {
  public:
    static constexpr std::size_t receive_batch = 16;
    static constexpr std::size_t receive_limit = 64; ///< Datagrams of one progress().
    static constexpr std::size_t send_limit = 48;
    static constexpr std::size_t long_burst = 8; ///< Of datagrams in one progress().
    /// After back-pressure the link is tried again then; nothing says when a UDP socket has room.
    static constexpr std::chrono::microseconds send_retry{50};

    device_core(std::unique_ptr<link> l, std::optional<qpn> first);

    link& wire() noexcept { return *link_; }
    const link& wire() const noexcept { return *link_; }
    transport::memory_region_table& regions() noexcept { return regions_; }
    queue_pair_table& queue_pairs() noexcept { return queue_pairs_; }
    event_queue& events() noexcept { return events_; }
    const event_log& history() const noexcept { return history_; }

    qpn add(soft_queue_pair& qp);
    void remove(soft_queue_pair& qp) noexcept;
    errc add_region(const transport::memory_region_table::region& r, std::uint32_t& key);
    void remove_region(std::uint32_t key) noexcept;

    /// After a post or a state change: takes its completions and remembers that it may want to send.
    void touched_by_owner(soft_queue_pair& qp);

    bool progress(time_point now);
    time_point next_deadline() const noexcept;

    bool port_up() const noexcept { return port_up_.load(std::memory_order_relaxed); }
    void set_port_up(bool up) noexcept;
    errc bind(const void* engine) noexcept;
    void unbind(const void* engine) noexcept;

    void append_counters(std::vector<device_snapshot::counter>& out) const;

  private:
    bool flush(time_point now);
    void gather(time_point now);
    std::size_t send_gathered(time_point now);
    bool trains_ended() noexcept;
    std::size_t receive(time_point now);
    void accept(const received_datagram& d, time_point now);
    drop_reason check(const received_datagram& d, const wire::packet_view& packet, soft_queue_pair* qp);
    bool run_timers(time_point now);
    void settle(soft_queue_pair& qp, time_point now);
    void take_completions(soft_queue_pair& qp);
    void report_failure(soft_queue_pair& qp);
    void count_troubles(soft_queue_pair& qp) noexcept;
    void raise(const device_event& event) noexcept;

    using ready_list = boost::intrusive::list<soft_queue_pair, boost::intrusive::base_hook<ready_hook>,
                                              boost::intrusive::constant_time_size<false>>;
    using touched_list = boost::intrusive::list<soft_queue_pair, boost::intrusive::base_hook<touched_hook>,
                                                boost::intrusive::constant_time_size<false>>;

    std::unique_ptr<link> link_;
    transport::memory_region_table regions_{};
    queue_pair_table queue_pairs_;
    ready_list ready_{};     ///< May want to send.
    touched_list touched_{}; ///< Got packets in this receive().
    deadline_queue<soft_queue_pair> deadlines_{};
    event_queue events_{};
    event_log history_{};

    send_batch batch_{};
    std::array<received_datagram, receive_batch> arrived_{};
    time_point blocked_until_ = time_point::min();
    bool was_blocked_ = false; ///< The last send met back-pressure.
    bool has_trains_;          ///< The link carries them, as far as is known.
    time_point last_{};        ///< Of progress().
    std::uint64_t turn_ = 0;   ///< Calls of progress().
    const void* owner_ = nullptr;
    std::atomic<bool> port_up_{true};

    drop_counters drops_{};
    uc_loss_counters uc_losses_{};
    rc_repair_counters rc_repairs_{};
    relaxed_counter packets_in_{}, packets_out_{}, bytes_in_{}, bytes_out_{}, lost_port_down_{}, overruns_{};
    relaxed_counter live_queue_pairs_{}, live_regions_{};
};

} // namespace rocio::soft
