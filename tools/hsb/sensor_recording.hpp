#pragma once

#include "hsb/sensor_command.hpp"
#include "hsb/sensor_pattern.hpp"
#include "lib/report.hpp"

#include <rocio/fpga/hsb_channel.hpp>
#include <rocio/ring/sensor_receiver.hpp>
#include <rocio/status/fpga_session_snapshot.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace rocio::tools {

/// Finds a board, brings it up, and checks its frames.
///
/// Thread safety: unsafe; use it on the context's thread.
class sensor_recording {
  public:
    sensor_recording(boost::asio::io_context& context, std::shared_ptr<device> dev,
                     const recv_hsb_options& options);
    sensor_recording(const sensor_recording&) = delete;
    sensor_recording& operator=(const sensor_recording&) = delete;

    std::function<void(const std::string&)> line{}; ///< Takes what a person wants to know.

    /// Runs until stop(), the last frame of options.count, or the board's end, which is the error; once. The
    /// recording must live until then.
    boost::asio::awaitable<error_info> run();
    void stop();

    report result() const;
    sensor_receiver_snapshot snapshot() const { return receiver_.snapshot(); }
    /// The board; nothing until one is found.
    std::optional<fpga_session_snapshot> session() const;
    std::uint64_t frames() const noexcept { return frames_; }
    std::string progress() const;

  private:
    boost::asio::awaitable<error_info> record();
    boost::asio::awaitable<error_info> find_board();
    boost::asio::awaitable<error_info> connect();
    boost::asio::awaitable<error_info> receive();
    void finish();
    fpga::hsb_channel_config channel_config() const;
    std::optional<std::array<std::uint8_t, 6>> find_mac() const;
    void check(const sensor_frame& frame);
    bool all_received() const noexcept { return options_.count && frames_ >= *options_.count; }
    void tell(const std::string& text) const {
        if (line) line(text);
    }

    boost::asio::io_context& context_;
    std::shared_ptr<device> device_;
    recv_hsb_options options_;
    std::string fpga_;
    std::optional<std::uint8_t> data_plane_{};
    sensor_receiver receiver_;
    std::optional<fpga::hsb_channel_status> channel_{};
    std::uint64_t attempts_ = 0;
    std::function<void()> stop_search_{};
    sensor_check pattern_{};
    std::uint64_t frames_ = 0, bytes_ = 0;
    std::uint64_t damaged_ = 0;     ///< Policy latest, where frames are judged one by one.
    std::uint64_t overwritten_ = 0; ///< While they were checked.
    std::uint64_t holes_ = 0;       ///< As the device told it when the connection stood.
    bool stopping_ = false;
    std::optional<std::chrono::steady_clock::time_point> first_{};
    std::chrono::steady_clock::time_point last_{};
};

} // namespace rocio::tools
