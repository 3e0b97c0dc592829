#include "doctor/gather.hpp"

#include <rocio/open/open_device.hpp>

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/udp.hpp>
#include <boost/asio/steady_timer.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace rocio::tools {

namespace {

namespace asio = boost::asio;
using asio::ip::udp;

/// Where nobody listens: traceroute's first port.
constexpr std::uint16_t probe_port = 33'434;
/// The kernel limits its ICMP answers to one peer, so few packets and some patience.
constexpr auto patience = std::chrono::milliseconds{400};
/// What RoCE v2 adds at most to the payload of a packet: BTH, RETH, immediate and ICRC.
constexpr std::size_t headers = 12 + 16 + 4 + 4;

/// IP_MTU_DISCOVER and IPV6_MTU_DISCOVER with "probe": don't fragment, and never mind what is known of the
/// path.
struct dont_fragment {
    bool v6;
    int value = IP_PMTUDISC_PROBE;
    template <class Protocol>
    int level(const Protocol&) const {
        return v6 ? IPPROTO_IPV6 : IPPROTO_IP;
    }
    template <class Protocol>
    int name(const Protocol&) const {
        return v6 ? IPV6_MTU_DISCOVER : IP_MTU_DISCOVER;
    }
    template <class Protocol>
    const int* data(const Protocol&) const {
        return &value;
    }
    template <class Protocol>
    std::size_t size(const Protocol&) const {
        return sizeof value;
    }
};

asio::ip::address address_of(const gid& g) {
    if (const auto v4 = g.v4()) return asio::ip::address_v4(*v4);
    return asio::ip::address_v6(g.bytes());
}

enum class answer { arrived, too_long, silent };

answer probe(asio::io_context& context, udp::socket& socket, mtu m) {
    const std::vector<char> packet(bytes(m) + headers);
    boost::system::error_code ec;
    socket.send(asio::buffer(packet), 0, ec);
    if (ec == asio::error::message_size) return answer::too_long;
    if (ec == asio::error::connection_refused)
        socket.send(asio::buffer(packet), 0, ec); // of the packet before
    answer out = answer::silent;
    std::array<char, 1> nothing{};
    asio::steady_timer limit(context, patience);
    limit.async_wait([&](const auto& e) {
        if (!e) socket.cancel();
    });
    socket.async_receive(asio::buffer(nothing), [&](const auto& e, std::size_t) {
        if (e == asio::error::connection_refused || !e) out = answer::arrived;
        if (e == asio::error::message_size) out = answer::too_long;
        limit.cancel();
    });
    context.restart();
    context.run();
    return out;
}

std::string netdev_with(const asio::ip::address& local) {
    for (const auto& d : list_devices())
        if (d.kind == "soft" && address_of(d.address) == local) return d.netdev;
    return local.is_loopback() ? "lo" : "an interface";
}

/// The kernel's table: address, type, flags, link-layer address, mask, interface; flag 2 is "complete".
std::optional<bool> neighbour_known(const std::string& address) {
    std::ifstream in("/proc/net/arp");
    for (std::string line; std::getline(in, line);) {
        std::istringstream words(line);
        std::string ip, type, flags;
        if (words >> ip >> type >> flags && ip == address) return (std::stoul(flags, nullptr, 0) & 2U) != 0;
    }
    return std::nullopt;
}

} // namespace

peer_facts probe_peer(const gid& peer) {
    peer_facts out;
    out.address = peer;
    asio::io_context context;
    const udp::endpoint to(address_of(peer), probe_port);
    udp::socket socket(context, to.protocol());
    boost::system::error_code ec;
    socket.set_option(dont_fragment{to.address().is_v6()}, ec);
    socket.connect(to, ec);
    if (ec) return out;
    out.route_netdev = netdev_with(socket.local_endpoint().address());
    for (const mtu m : {mtu::b256, mtu::b1024, mtu::b2048, mtu::b4096}) {
        if (probe(context, socket, m) != answer::arrived) {
            out.first_silent = m;
            break;
        }
        out.largest = m;
    }
    out.neighbour = neighbour_known(peer.to_address_string());
    return out;
}

} // namespace rocio::tools
