#pragma once

#include <rocio/fpga/hsb_responder.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/ip/udp.hpp>

#include <chrono>
#include <memory>

namespace rocio::fpga {

/// Serves the control channel of an emulated board: receives datagrams, lets the board answer, sends the
/// answers back.
///
/// Thread safety: distinct objects: safe. Shared objects: unsafe; use it on `executor`, on which the board is
/// called.
class hsb_board_server {
  public:
    /// Binds to `where` (port 0: a free one) and serves from then on. `board` must live until stop(). Throws
    /// rocio::exception: errc::address_in_use, errc::address_not_available, the system's codes.
    hsb_board_server(const boost::asio::any_io_executor& executor,
                     const boost::asio::ip::udp::endpoint& where, hsb_responder& board);
    hsb_board_server(hsb_board_server&&) noexcept = default;
    hsb_board_server& operator=(hsb_board_server&&) = delete;
    /// stop().
    ~hsb_board_server();

    /// As it was bound; after stop(), too.
    boost::asio::ip::udp::endpoint local_endpoint() const;
    /// When the last datagram came; the construction's time before the first.
    std::chrono::steady_clock::time_point last_request() const noexcept;
    /// Closes the socket; the board is not called any more. Idempotent.
    void stop();

  private:
    struct state;
    std::shared_ptr<state> state_;
};

} // namespace rocio::fpga
