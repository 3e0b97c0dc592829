#include "soft/udp_receiver.hpp"
#include "soft/udp_sender.hpp"
#include "soft/udp_socket.hpp"

#include <rocio/soft/local_address.hpp>
#include <rocio/soft/udp_link.hpp>

#include <utility>

namespace rocio::soft {

struct udp_link::body {
    body(udp_socket s, const gid& a)
        : socket(std::move(s)),
          address(a),
          receiver(socket.fd.get()),
          sender(socket.fd.get(), a.is_v4_mapped(), socket.scope) {}

    udp_socket socket;
    gid address;
    udp_receiver receiver;
    udp_sender sender;
};

udp_link::udp_link(std::unique_ptr<body> b) noexcept : body_(std::move(b)) {}
udp_link::~udp_link() = default;

error_info udp_link::open(const udp_link_config& config, std::unique_ptr<udp_link>& out) {
    udp_socket socket;
    if (auto bad = open_udp_socket(config, socket)) return bad;
    out.reset(new udp_link(std::make_unique<body>(std::move(socket), config.address)));
    return {};
}

const gid& udp_link::address() const noexcept {
    return body_->address;
}
std::uint16_t udp_link::port() const noexcept {
    return body_->socket.port;
}
int udp_link::fd() const noexcept {
    return body_->socket.fd.get();
}
std::uint32_t udp_link::receive_buffer() const noexcept {
    return body_->socket.receive_buffer;
}

std::uint8_t udp_link::longest_train() const noexcept {
    return body_->sender.longest_train();
}

std::size_t udp_link::receive(std::span<received_datagram> out, time_point) noexcept {
    return body_->receiver.receive(out);
}

std::size_t udp_link::send(std::span<const outgoing_datagram> datagrams, time_point) noexcept {
    return body_->sender.send(datagrams);
}

link_interface udp_link::interface() const {
    const auto found = find_local_address(body_->address);
    if (!found) return {{}, {}, 0, false};
    return {found->netdev, found->prefix, found->mtu, found->up};
}

void udp_link::append_counters(std::vector<device_snapshot::counter>& out) const {
    const body& b = *body_;
    out.push_back({"receive_batches", b.receiver.calls.value()});
    out.push_back({"receive_trains", b.receiver.trains.value()});
    out.push_back({"send_batches", b.sender.calls.value()});
    out.push_back({"send_trains", b.sender.trains.value()});
    out.push_back({"send_would_block", b.sender.would_block.value()});
    out.push_back({"send_errors", b.sender.errors.value()});
    out.push_back({"socket_errors", b.receiver.socket_errors.value()});
    out.push_back({"drops.socket_overflow", socket_overflows(b.socket.fd.get())});
}

} // namespace rocio::soft
