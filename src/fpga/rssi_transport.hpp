#pragma once

#include "fpga/message_transport.hpp"

#include <rocio/async/control_strand.hpp>
#include <rocio/fpga/packetizer.hpp>
#include <rocio/fpga/rssi_connection.hpp>
#include <rocio/fpga/srp_rssi_bus.hpp>

#include <boost/asio/basic_datagram_socket.hpp>
#include <boost/asio/ip/udp.hpp>

#include <array>
#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace rocio::fpga::detail {

class rssi_report {
  public:
    void set(const srp_rssi_snapshot& s) {
        const std::lock_guard lock(mutex_);
        snapshot_ = s;
    }
    srp_rssi_snapshot get() const {
        const std::lock_guard lock(mutex_);
        return snapshot_;
    }

  private:
    mutable std::mutex mutex_{};
    srp_rssi_snapshot snapshot_{};
};

/// An RSSI connection that is made when it is needed. Each connection has a socket of its own, so that what
/// is left of an earlier one does not reach it.
class rssi_transport final : public message_transport {
  public:
    rssi_transport(const async::control_strand& strand, const asio::ip::udp::endpoint& peer,
                   const srp_rssi_config& config, rssi_report_ptr report);

    void begin(const std::shared_ptr<void>& keep) override;
    void rest() override;
    void send(std::uint32_t id, std::span<const std::byte> message) override;
    void withdraw(std::uint32_t id) override;
    void close() override;
    std::string peer() const override;
    error_info silence() const override;

  private:
    enum class phase : std::uint8_t { idle, backing_off, connected };
    using time_point = async::steady_clock::time_point;
    using keep_alive = std::shared_ptr<void>;

    void back_off(const keep_alive& keep);
    void connect(const keep_alive& keep);
    void receive(const keep_alive& keep);
    void on_datagram(const error_code& ec, std::size_t n);
    /// Does what the state machine asks for. False when the connection is gone.
    bool pump(const keep_alive& keep);
    void deliver();
    void send_waiting();
    void send_segments();
    void wait(const keep_alive& keep);
    void on_lost();
    void drop();
    void report();

    async::control_strand strand_;
    asio::ip::udp::endpoint peer_;
    srp_rssi_config config_;
    rssi_report_ptr report_;

    std::optional<asio::basic_datagram_socket<asio::ip::udp, async::control_strand>> socket_{};
    async::control_timer timer_;
    rssi_connection machine_;
    depacketizer frames_;

    phase phase_ = phase::idle;
    std::uint64_t connection_ = 0; ///< Handlers of an earlier one do nothing.
    std::uint64_t waits_ = 0;
    bool wanted_ = false, announced_ = false, unreachable_ = false;
    std::weak_ptr<void> keep_{}; ///< From begin().
    error_info last_failure_{};
    time_point not_before_{};
    std::chrono::milliseconds back_off_;
    std::deque<std::pair<std::uint32_t, std::vector<std::byte>>> waiting_{};
    std::uint64_t connections_ = 0, resets_ = 0;
    std::array<std::byte, 9216> in_{}, out_{};
};

} // namespace rocio::fpga::detail
