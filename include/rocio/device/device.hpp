#pragma once

#include <rocio/device/connection_manager.hpp>
#include <rocio/device/device_completion_queue.hpp>
#include <rocio/device/device_event.hpp>
#include <rocio/device/device_memory_region.hpp>
#include <rocio/device/device_queue_pair.hpp>
#include <rocio/device/device_snapshot.hpp>
#include <rocio/types/error.hpp>
#include <rocio/types/gid_table.hpp>
#include <rocio/types/log_sink.hpp>
#include <rocio/types/memory_access.hpp>
#include <rocio/types/mtu.hpp>
#include <rocio/types/parameters.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace rocio {

/// What a device can do at most.
struct device_limits {
    std::uint32_t max_queue_pairs = 0;
    std::uint32_t max_work_requests = 0; ///< Per work queue.
    std::uint32_t max_completions = 0;   ///< Per completion queue.
    std::uint32_t max_inline = 0;        ///< Bytes.
    std::uint32_t max_message = 0;       ///< Bytes.
    std::uint64_t max_region = 0;        ///< Bytes of one memory region.
    std::uint8_t ports = 1;
};

/// The same by name, for the snapshot.
std::vector<device_snapshot::limit> to_snapshot(const device_limits& limits);

enum class port_state : std::uint8_t { down, active };

struct port_attributes {
    port_state state = port_state::down;
    mtu active_mtu = mtu::b1024;
    std::uint32_t netdev_mtu = 0; ///< Bytes, 0 where unknown.
    std::string netdev{};
};

struct memory_region_config {
    memory_access access = memory_access::local_write;
    std::optional<std::uint64_t> iova{}; ///< RDMA address of the first byte; default: its virtual address.
};

/// The seam: a device that carries RDMA, without Asio. A device says what to wait for (event_fd(),
/// next_deadline()); the completion engine does all waiting. Every default answers errc::not_supported, so
/// that a device overrides what it has.
///
/// Thread safety: registration, GID table, limits, snapshot() of a bound device: any thread where the device
/// says so; progress(), poll, post and state changes: one thread at a time (the engine's turn).
class device {
  public:
    using time_point = std::chrono::steady_clock::time_point;

    virtual ~device() = default;

    virtual std::string name() const = 0; ///< As open_device() takes it: "soft:127.0.0.2", "mlx5_0".
    virtual std::string kind() const = 0; ///< "soft", "verbs", "scripted".
    virtual device_limits limits() const = 0;
    virtual endpoint_capabilities capabilities(std::uint8_t port) const {
        return (void)port, endpoint_capabilities{};
    }
    /// UDP port peers must send to.
    virtual std::uint16_t udp_port() const { return 4791; }

    virtual error_info query_port(std::uint8_t port, port_attributes& out) const;
    /// The port's table as it is now; indices move when addresses change, so ask at every connect.
    virtual error_info gid_table(std::uint8_t port, std::vector<gid_table_entry>& out) const;

    virtual error_info create_completion_queue(std::uint32_t depth,
                                               std::unique_ptr<device_completion_queue>& out);
    virtual error_info create_queue_pair(const device_queue_pair_config& config,
                                         std::unique_ptr<device_queue_pair>& out);
    /// `bytes` must outlive the region.
    virtual error_info register_memory(std::span<std::byte> bytes, const memory_region_config& config,
                                       std::unique_ptr<device_memory_region>& out);

    /// A manager of connections that end at this device, with an event channel of its own. It keeps what it
    /// needs of the device alive.
    virtual error_info create_connection_manager(std::unique_ptr<connection_manager>& out);

    /// A device without locks belongs to the first engine that binds it; another one gets errc::device_bound
    /// until unbind(). `engine` is only compared. Devices with locks of their own accept everybody.
    virtual errc bind(const void* engine) { return (void)engine, errc::success; }
    virtual void unbind(const void* engine) noexcept { (void)engine; }

    /// False: progress() never has anything to do, so that nobody needs to call it or to read a clock for it.
    virtual bool needs_progress() const noexcept { return true; }
    /// A bounded amount of work: receive and send packets, timers. Gives true when it did anything.
    virtual bool progress(time_point now) { return (void)now, false; }
    /// The descriptor that becomes readable when poll or progress() has something to do after every
    /// completion queue was armed; -1: none.
    virtual int event_fd() const noexcept { return -1; }
    /// When progress() is needed even if event_fd() stays silent; time_point::max(): never.
    virtual time_point next_deadline() const noexcept { return time_point::max(); }
    /// Takes and acknowledges all pending completion events, to EAGAIN; counted per queue.
    virtual void drain_events() {}

    /// Takes the next asynchronous event; false when there is none.
    virtual bool next_event(device_event& out) { return (void)out, false; }
    /// The descriptor that becomes readable when next_event() has something; -1: events come with progress().
    virtual int async_event_fd() const noexcept { return -1; }

    virtual device_snapshot snapshot() const = 0;

  protected:
    device() = default;
    device(const device&) = delete;
    device& operator=(const device&) = delete;
};

} // namespace rocio
