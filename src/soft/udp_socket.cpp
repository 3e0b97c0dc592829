#include "soft/udp_socket.hpp"

#include "soft/port_owner.hpp"
#include "soft/socket_address.hpp"

#include <rocio/soft/local_address.hpp>

#include <array>
#include <cerrno>
#include <string>

#include <linux/sock_diag.h>
#include <linux/udp.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>

namespace rocio::soft {

namespace {

error_info system_error(const std::string& what, int value = errno) {
    const error_code code(value, boost::system::system_category());
    return {code, what + ": " + code.message()};
}

bool set_option(int fd, int level, int name, int value) noexcept {
    return setsockopt(fd, level, name, &value, sizeof value) == 0;
}

std::uint32_t granted_buffer(int fd) noexcept {
    int value = 0;
    socklen_t size = sizeof value;
    if (getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &value, &size) != 0 || value < 0) return 0;
    return static_cast<std::uint32_t>(value);
}

/// The kernel doubles what it is asked for, to pay for its own book-keeping.
error_info set_receive_buffer(int fd, std::uint32_t bytes) {
    constexpr std::uint32_t most = 1U << 30;
    if (bytes > most)
        return {errc::limit_exceeded, "receive_buffer: " + std::to_string(bytes) + " bytes asked, at most " +
                                          std::to_string(most) + " allowed"};
    const int half = static_cast<int>((bytes + 1) / 2);
    if (!set_option(fd, SOL_SOCKET, SO_RCVBUFFORCE, half)) set_option(fd, SOL_SOCKET, SO_RCVBUF, half);
    const std::uint32_t granted = granted_buffer(fd);
    if (granted >= bytes) return {};
    return {errc::limit_exceeded,
            "receive_buffer: " + std::to_string(bytes) + " bytes asked, " + std::to_string(granted) +
                " granted by the system; raise it with: sysctl -w net.core.rmem_max=" + std::to_string(half)};
}

std::string place_text(const udp_link_config& config) {
    return "UDP port " + std::to_string(config.port) + " on " + config.address.to_address_string();
}

error_info in_use(const udp_link_config& config) {
    const port_owner owner = find_port_owner(config.address, config.port);
    if (owner.who == port_owner::kind::kernel)
        return {errc::address_in_use_by_kernel,
                place_text(config) + " is held by " + owner.text +
                    ", which takes it on every address while it is loaded; use the kernel's device (rxe0), "
                    "unload "
                    "it (rmmod rdma_rxe), or run in another network namespace"};
    return {errc::address_in_use,
            place_text(config) + " is in use by " + owner.text +
                "; stop it or use another address (Linux gives every 127.x.y.z to loopback)"};
}

error_info bind_error(const udp_link_config& config) {
    switch (errno) {
    case EADDRINUSE:
        return in_use(config);
    case EADDRNOTAVAIL:
        return {errc::address_not_available,
                "address " + config.address.to_address_string() +
                    " is on no interface of this machine; see `ip -brief address` for those that are"};
    case EACCES:
        return system_error("binding " + place_text(config) + " needs CAP_NET_BIND_SERVICE");
    default:
        return system_error("binding " + place_text(config));
    }
}

error_info set_v4_options(int fd) {
    // Unconnected and never fragmented: only then is the IP id 0 (captures peer_sock_*).
    if (!set_option(fd, IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_DO)) return system_error("IP_MTU_DISCOVER");
    if (!set_option(fd, SOL_SOCKET, SO_NO_CHECK, 1)) return system_error("SO_NO_CHECK");
    return {};
}

error_info set_v6_options(int fd) {
    if (!set_option(fd, IPPROTO_IPV6, IPV6_V6ONLY, 1)) return system_error("IPV6_V6ONLY");
    if (!set_option(fd, IPPROTO_IPV6, IPV6_MTU_DISCOVER, IPV6_PMTUDISC_DO))
        return system_error("IPV6_MTU_DISCOVER");
    // A UDPv6 socket drops what has no checksum, as RoCEv2 sends it, unless told so (captures peer_v6_*).
    if (!set_option(fd, IPPROTO_UDP, UDP_NO_CHECK6_RX, 1)) return system_error("UDP_NO_CHECK6_RX");
    if (!set_option(fd, IPPROTO_UDP, UDP_NO_CHECK6_TX, 1)) return system_error("UDP_NO_CHECK6_TX");
    return {};
}

error_info set_options(int fd, const udp_link_config& config) {
    if (auto bad = config.address.is_v4_mapped() ? set_v4_options(fd) : set_v6_options(fd)) return bad;
    if (config.receive_buffer != 0) return set_receive_buffer(fd, config.receive_buffer);
    return {};
}

std::uint16_t bound_port(int fd) noexcept {
    socket_address address;
    socklen_t size = sizeof address;
    if (getsockname(fd, &address.generic, &size) != 0) return 0;
    return port_of(address);
}

error_info check_address(const gid& address) {
    const auto v4 = address.v4();
    const bool good = v4 ? (*v4)[0] != 0 && (*v4)[0] < 224 : address != gid{} && address.bytes()[0] != 0xFF;
    if (good) return {};
    return {errc::invalid_argument, "address " + address.to_address_string() +
                                        ": a soft device needs one unicast address, which is also its GID"};
}

/// The interface of a link-local address, which exists on every interface.
std::uint32_t scope_of(const gid& address) {
    if (address.is_v4_mapped()) return 0;
    const auto found = find_local_address(address);
    return found ? if_nametoindex(found->netdev.c_str()) : 0;
}

} // namespace

error_info open_udp_socket(const udp_link_config& config, udp_socket& out) {
    if (auto bad = check_address(config.address)) return bad;
    udp_socket made;
    const int family = config.address.is_v4_mapped() ? AF_INET : AF_INET6;
    made.fd = unique_fd(::socket(family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (made.fd.get() < 0) return system_error("making a UDP socket");
    if (auto bad = set_options(made.fd.get(), config)) return bad;

    made.scope = scope_of(config.address);
    const socket_address address = to_socket_address(config.address, config.port, made.scope);
    if (::bind(made.fd.get(), &address.generic, size_of(address)) != 0) return bind_error(config);
    made.port = bound_port(made.fd.get());
    made.receive_buffer = granted_buffer(made.fd.get());
    out = std::move(made);
    return {};
}

std::uint64_t socket_overflows(int fd) noexcept {
    std::array<std::uint32_t, SK_MEMINFO_VARS> info{};
    socklen_t size = sizeof info;
    if (getsockopt(fd, SOL_SOCKET, SO_MEMINFO, info.data(), &size) != 0) return 0;
    return info[SK_MEMINFO_DROPS];
}

} // namespace rocio::soft
