#pragma once

#include "fpga/fault_gate.hpp"

#include <rocio/types/error.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/ip/udp.hpp>

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace rocio::fpga::detail {

/// The UDP port of an emulated board, with the faults of its path.
class board_socket {
  public:
    using udp = boost::asio::ip::udp;
    struct datagram {
        udp::endpoint peer{};
        std::vector<std::byte> bytes{};
    };

    board_socket(const boost::asio::any_io_executor& executor, const control_faults& faults)
        : socket_(executor), inward_(faults, 0), outward_(faults, 1) {}

    /// `what` is the port's name in the error's sentence.
    error_info bind(const udp::endpoint& where, const char* what);
    /// Calls `on_datagram` for all that arrives, until close(); the wait holds `keep`.
    void receive(const std::shared_ptr<void>& keep, const std::function<void(const datagram&)>& on_datagram);
    void send(const udp::endpoint& peer, std::span<const std::byte> bytes);
    void close();

    const udp::endpoint& local() const noexcept { return local_; }
    bool is_open() const noexcept { return socket_.is_open(); }

  private:
    udp::socket socket_;
    udp::endpoint local_{}, sender_{};
    fault_gate<datagram> inward_, outward_;
    std::array<std::byte, 9216> in_{};
};

} // namespace rocio::fpga::detail
