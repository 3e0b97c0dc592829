#pragma once

#include "hsb/sensor_pattern.hpp"

#include <rocio/device/device.hpp>
#include <rocio/fpga/hsb_sensor_board.hpp>
#include <rocio/io/memory_region.hpp>
#include <rocio/io/queue_pair.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace rocio::tools {

struct sensor_stream_config {
    std::shared_ptr<rocio::device> device{};
    std::uint8_t ib_port = 1;
    std::optional<std::uint32_t> gid_index{};
    double rate = 60;                     ///< Frames per second; 0: as fast as they leave.
    std::optional<std::uint64_t> count{}; ///< Sends no more than so many frames.
    std::function<void(const std::string&)> error{};
    memory_options memory{};
};

struct sensor_stream_counts {
    std::uint64_t frames = 0, bytes = 0, packets = 0;
    std::uint64_t send_errors = 0;
    std::uint64_t starts = 0; ///< Times a host switched it on, or changed where to.
};

/// The sending half of one virtual port: frames of a sensor_pattern in UC RDMA WRITEs of one packet each, and
/// the metadata behind them with an immediate, as the FPGA's RTL sends them. Page index, PSN and frame number
/// go on when the port is configured anew and begin at 0 after a reset. Over any device; no packet is longer
/// than the device's path MTU, whatever the register says.
///
/// Thread safety: unsafe; use it on the context's thread.
class sensor_stream {
  public:
    sensor_stream(boost::asio::io_context& context, const sensor_stream_config& config);
    sensor_stream(const sensor_stream&) = delete;
    sensor_stream& operator=(const sensor_stream&) = delete;
    ~sensor_stream() = default;

    void start(const fpga::hsb_sensor_target& target);
    void stop();
    void reset();
    std::uint32_t psn() const noexcept { return psn_; }
    bool is_on() const noexcept { return target_.has_value(); }

    /// Sends until end(); once. The stream must live until then.
    boost::asio::awaitable<void> run();
    /// Ends run() soon.
    void end();

    bool all_sent() const noexcept { return config_.count && counts_.frames >= *config_.count; }
    const sensor_stream_counts& counts() const noexcept { return counts_; }
    std::chrono::nanoseconds elapsed() const;

  private:
    using clock = std::chrono::steady_clock;
    struct peer_place {
        std::uint32_t queue_pair = 0, host_ip = 0;
        std::uint16_t udp_port = 0;
        friend bool operator==(const peer_place&, const peer_place&) = default;
    };

    bool may_send() const noexcept { return target_ && !refused_ && !all_sent(); }
    boost::asio::awaitable<void> wait(clock::time_point until);
    boost::asio::awaitable<void> pace();
    boost::asio::awaitable<error_info> connect();
    boost::asio::awaitable<error_info> make_ready();
    boost::asio::awaitable<error_info> send_frame();
    error_info place_frame();
    error_info check_target() const;
    queue_pair_config pair_config() const;
    void fill();
    void post_data(std::uint64_t page_address, std::uint32_t upto);
    void next_page() noexcept;
    void refuse(const error_info& why);

    boost::asio::io_context& context_;
    sensor_stream_config config_;
    std::optional<memory_region> memory_; // outlives the queue pair
    std::optional<queue_pair> pair_;
    boost::asio::steady_timer wake_;

    std::optional<fpga::hsb_sensor_target> target_{};
    std::optional<peer_place> peer_{};
    std::optional<sensor_pattern> pattern_{};
    std::uint32_t frame_bytes_ = 0; ///< What memory_ and pattern_ were made for.
    std::uint32_t packet_ = 0;      ///< Bytes of data in each packet.
    bool refused_ = false;          ///< The target cannot be sent to: waits for another.
    bool ended_ = false;

    std::uint32_t psn_ = 0;
    std::uint32_t page_ = 0;
    std::uint16_t frame_number_ = 0;
    sensor_stream_counts counts_{};
    std::optional<clock::time_point> first_{};
    clock::time_point last_{}, due_{};
};

} // namespace rocio::tools
