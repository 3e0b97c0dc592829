#include "slac/register_access.hpp"

#include <rocio/connect/parse_endpoint.hpp>
#include <rocio/fpga/memory_bridge_bus.hpp>
#include <rocio/fpga/memory_bridge_server.hpp>
#include <rocio/fpga/srp_rssi_bus.hpp>
#include <rocio/fpga/srp_rssi_server.hpp>
#include <rocio/fpga/srp_udp_bus.hpp>
#include <rocio/fpga/srp_udp_server.hpp>

#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/udp.hpp>

#include <utility>

namespace rocio::tools {

namespace asio = boost::asio;

namespace {

asio::ip::udp::endpoint udp(const asio::ip::tcp::endpoint& where) {
    return {where.address(), where.port()};
}

template <class Server>
class server_of final : public register_server {
  public:
    template <class... Args>
    explicit server_of(Args&&... args) : server_(std::forward<Args>(args)...) {}

  private:
    Server server_;
};

} // namespace

std::string register_place::text() const {
    return where.address().to_string() + ":" + std::to_string(where.port()) + " by " +
           std::string(to_string(bus));
}

register_place parse_register_place(bus_kind bus, const std::string& registers, const std::string& board) {
    const auto text = !registers.empty() ? registers : bus == bus_kind::zmq ? "127.0.0.1" : board;
    error_code not_an_address;
    const auto address = asio::ip::make_address(text, not_an_address);
    if (not_an_address) return {bus, parse_endpoint(text)};
    return {bus, {address, default_register_port(bus)}};
}

fpga::any_register_bus open_register_bus(asio::io_context& context, const register_place& place) {
    switch (place.bus) {
    case bus_kind::srp_rssi:
        return fpga::srp_rssi_bus(context, udp(place.where));
    case bus_kind::zmq:
        return fpga::memory_bridge_bus(context, place.where);
    case bus_kind::srp_udp:
        break;
    }
    return fpga::srp_udp_bus(context, udp(place.where));
}

std::unique_ptr<register_server> serve_registers(asio::io_context& context, const register_place& place,
                                                 fpga::register_space& space,
                                                 const fpga::control_faults& faults) {
    const auto executor = context.get_executor();
    switch (place.bus) {
    case bus_kind::srp_rssi:
        return std::make_unique<server_of<fpga::srp_rssi_server>>(executor, udp(place.where), space,
                                                                  fpga::rssi_config{}, faults);
    case bus_kind::zmq:
        if (faults.drop > 0 || faults.duplicate > 0 || faults.reorder > 0) {
            throw exception({errc::invalid_argument,
                             "--control-drop, -duplicate and -reorder are for UDP: not with --bus zmq"});
        }
        return std::make_unique<server_of<fpga::memory_bridge_server>>(executor, place.where, space);
    case bus_kind::srp_udp:
        break;
    }
    return std::make_unique<server_of<fpga::srp_udp_server>>(executor, udp(place.where), space, faults);
}

} // namespace rocio::tools
