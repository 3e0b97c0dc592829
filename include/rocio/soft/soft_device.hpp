#pragma once

#include <rocio/device/device.hpp>
#include <rocio/soft/fault_plan.hpp>
#include <rocio/soft/link.hpp>
#include <rocio/types/error.hpp>
#include <rocio/types/qpn.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace rocio {

namespace soft {
class device_core;
}

struct soft_device_config {
    std::string address{};            ///< "127.0.0.2", "::1": numeric, on one of this machine's interfaces.
    std::uint16_t udp_port = 4791;    ///< 0: any free port.
    std::uint32_t receive_buffer = 0; ///< Bytes the kernel may hold for us; 0: the system's default.
    std::optional<fault_plan> faults{};
    std::string capture{}; ///< File for every packet sent and received (pcap_link); empty: none.
};

/// RoCEv2 in user space on one UDP socket: needs no NIC, no kernel module and no root, and talks to NICs,
/// FPGAs and the kernel's rdma_rxe. It has no thread, timer or lock: everything happens inside progress(), so
/// a context that does not run is a NIC that does not answer.
///
/// A peer reaches memory only through a registered region's key, bounds and rights, by a connected queue
/// pair, from its peer's address. Queue pairs, completion queues and regions keep what they need of the
/// device alive.
///
/// Thread safety: name(), kind(), limits(), capabilities(), udp_port(), query_port(), gid_table() and
/// snapshot(): any thread. Everything else, the device's objects too: one thread at a time.
class soft_device final : public device {
  public:
    /// Opens the address. Errors: errc::invalid_argument (address, fault plan), and those of
    /// soft::udp_link::open().
    static error_info open(const soft_device_config& config, std::shared_ptr<soft_device>& out);
    /// A device on a link of the caller's. Queue pairs are numbered from `first` (from 0x11 on); without it
    /// from a random number, so that a stranger, or a stale peer of the process before, does not know them.
    static std::shared_ptr<soft_device> over(std::unique_ptr<soft::link> link,
                                             std::optional<qpn> first = std::nullopt);

    /// "soft:127.0.0.2", "soft:10.0.0.2:4791" or "soft:[::1]:4791" into address and port; the rest of `out`
    /// stays. errc::invalid_device_name with a sentence for anything else.
    static error_info parse_name(std::string_view name, soft_device_config& out);

    ~soft_device() override;

    std::string name() const override;
    std::string kind() const override { return "soft"; }
    device_limits limits() const override;
    endpoint_capabilities capabilities(std::uint8_t port) const override;
    std::uint16_t udp_port() const override;
    error_info query_port(std::uint8_t port, port_attributes& out) const override;
    error_info gid_table(std::uint8_t port, std::vector<gid_table_entry>& out) const override;

    error_info create_completion_queue(std::uint32_t depth,
                                       std::unique_ptr<device_completion_queue>& out) override;
    error_info create_queue_pair(const device_queue_pair_config& config,
                                 std::unique_ptr<device_queue_pair>& out) override;
    error_info register_memory(std::span<std::byte> bytes, const memory_region_config& config,
                               std::unique_ptr<device_memory_region>& out) override;

    errc bind(const void* engine) override;
    void unbind(const void* engine) noexcept override;

    /// Sends what waits, receives at most 64 datagrams, runs timers. What the received datagrams cause to be
    /// sent leaves with the next call: a message posted in between goes out before its acknowledgement.
    bool progress(time_point now) override;
    int event_fd() const noexcept override;
    time_point next_deadline() const noexcept override;
    bool next_event(device_event& out) override;
    device_snapshot snapshot() const override;

    /// Moves the queue pair to the error state as a hardware fault would: its work requests are flushed and a
    /// queue_pair_fatal event is raised. errc::invalid_argument for an unknown number.
    error_info fail_queue_pair(qpn number);
    /// With the port down nothing is received, and what is sent is lost; timers run on. A change raises
    /// port_error or port_active.
    void set_port_up(bool up) noexcept;

  private:
    soft_device(std::unique_ptr<soft::link> link, std::optional<qpn> first);
    std::shared_ptr<soft::device_core> core_;
};

} // namespace rocio
