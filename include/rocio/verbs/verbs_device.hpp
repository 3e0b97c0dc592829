#pragma once

#include <rocio/device/device.hpp>
#include <rocio/types/error.hpp>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rocio {

namespace verbs {
class device_core;
}

/// A system device through libibverbs: a NIC (mlx5_0) or the kernel's SoftRoCE (rxe0). RC and UC queue pairs,
/// RoCE v2 addressing only.
///
/// Every open() makes a device of its own: context, protection domain, one completion channel and one reader
/// of asynchronous events. Because a completion event is taken by whoever drains the channel, the device
/// belongs to the first engine that binds it, as a soft device does, and another engine's bind() gets
/// errc::device_bound: open the same name once more for it. Two opens share the hardware, not the protection
/// domain: memory registered with one device object serves that object's queue pairs only.
///
/// Queue pairs, completion queues and regions keep the context open until the last of them is gone.
///
/// Thread safety: name(), limits(), query_port(), gid_table(), capabilities(), create_*(), register_memory(),
/// bind(), unbind() and snapshot(): any thread. drain_events(): one thread at a time, and not while one of
/// the device's completion queues is being destroyed. next_event(): one thread at a time. A queue pair, a
/// completion queue: one thread at a time each.
class verbs_device final : public device {
  public:
    /// Opens a device by its kernel name. Errors, each with the way out in its text: errc::no_devices (none
    /// at all: no kernel device, or no user-space provider), errc::device_not_found (the text lists those
    /// there are), errc::invalid_argument (""), the system's permission_denied for /dev/infiniband/uverbsN,
    /// and errc::device_fatal.
    static error_info open(std::string_view name, std::shared_ptr<verbs_device>& out);
    /// The names open() takes, in the system's order.
    static std::vector<std::string> names();
    /// Why names() is empty and what to do about it; no error when it is not.
    static error_info why_none();

    ~verbs_device() override;

    std::string name() const override;
    std::string kind() const override { return "verbs"; }
    /// `max_inline` is measured at open(), as verbs does not tell it: the largest that a small queue pair
    /// got.
    device_limits limits() const override;
    /// The netdev is told also while its link is down.
    error_info query_port(std::uint8_t port, port_attributes& out) const override;
    /// Without the empty entries; any size.
    error_info gid_table(std::uint8_t port, std::vector<gid_table_entry>& out) const override;

    error_info create_completion_queue(std::uint32_t depth,
                                       std::unique_ptr<device_completion_queue>& out) override;
    error_info create_queue_pair(const device_queue_pair_config& config,
                                 std::unique_ptr<device_queue_pair>& out) override;
    /// An iova must have the same offset into a page as the memory (the kernel's rule). ENOMEM becomes
    /// errc::registration_failed with the present RLIMIT_MEMLOCK in the text.
    error_info register_memory(std::span<std::byte> bytes, const memory_region_config& config,
                               std::unique_ptr<device_memory_region>& out) override;

    /// rdma_cm, with an event channel of its own. Errors: those of the system; without the module rdma_ucm
    /// the text says so.
    error_info create_connection_manager(std::unique_ptr<connection_manager>& out) override;

    errc bind(const void* engine) override;
    void unbind(const void* engine) noexcept override;

    /// The completion channel; non-blocking.
    int event_fd() const noexcept override;
    bool needs_progress() const noexcept override { return false; }
    void drain_events() override;
    /// After device_fatal there is no further event.
    bool next_event(device_event& out) override;
    int async_event_fd() const noexcept override;

    /// Counters: the kernel's of port 1, as "hw_counters.NAME" (rdma_rxe: sent_pkts, rcvd_pkts,
    /// duplicate_request, out_of_seq_request, send_rnr_err and so on).
    device_snapshot snapshot() const override;

    const std::shared_ptr<verbs::device_core>& core() const noexcept { return core_; }

  private:
    explicit verbs_device(std::shared_ptr<verbs::device_core> core);
    std::shared_ptr<verbs::device_core> core_;
};

} // namespace rocio
