#include "fpga/board_socket.hpp"

#include "fpga/endpoint_text.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>

#include <string>

namespace rocio::fpga::detail {

namespace asio = boost::asio;

error_info board_socket::bind(const udp::endpoint& where, const char* what) {
    error_code ec;
    socket_.open(where.protocol(), ec);
    if (!ec) socket_.non_blocking(true, ec);
    if (!ec) socket_.bind(where, ec);
    if (!ec) local_ = socket_.local_endpoint(ec);
    if (!ec) return {};
    const auto sentence =
        std::string(what) + " at UDP " + endpoint_text(where.address(), where.port()) + ": ";
    if (ec == asio::error::address_in_use)
        return {errc::address_in_use, sentence + "another process has it; choose another port or address"};
    if (ec == boost::system::errc::address_not_available)
        return {errc::address_not_available, sentence + "the address is on no interface of this machine"};
    return {ec, sentence + ec.message()};
}

void board_socket::receive(const std::shared_ptr<void>& keep,
                           const std::function<void(const datagram&)>& on_datagram) {
    socket_.async_receive_from(
        asio::buffer(in_), sender_, [this, keep, on_datagram](const error_code& ec, std::size_t n) {
            if (!socket_.is_open() || ec == asio::error::operation_aborted) return;
            if (!ec) {
                datagram in{sender_, {in_.begin(), in_.begin() + static_cast<std::ptrdiff_t>(n)}};
                inward_.pass(std::move(in), on_datagram);
            }
            if (socket_.is_open()) receive(keep, on_datagram);
        });
}

void board_socket::send(const udp::endpoint& peer, std::span<const std::byte> bytes) {
    outward_.pass(datagram{peer, {bytes.begin(), bytes.end()}}, [this](const datagram& d) {
        // A full socket buffer loses datagrams as any network does.
        error_code lost;
        socket_.send_to(asio::buffer(d.bytes), d.peer, 0, lost);
    });
}

void board_socket::close() {
    error_code ignored;
    socket_.close(ignored);
}

} // namespace rocio::fpga::detail
