#include "soft/udp_sender.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <netinet/in.h>
#include <netinet/udp.h>

namespace rocio::soft {

namespace {

#ifndef UDP_SEGMENT
constexpr int UDP_SEGMENT = 103;
#endif
#ifndef UDP_NO_CHECK6_TX
constexpr int UDP_NO_CHECK6_TX = 101;
#endif

static_assert(longest_segment_train <= 16, "a train must fit into the pieces of a batch");

/// sendto() from one buffer beats sendmsg() with three pieces while the copy is short; one after the other it
/// also beats sendmmsg() for so many.
constexpr std::size_t gather_limit = 256;
constexpr std::size_t few = 2;

bool is_full(int error) noexcept {
    return error == EAGAIN || error == EWOULDBLOCK || error == ENOBUFS;
}

/// The interface, the kernel or a tunnel cannot segment; each datagram by itself it may well carry.
bool cannot_segment(int error) noexcept {
    return error == EIO || error == EINVAL || error == EOPNOTSUPP || error == EMSGSIZE ||
           error == ENOPROTOOPT;
}

/// What the socket sends without being told per datagram.
bool is_plain(const destination& to) noexcept {
    return to.hop_limit == destination{}.hop_limit && to.traffic_class == 0;
}

iovec piece(std::span<const std::byte> bytes) noexcept {
    return {const_cast<std::byte*>(bytes.data()), bytes.size()};
}

/// How many datagrams from the front leave in one segmented send; 1: none.
std::size_t train_at_front(std::span<const outgoing_datagram> datagrams) noexcept {
    std::size_t n = 1;
    while (n < datagrams.size() && datagrams[n].segment == n) ++n;
    return n;
}

/// How many datagrams from the front stand for themselves.
std::size_t single_at_front(std::span<const outgoing_datagram> datagrams, std::size_t most) noexcept {
    std::size_t n = 0;
    while (n < std::min(datagrams.size(), most) && train_at_front(datagrams.subspan(n)) == 1) ++n;
    return n;
}

std::span<const std::byte> gather(std::span<const outgoing_datagram> datagrams,
                                  std::span<std::byte> into) noexcept {
    auto end = into.begin();
    for (const auto& d : datagrams)
        for (const auto part : {d.header, d.payload, d.trailer})
            end = std::copy(part.begin(), part.end(), end);
    return {into.begin(), end};
}

bool all_take_checksums(std::span<const outgoing_datagram> datagrams) noexcept {
    return std::all_of(datagrams.begin(), datagrams.end(), [](const auto& d) { return d.to->trains; });
}

template <class T>
void add_control(msghdr& m, int level, int type, T value) noexcept {
    auto* const c = reinterpret_cast<cmsghdr*>(static_cast<std::byte*>(m.msg_control) + m.msg_controllen);
    c->cmsg_level = level;
    c->cmsg_type = type;
    c->cmsg_len = CMSG_LEN(sizeof value);
    std::memcpy(CMSG_DATA(c), &value, sizeof value);
    m.msg_controllen += CMSG_SPACE(sizeof value);
}

} // namespace

udp_sender::udp_sender(int fd, bool v4, std::uint32_t scope) : fd_(fd), v4_(v4), scope_(scope) {
    for (std::size_t i = 0; i < batch_size; ++i) out_[i].msg_hdr.msg_name = &to_[i];
}

std::size_t udp_sender::send(std::span<const outgoing_datagram> datagrams) noexcept {
    std::size_t taken = 0;
    while (taken < datagrams.size()) {
        const auto rest = datagrams.subspan(taken);
        const std::size_t train = train_at_front(rest);
        const int n = send_some(rest);
        if (n > 0) {
            taken += static_cast<std::size_t>(n);
        } else if (is_full(errno)) {
            would_block.add();
            break;
        } else if (train > 1 && cannot_segment(errno)) {
            longest_train_ = 1;
            break;
        } else {
            errors.add(train); // no route, too long, refused by a firewall: lost like on a wire
            taken += train;
        }
    }
    return taken;
}

/// Gives how many were sent, -1 with errno when the first one was not.
int udp_sender::send_some(std::span<const outgoing_datagram> datagrams) noexcept {
    calls.add();
    const std::size_t train = train_at_front(datagrams);
    if (train > 1) return send_train(datagrams.first(train));
    const outgoing_datagram& first = datagrams.front();
    const std::size_t n = single_at_front(datagrams, batch_size);
    if (checksums_ && !all_take_checksums(datagrams.first(n))) set_checksums(false);
    if (n <= few && is_plain(*first.to) && first.size() <= gather_limit) return send_gathered(first);
    for (std::size_t i = 0; i < n; ++i) describe(i, datagrams[i], 3 * i);
    if (n == 1) return ::sendmsg(fd_, &out_[0].msg_hdr, 0) < 0 ? -1 : 1;
    return ::sendmmsg(fd_, out_.data(), static_cast<unsigned>(n), 0);
}

int udp_sender::send_gathered(const outgoing_datagram& d) noexcept {
    std::array<std::byte, gather_limit> bytes;
    const auto all = gather({&d, 1}, bytes);
    const socket_address to = to_socket_address(d.to->address, d.to->port, scope_);
    return ::sendto(fd_, all.data(), all.size(), 0, &to.generic, size_of(to)) < 0 ? -1 : 1;
}

int udp_sender::send_train(std::span<const outgoing_datagram> train) noexcept {
    if (!checksums_ && !set_checksums(true)) return -1;
    describe(0, train.front(), 0);
    msghdr& m = out_[0].msg_hdr;
    std::array<std::byte, gather_limit> bytes;
    if (train.size() * train.front().size() <= gather_limit) {
        pieces_[0] = piece(gather(train, bytes));
        m.msg_iovlen = 1;
    } else {
        for (const auto& d : train.subspan(1)) m.msg_iovlen += add_pieces(d, m.msg_iovlen);
    }
    if (m.msg_control == nullptr) {
        m.msg_control = controls_[0].space.data();
        m.msg_controllen = 0;
    }
    add_control(m, IPPROTO_UDP, UDP_SEGMENT, static_cast<std::uint16_t>(train.front().size()));
    if (::sendmsg(fd_, &m, 0) < 0) return -1;
    trains.add();
    return static_cast<int>(train.size());
}

std::size_t udp_sender::add_pieces(const outgoing_datagram& d, std::size_t first) noexcept {
    std::size_t n = 0;
    for (const auto part : {d.header, d.payload, d.trailer})
        if (!part.empty()) pieces_[first + n++] = piece(part);
    return n;
}

void udp_sender::describe(std::size_t i, const outgoing_datagram& d, std::size_t first_piece) noexcept {
    to_[i] = to_socket_address(d.to->address, d.to->port, scope_);
    msghdr& m = out_[i].msg_hdr;
    m.msg_namelen = size_of(to_[i]);
    m.msg_iov = &pieces_[first_piece];
    m.msg_iovlen = add_pieces(d, first_piece);
    set_fields(i, *d.to);
}

void udp_sender::set_fields(std::size_t i, const destination& to) noexcept {
    msghdr& m = out_[i].msg_hdr;
    m.msg_control = nullptr;
    m.msg_controllen = 0;
    if (is_plain(to)) return;
    m.msg_control = controls_[i].space.data();
    const int level = v4_ ? IPPROTO_IP : IPPROTO_IPV6;
    add_control(m, level, v4_ ? IP_TTL : IPV6_HOPLIMIT, static_cast<int>(to.hop_limit));
    add_control(m, level, v4_ ? IP_TOS : IPV6_TCLASS, static_cast<int>(to.traffic_class));
}

bool udp_sender::set_checksums(bool on) noexcept {
    const int off = on ? 0 : 1;
    const int result = v4_ ? setsockopt(fd_, SOL_SOCKET, SO_NO_CHECK, &off, sizeof off)
                           : setsockopt(fd_, IPPROTO_UDP, UDP_NO_CHECK6_TX, &off, sizeof off);
    if (result == 0) checksums_ = on;
    return result == 0;
}

} // namespace rocio::soft
