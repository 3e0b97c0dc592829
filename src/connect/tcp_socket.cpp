#include "connect/tcp_socket.hpp"

#include <boost/asio/buffer.hpp>

#include <array>
#include <cerrno>
#include <sstream>

#include <unistd.h>

// The system's socket calls are declared by Asio's ip/tcp.hpp.

namespace rocio::detail {

namespace {

error_code last_system_error() {
    return {errno, boost::system::system_category()};
}

asio::ip::tcp protocol_of(const sockaddr_storage& address) {
    return address.ss_family == AF_INET6 ? asio::ip::tcp::v6() : asio::ip::tcp::v4();
}

error_code adopt(control_socket& socket, const asio::ip::tcp& protocol, int fd) {
    error_code ec;
    socket.assign(protocol, fd, ec);
    if (ec) {
        ::close(fd);
        return ec;
    }
    socket.native_non_blocking(true, ec);
    error_code ignored; // Only a matter of delay.
    socket.set_option(asio::ip::tcp::no_delay(true), ignored);
    return ec;
}

error_code bind_and_listen(control_acceptor& acceptor, const asio::ip::tcp::endpoint& at, const char*& what) {
    error_code ec;
    what = "SO_REUSEADDR";
    acceptor.set_option(asio::socket_base::reuse_address(true), ec);
    if (ec) return ec;
    what = "bind";
    acceptor.bind(at, ec);
    if (ec) return ec;
    what = "listen";
    acceptor.listen(asio::socket_base::max_listen_connections, ec);
    if (ec) return ec;
    what = "O_NONBLOCK";
    acceptor.native_non_blocking(true, ec);
    return ec;
}

} // namespace

error_code open_stream(control_socket& socket, const asio::ip::tcp& protocol) {
    const int fd = ::socket(protocol.family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP);
    if (fd < 0) return last_system_error();
    return adopt(socket, protocol, fd);
}

error_code open_acceptor(control_acceptor& acceptor, const asio::ip::tcp::endpoint& at, const char*& what) {
    what = "socket";
    const auto protocol = at.protocol();
    const int fd = ::socket(protocol.family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP);
    if (fd < 0) return last_system_error();
    error_code ec;
    acceptor.assign(protocol, fd, ec);
    if (ec) {
        ::close(fd);
        return ec;
    }
    ec = bind_and_listen(acceptor, at, what);
    error_code ignored;
    if (ec) acceptor.close(ignored);
    return ec;
}

error_code accept_stream(control_acceptor& acceptor, control_socket& out) {
    sockaddr_storage address{};
    socklen_t size = sizeof address;
    const int fd = ::accept4(acceptor.native_handle(), static_cast<sockaddr*>(static_cast<void*>(&address)),
                             &size, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0) return last_system_error();
    return adopt(out, protocol_of(address), fd);
}

error_code move_stream(control_socket& from, control_socket& to) {
    error_code ec;
    const auto local = from.local_endpoint(ec);
    if (ec) return ec;
    const int fd = from.release(ec);
    if (ec) return ec;
    return adopt(to, local.protocol(), fd);
}

void send_at_once(control_socket& socket, std::span<const std::byte> bytes) {
    error_code ignored;
    socket.non_blocking(true, ignored);
    (void)socket.write_some(asio::buffer(bytes.data(), bytes.size()), ignored);
}

void close_gently(control_socket& socket) {
    error_code ec;
    if (!socket.is_open()) return;
    socket.shutdown(asio::socket_base::shutdown_send, ec);
    socket.non_blocking(true, ec);
    std::array<std::byte, 4096> waste;
    for (int reads = 0; reads < 16; ++reads) {
        const auto n = socket.read_some(asio::buffer(waste), ec);
        if (ec || n == 0) break;
    }
    socket.close(ec);
}

bool has_ended(control_socket& socket) {
    std::byte b{};
    return ::recv(socket.native_handle(), &b, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

void stop_listening(int native_acceptor) noexcept {
    ::shutdown(native_acceptor, SHUT_RD);
}

std::string to_text(const asio::ip::tcp::endpoint& e) {
    std::ostringstream text;
    text << e;
    return text.str();
}

} // namespace rocio::detail
