#include <rocio/fpga/memory_bridge_bus.hpp>
#include <rocio/fpga/memory_bridge_server.hpp>

// Built with -DROCIO_ZMQ=OFF.
namespace rocio::fpga {

namespace {

[[noreturn]] void throw_not_supported() {
    throw exception({errc::not_supported, "this rocio was built without memory bridges: build it with "
                                          "-DROCIO_ZMQ=ON, which needs libzmq (libzmq3-dev)"});
}

} // namespace

detail::register_client_core_ptr detail::make_memory_bridge_core(const asio::any_io_executor&,
                                                                 const asio::ip::tcp::endpoint&,
                                                                 const memory_bridge_config&) {
    throw_not_supported();
}

struct memory_bridge_server::state {};

memory_bridge_server::memory_bridge_server(const boost::asio::any_io_executor&,
                                           const boost::asio::ip::tcp::endpoint&, register_space&) {
    throw_not_supported();
}
memory_bridge_server::~memory_bridge_server() = default;
boost::asio::ip::tcp::endpoint memory_bridge_server::local_endpoint() const {
    return {};
}
void memory_bridge_server::close() {}

} // namespace rocio::fpga
