#pragma once

#include <rocio/fpga/hsb_announcement.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/ip/udp.hpp>

#include <chrono>
#include <memory>

namespace rocio::fpga {

struct hsb_announcer_config {
    /// Where it sends from: the board's address, port hsb_bootp_port on an FPGA; 0: a free one.
    boost::asio::ip::udp::endpoint from{boost::asio::ip::address_v4::loopback(), 0};
    boost::asio::ip::udp::endpoint to{boost::asio::ip::address_v4::broadcast(), hsb_announcement_port};
    std::chrono::milliseconds interval{1'000};
};

/// Announces an emulated board, at once and then again and again, with a sequence number.
///
/// Thread safety: distinct objects: safe. Shared objects: unsafe; use it on `executor`.
class hsb_announcer {
  public:
    /// Throws rocio::exception: the system's codes. What cannot be sent is sent again later.
    hsb_announcer(const boost::asio::any_io_executor& executor, const hsb_announcement& what,
                  const hsb_announcer_config& config);
    hsb_announcer(hsb_announcer&&) noexcept = default;
    hsb_announcer& operator=(hsb_announcer&&) = delete;
    /// stop().
    ~hsb_announcer();

    std::uint64_t sent() const noexcept;
    /// Idempotent.
    void stop();

  private:
    struct state;
    std::shared_ptr<state> state_;
};

} // namespace rocio::fpga
