#pragma once

#include "hsb/sensor_stream.hpp"

#include <rocio/fpga/hsb_announcer.hpp>
#include <rocio/fpga/hsb_board_server.hpp>
#include <rocio/fpga/hsb_sensor_board.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/udp.hpp>
#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace rocio::tools {

struct sensor_emulator_config {
    sensor_stream_config stream{}; ///< Of each virtual port.
    fpga::hsb_sensor_board_config board{};
    boost::asio::ip::udp::endpoint control{};                    ///< Port 0: a free one.
    std::optional<boost::asio::ip::udp::endpoint> announce_to{}; ///< Default: says nothing of itself.
    std::uint16_t announce_from_port = fpga::hsb_bootp_port;     ///< On the control channel's address.
    std::chrono::milliseconds announce_interval{1'000};
    /// After the last frame of `stream.count` the board answers until its host has released it, at most so
    /// long.
    std::chrono::milliseconds linger{5'000};
};

/// An emulated Holoscan Sensor Bridge FPGA with sensors: control channel, announcements, and frames over any
/// device to the hosts its registers name.
///
/// Thread safety: distinct objects: safe. Shared objects: unsafe; use it on the context's thread.
class sensor_emulator {
  public:
    /// Opens the control channel. `context` must outlive it. Throws rocio::exception.
    sensor_emulator(boost::asio::io_context& context, const sensor_emulator_config& config);
    sensor_emulator(const sensor_emulator&) = delete;
    sensor_emulator& operator=(const sensor_emulator&) = delete;
    ~sensor_emulator() = default;

    /// Serves until stop(), or until all frames were sent and the host has released the board; once. The
    /// emulator must live until then.
    boost::asio::awaitable<void> run();
    /// Ends run() soon: like a board that is switched off, it says nothing to its host.
    void stop();
    /// Restarts the board as its reset register does.
    void reset() { board_.reset(); }

    boost::asio::ip::udp::endpoint control_endpoint() const { return server_.local_endpoint(); }
    const fpga::hsb_sensor_board& board() const noexcept { return board_; }
    /// Of all virtual ports.
    sensor_stream_counts counts() const;
    std::chrono::nanoseconds elapsed() const;

  private:
    /// What the control half tells.
    class port final : public fpga::hsb_sensor_port {
      public:
        explicit port(sensor_emulator& emulator) noexcept : emulator_(emulator) {}
        void start(std::uint32_t virtual_port, const fpga::hsb_sensor_target& target) override;
        void stop(std::uint32_t virtual_port) override;
        void reset() override;
        std::uint32_t psn(std::uint32_t virtual_port) const override;

      private:
        sensor_emulator& emulator_;
    };

    bool all_sent() const noexcept;
    bool is_released() const;
    boost::asio::awaitable<void> wait(std::chrono::steady_clock::time_point until);

    boost::asio::io_context& context_;
    sensor_emulator_config config_;
    std::vector<std::unique_ptr<sensor_stream>> streams_;
    port port_;
    fpga::hsb_sensor_board board_;
    fpga::hsb_board_server server_;
    std::optional<fpga::hsb_announcer> announcer_{};
    boost::asio::steady_timer wake_;
    std::size_t running_ = 0; ///< Streams whose run() goes on.
    bool stopping_ = false;
};

} // namespace rocio::tools
