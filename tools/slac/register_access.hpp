#pragma once

#include "slac/bus_kind.hpp"

#include <rocio/fpga/any_register_bus.hpp>
#include <rocio/fpga/control_faults.hpp>
#include <rocio/fpga/register_space.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <memory>
#include <string>

namespace rocio::tools {

/// Where the registers of a board are reached.
struct register_place {
    bus_kind bus = bus_kind::srp_udp;
    boost::asio::ip::tcp::endpoint where{};

    std::string text() const;
};

/// `registers` is ADDRESS or ADDRESS:PORT; empty: the board's own address, for a memory bridge this machine.
/// Throws rocio::exception.
register_place parse_register_place(bus_kind bus, const std::string& registers, const std::string& board);

/// The host's end. Throws rocio::exception.
fpga::any_register_bus open_register_bus(boost::asio::io_context& context, const register_place& place);

/// The board's end: serves `space` until it is destroyed.
class register_server {
  public:
    virtual ~register_server() = default;
};

/// Throws rocio::exception; faults are for UDP only, with a memory bridge they are refused.
std::unique_ptr<register_server> serve_registers(boost::asio::io_context& context,
                                                 const register_place& place, fpga::register_space& space,
                                                 const fpga::control_faults& faults);

} // namespace rocio::tools
