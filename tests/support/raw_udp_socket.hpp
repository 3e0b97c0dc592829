#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace rocio::test {

/// A plain UDP socket: the stranger, or a peer made by hand. Port 0: any free one.
class raw_udp_socket {
  public:
    explicit raw_udp_socket(const std::string& address, std::uint16_t port = 0)
        : fd_(::socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)) {
        const sockaddr_in a = place(address, port);
        if (fd_ < 0 || ::bind(fd_, reinterpret_cast<const sockaddr*>(&a), sizeof a) != 0)
            throw std::runtime_error("cannot bind " + address);
    }
    raw_udp_socket(const raw_udp_socket&) = delete;
    raw_udp_socket& operator=(const raw_udp_socket&) = delete;
    ~raw_udp_socket() { ::close(fd_); }

    int fd() const noexcept { return fd_; }
    std::uint16_t port() const {
        sockaddr_in a{};
        socklen_t size = sizeof a;
        ::getsockname(fd_, reinterpret_cast<sockaddr*>(&a), &size);
        return ntohs(a.sin_port);
    }
    void send(std::span<const std::byte> bytes, const std::string& to, std::uint16_t port = 4791) {
        const sockaddr_in a = place(to, port);
        ASSERT_EQ(
            ::sendto(fd_, bytes.data(), bytes.size(), 0, reinterpret_cast<const sockaddr*>(&a), sizeof a),
            static_cast<ssize_t>(bytes.size()));
    }
    /// The next datagram, waited for up to five seconds; empty when none came.
    std::vector<std::byte> receive() {
        pollfd p{fd_, POLLIN, 0};
        if (::poll(&p, 1, 5'000) != 1) return {};
        std::vector<std::byte> bytes(65'536);
        alignas(cmsghdr) std::array<std::byte, 256> control;
        iovec piece{bytes.data(), bytes.size()};
        msghdr m{};
        m.msg_iov = &piece;
        m.msg_iovlen = 1;
        m.msg_control = control.data();
        m.msg_controllen = control.size();
        const ssize_t n = ::recvmsg(fd_, &m, 0);
        bytes.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
        note_ip_fields(m);
        return bytes;
    }

    /// From now on receive() also learns TTL and TOS.
    void ask_for_ip_fields() {
        const int on = 1;
        ASSERT_EQ(::setsockopt(fd_, IPPROTO_IP, IP_RECVTTL, &on, sizeof on), 0);
        ASSERT_EQ(::setsockopt(fd_, IPPROTO_IP, IP_RECVTOS, &on, sizeof on), 0);
    }
    int last_ttl() const noexcept { return ttl_; }
    int last_tos() const noexcept { return tos_; }

    static sockaddr_in place(const std::string& address, std::uint16_t port) {
        sockaddr_in a{};
        a.sin_family = AF_INET;
        a.sin_port = htons(port);
        if (::inet_pton(AF_INET, address.c_str(), &a.sin_addr) != 1)
            throw std::runtime_error("bad address " + address);
        return a;
    }

  private:
    void note_ip_fields(msghdr& m) {
        for (cmsghdr* c = CMSG_FIRSTHDR(&m); c != nullptr; c = CMSG_NXTHDR(&m, c)) {
            if (c->cmsg_type == IP_TTL) std::memcpy(&ttl_, CMSG_DATA(c), sizeof ttl_);
            if (c->cmsg_type == IP_TOS) tos_ = *CMSG_DATA(c);
        }
    }

    int fd_;
    int ttl_ = -1, tos_ = -1;
};

} // namespace rocio::test
