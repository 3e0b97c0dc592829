#include "bench/datagram_socket.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

#include <netinet/udp.h>
#include <sys/time.h>
#include <unistd.h>

namespace rocio::tools {

namespace {

constexpr timeval longest_sleep{0, 20'000};

[[noreturn]] void fail(const char* what) {
    throw std::system_error(errno, std::generic_category(), what);
}

template <class Value>
void set(int fd, int level, int option, const Value& value, const char* what) {
    if (::setsockopt(fd, level, option, &value, sizeof value) != 0) fail(what);
}

std::size_t bytes_or_none(ssize_t n) noexcept {
    return n > 0 ? static_cast<std::size_t>(n) : 0;
}

} // namespace

datagram_socket::datagram_socket(std::uint32_t address, waiting how)
    : fd_(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | (how == waiting::spins ? SOCK_NONBLOCK : 0), 0)) {
    if (fd_ < 0) fail("socket");
    set(fd_, IPPROTO_IP, IP_MTU_DISCOVER, int{IP_PMTUDISC_DO}, "IP_MTU_DISCOVER");
    set(fd_, SOL_SOCKET, SO_RCVTIMEO, longest_sleep, "SO_RCVTIMEO");
    sockaddr_in a{};
    a.sin_family = AF_INET;
    a.sin_addr.s_addr = htonl(address);
    if (::bind(fd_, reinterpret_cast<const sockaddr*>(&a), sizeof a) != 0) fail("bind");
    socklen_t size = sizeof here_;
    ::getsockname(fd_, reinterpret_cast<sockaddr*>(&here_), &size);
}

datagram_socket::~datagram_socket() {
    ::close(fd_);
}

void datagram_socket::send(std::span<const std::uint8_t> bytes, const sockaddr_in& to) const {
    ::sendto(fd_, bytes.data(), bytes.size(), 0, reinterpret_cast<const sockaddr*>(&to), sizeof to);
}

std::size_t datagram_socket::receive(std::span<std::uint8_t> bytes) const {
    return bytes_or_none(::recv(fd_, bytes.data(), bytes.size(), 0));
}

std::size_t datagram_socket::take(std::span<std::uint8_t> bytes) const {
    return bytes_or_none(::recv(fd_, bytes.data(), bytes.size(), MSG_DONTWAIT));
}

void datagram_socket::coalesce() const {
    set(fd_, IPPROTO_UDP, UDP_GRO, int{1}, "UDP_GRO");
}

datagram_batch::datagram_batch(std::size_t bytes) : memory_(most * bytes) {
    for (std::size_t i = 0; i < most; ++i) {
        parts_[i] = {memory_.data() + i * bytes, bytes};
        messages_[i].msg_hdr.msg_iov = &parts_[i];
        messages_[i].msg_hdr.msg_iovlen = 1;
    }
}

void datagram_batch::address(const sockaddr_in& to) noexcept {
    to_ = to;
    for (auto& m : messages_) {
        m.msg_hdr.msg_name = &to_;
        m.msg_hdr.msg_namelen = sizeof to_;
    }
}

std::size_t datagram_batch::send(const datagram_socket& socket, std::size_t n) {
    return bytes_or_none(
        ::sendmmsg(socket.fd(), messages_.data(), static_cast<unsigned>(std::min(n, most)), 0));
}

std::size_t datagram_batch::receive(const datagram_socket& socket, std::size_t n) {
    // One is waited for where the socket waits at all.
    return bytes_or_none(::recvmmsg(socket.fd(), messages_.data(), static_cast<unsigned>(std::min(n, most)),
                                    MSG_WAITFORONE, nullptr));
}

datagram_train::datagram_train(std::uint16_t bytes, std::size_t cars, const sockaddr_in& to)
    : memory_(bytes * cars), to_(to), part_{memory_.data(), memory_.size()} {
    message_.msg_name = &to_;
    message_.msg_namelen = sizeof to_;
    message_.msg_iov = &part_;
    message_.msg_iovlen = 1;
    message_.msg_control = control_.data();
    message_.msg_controllen = control_.size();
    auto* segment = CMSG_FIRSTHDR(&message_);
    segment->cmsg_level = IPPROTO_UDP;
    segment->cmsg_type = UDP_SEGMENT;
    segment->cmsg_len = CMSG_LEN(sizeof bytes);
    std::memcpy(CMSG_DATA(segment), &bytes, sizeof bytes);
}

bool datagram_train::send(const datagram_socket& socket) {
    return ::sendmsg(socket.fd(), &message_, 0) > 0;
}

} // namespace rocio::tools
