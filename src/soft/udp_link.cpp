#include "soft/socket_address.hpp"
#include "soft/udp_socket.hpp"

#include <rocio/soft/local_address.hpp>
#include <rocio/soft/udp_link.hpp>
#include <rocio/types/relaxed_counter.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <vector>

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/uio.h>

namespace rocio::soft {

namespace {

constexpr std::size_t batch_size = 16;
/// What is longer than any packet arrives cut, and says so.
constexpr std::size_t slot_size = 4'224;
static_assert(slot_size >= longest_packet && slot_size % 64 == 0);
/// sendto() from one buffer beats sendmsg() with three pieces while the copy is short.
constexpr std::size_t gather_limit = 256;
/// Single receives in a row that found something, after which recvmmsg() (+0.2 us per call) pays.
constexpr unsigned streak_of_burst = 4;
constexpr std::size_t large_datagram = 512;

bool would_block(int error) noexcept {
    return error == EAGAIN || error == EWOULDBLOCK || error == ENOBUFS;
}

/// What the socket sends without being told per datagram.
bool is_plain(const destination& to) noexcept {
    return to.hop_limit == destination{}.hop_limit && to.traffic_class == 0;
}

/// Control messages of one datagram whose IP fields are not the socket's.
struct ip_fields {
    alignas(cmsghdr) std::array<std::byte, 2 * CMSG_SPACE(sizeof(int))> space;
};

iovec piece(std::span<const std::byte> bytes) noexcept {
    return {const_cast<std::byte*>(bytes.data()), bytes.size()};
}

} // namespace

struct udp_link::body {
    udp_socket socket{};
    gid address{};

    // Receive side.
    std::vector<std::byte> staging = std::vector<std::byte>(batch_size * slot_size);
    std::array<mmsghdr, batch_size> in{};
    std::array<iovec, batch_size> in_pieces{};
    std::array<socket_address, batch_size> in_from{};
    bool burst = false;
    unsigned streak = 0; ///< Receives in a row that argue for the other mode.

    // Send side.
    std::array<mmsghdr, batch_size> out{};
    std::array<std::array<iovec, 3>, batch_size> out_pieces{};
    std::array<socket_address, batch_size> out_to{};
    std::array<ip_fields, batch_size> out_fields{};

    relaxed_counter receive_calls, send_calls, send_would_block, send_errors, socket_errors;

    body() {
        for (std::size_t i = 0; i < batch_size; ++i) {
            in_pieces[i] = {staging.data() + i * slot_size, slot_size};
            in[i].msg_hdr.msg_name = &in_from[i];
            in[i].msg_hdr.msg_iov = &in_pieces[i];
            in[i].msg_hdr.msg_iovlen = 1;
            out[i].msg_hdr.msg_name = &out_to[i];
            out[i].msg_hdr.msg_iov = out_pieces[i].data();
        }
    }

    std::size_t receive_single_mode(std::span<received_datagram> datagrams) noexcept;
    std::size_t receive_one(received_datagram& datagram) noexcept;
    std::size_t receive_many(std::span<received_datagram> datagrams, std::size_t first_slot) noexcept;
    bool error_is_passed_over() noexcept;
    void learn(bool other_mode_fits) noexcept;
    int send_some(std::span<const outgoing_datagram> datagrams) noexcept;
    int send_gathered(const outgoing_datagram& d) noexcept;
    void describe(std::size_t i, const outgoing_datagram& d) noexcept;
    void set_fields(std::size_t i, const destination& to) noexcept;
};

/// ICMP and device errors surface as errors of the next receive; the socket works on (bugs of other
/// receivers: the loop ends at ECONNREFUSED).
bool udp_link::body::error_is_passed_over() noexcept {
    if (would_block(errno)) return false;
    socket_errors.add();
    return true;
}

std::size_t udp_link::body::receive_one(received_datagram& datagram) noexcept {
    for (int attempt = 0; attempt < 8; ++attempt) {
        socklen_t size = sizeof in_from[0];
        const ssize_t n =
            ::recvfrom(socket.fd.get(), staging.data(), slot_size, MSG_TRUNC, &in_from[0].generic, &size);
        if (n >= 0) {
            const auto length = static_cast<std::size_t>(n);
            datagram = {gid_of(in_from[0]),
                        port_of(in_from[0]),
                        length > slot_size,
                        {staging.data(), std::min(length, slot_size)}};
            return 1;
        }
        if (!error_is_passed_over()) return 0;
    }
    return 0;
}

std::size_t udp_link::body::receive_many(std::span<received_datagram> datagrams,
                                         std::size_t first_slot) noexcept {
    const std::size_t room = std::min(datagrams.size(), batch_size - first_slot);
    mmsghdr* const messages = in.data() + first_slot;
    for (std::size_t i = 0; i < room; ++i) messages[i].msg_hdr.msg_namelen = sizeof in_from[0];
    int n = -1;
    for (int attempt = 0; attempt < 8 && n < 0; ++attempt) {
        n = ::recvmmsg(socket.fd.get(), messages, static_cast<unsigned>(room), 0, nullptr);
        if (n < 0 && !error_is_passed_over()) return 0;
    }
    const std::size_t got = n > 0 ? static_cast<std::size_t>(n) : 0;
    for (std::size_t i = 0; i < got; ++i) {
        const socket_address& from = in_from[first_slot + i];
        datagrams[i] = {gid_of(from),
                        port_of(from),
                        (messages[i].msg_hdr.msg_flags & MSG_TRUNC) != 0,
                        {staging.data() + (first_slot + i) * slot_size, messages[i].msg_len}};
    }
    return got;
}

/// One small datagram is the usual thing while messages go to and fro. After a long one the rest is fetched
/// too: the kernel gives a socket's memory back only when its queue was read to the end (or by quarters of
/// SO_RCVBUF), so acknowledging before that would let a peer with a full window overrun the buffer.
std::size_t udp_link::body::receive_single_mode(std::span<received_datagram> datagrams) noexcept {
    const std::size_t n = receive_one(datagrams.front());
    learn(n == 1);
    if (n == 0 || datagrams.front().bytes.size() < large_datagram || datagrams.size() == 1) return n;
    return n + receive_many(datagrams.subspan(1), 1);
}

/// Four sweeps in a row that the other mode would have served better change the mode.
void udp_link::body::learn(bool other_mode_fits) noexcept {
    streak = other_mode_fits ? streak + 1 : 0;
    if (streak < streak_of_burst) return;
    burst = !burst;
    streak = 0;
}

void udp_link::body::set_fields(std::size_t i, const destination& to) noexcept {
    msghdr& m = out[i].msg_hdr;
    if (is_plain(to)) {
        m.msg_control = nullptr;
        m.msg_controllen = 0;
        return;
    }
    m.msg_control = out_fields[i].space.data();
    m.msg_controllen = out_fields[i].space.size();
    const bool v4 = to.address.is_v4_mapped();
    const std::array<std::pair<int, int>, 2> fields{
        {{v4 ? IP_TTL : IPV6_HOPLIMIT, to.hop_limit}, {v4 ? IP_TOS : IPV6_TCLASS, to.traffic_class}}};
    cmsghdr* c = CMSG_FIRSTHDR(&m);
    for (const auto& [type, value] : fields) {
        c->cmsg_level = v4 ? IPPROTO_IP : IPPROTO_IPV6;
        c->cmsg_type = type;
        c->cmsg_len = CMSG_LEN(sizeof value);
        std::memcpy(CMSG_DATA(c), &value, sizeof value);
        c = reinterpret_cast<cmsghdr*>(reinterpret_cast<std::byte*>(c) + CMSG_SPACE(sizeof value));
    }
}

void udp_link::body::describe(std::size_t i, const outgoing_datagram& d) noexcept {
    out_to[i] = to_socket_address(d.to->address, d.to->port, socket.scope);
    out[i].msg_hdr.msg_namelen = size_of(out_to[i]);
    std::size_t pieces = 0;
    for (const auto part : {d.header, d.payload, d.trailer})
        if (!part.empty()) out_pieces[i][pieces++] = piece(part);
    out[i].msg_hdr.msg_iovlen = pieces;
    set_fields(i, *d.to);
}

int udp_link::body::send_gathered(const outgoing_datagram& d) noexcept {
    std::array<std::byte, gather_limit> bytes;
    std::byte* end = bytes.data();
    for (const auto part : {d.header, d.payload, d.trailer}) end = std::copy(part.begin(), part.end(), end);
    const socket_address to = to_socket_address(d.to->address, d.to->port, socket.scope);
    const auto size = static_cast<std::size_t>(end - bytes.data());
    return ::sendto(socket.fd.get(), bytes.data(), size, 0, &to.generic, size_of(to)) < 0 ? -1 : 1;
}

/// Gives how many were sent, -1 with errno when the first one was not.
int udp_link::body::send_some(std::span<const outgoing_datagram> datagrams) noexcept {
    send_calls.add();
    const outgoing_datagram& first = datagrams.front();
    if (datagrams.size() == 1 && is_plain(*first.to) && first.size() <= gather_limit)
        return send_gathered(first);

    const std::size_t n = std::min(datagrams.size(), batch_size);
    for (std::size_t i = 0; i < n; ++i) describe(i, datagrams[i]);
    if (n == 1) return ::sendmsg(socket.fd.get(), &out[0].msg_hdr, 0) < 0 ? -1 : 1;
    return ::sendmmsg(socket.fd.get(), out.data(), static_cast<unsigned>(n), 0);
}

udp_link::udp_link(std::unique_ptr<body> b) noexcept : body_(std::move(b)) {}
udp_link::~udp_link() = default;

error_info udp_link::open(const udp_link_config& config, std::unique_ptr<udp_link>& out) {
    auto made = std::make_unique<body>();
    if (auto bad = open_udp_socket(config, made->socket)) return bad;
    made->address = config.address;
    out.reset(new udp_link(std::move(made)));
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

std::size_t udp_link::receive(std::span<received_datagram> out, time_point) noexcept {
    if (out.empty()) return 0;
    body& b = *body_;
    const bool was_burst = b.burst;
    const std::size_t n = was_burst ? b.receive_many(out, 0) : b.receive_single_mode(out);
    if (was_burst) b.learn(n <= 1);
    if (n != 0) b.receive_calls.add();
    return n;
}

std::size_t udp_link::send(std::span<const outgoing_datagram> datagrams, time_point) noexcept {
    std::size_t taken = 0;
    while (taken < datagrams.size()) {
        const int n = body_->send_some(datagrams.subspan(taken));
        if (n > 0) {
            taken += static_cast<std::size_t>(n);
        } else if (would_block(errno)) {
            body_->send_would_block.add();
            break;
        } else {
            body_->send_errors.add(); // no route, too long, refused by a firewall: lost like on a wire
            ++taken;
        }
    }
    return taken;
}

link_interface udp_link::interface() const {
    const auto found = find_local_address(body_->address);
    if (!found) return {{}, {}, 0, false};
    return {found->netdev, found->prefix, found->mtu, found->up};
}

void udp_link::append_counters(std::vector<device_snapshot::counter>& out) const {
    const body& b = *body_;
    out.push_back({"receive_batches", b.receive_calls.value()});
    out.push_back({"send_batches", b.send_calls.value()});
    out.push_back({"send_would_block", b.send_would_block.value()});
    out.push_back({"send_errors", b.send_errors.value()});
    out.push_back({"socket_errors", b.socket_errors.value()});
    out.push_back({"drops.socket_overflow", socket_overflows(b.socket.fd.get())});
}

} // namespace rocio::soft
