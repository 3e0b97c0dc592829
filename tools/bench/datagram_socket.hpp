#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <netinet/in.h>
#include <sys/socket.h>

namespace rocio::tools {

/// A UDP socket on a free port of a loopback address, as the soft device makes its own: unfragmented. What
/// the kernel does not take or has not got is 0 bytes, not an error. Throws std::system_error.
class datagram_socket {
  public:
    enum class waiting : bool { spins, sleeps };

    /// `address` in host order. A socket that sleeps blocks in receive() for at most 20 ms.
    datagram_socket(std::uint32_t address, waiting how);
    ~datagram_socket();
    datagram_socket(const datagram_socket&) = delete;
    datagram_socket& operator=(const datagram_socket&) = delete;

    int fd() const noexcept { return fd_; }
    const sockaddr_in& here() const noexcept { return here_; }
    void send(std::span<const std::uint8_t> bytes, const sockaddr_in& to) const;
    std::size_t receive(std::span<std::uint8_t> bytes) const;
    /// Without waiting.
    std::size_t take(std::span<std::uint8_t> bytes) const;
    /// Lets the kernel hand over a train of datagrams in one piece (UDP_GRO).
    void coalesce() const;

  private:
    int fd_;
    sockaddr_in here_{};
};

/// Room for a batch of datagrams of one size.
class datagram_batch {
  public:
    static constexpr std::size_t most = 16;

    explicit datagram_batch(std::size_t bytes);
    datagram_batch(const datagram_batch&) = delete;
    datagram_batch& operator=(const datagram_batch&) = delete;

    void address(const sockaddr_in& to) noexcept;
    /// At most `n` and at most `most`; give how many moved.
    std::size_t send(const datagram_socket& socket, std::size_t n);
    std::size_t receive(const datagram_socket& socket, std::size_t n);

  private:
    std::vector<std::uint8_t> memory_;
    sockaddr_in to_{};
    std::array<iovec, most> parts_{};
    std::array<mmsghdr, most> messages_{};
};

/// A train of datagrams that leaves in one call (UDP_SEGMENT).
class datagram_train {
  public:
    /// `cars` datagrams of `bytes` each; together at most 65,507.
    datagram_train(std::uint16_t bytes, std::size_t cars, const sockaddr_in& to);
    datagram_train(const datagram_train&) = delete;
    datagram_train& operator=(const datagram_train&) = delete;

    /// All or nothing; false when the kernel has no room.
    bool send(const datagram_socket& socket);

  private:
    std::vector<std::uint8_t> memory_;
    sockaddr_in to_;
    iovec part_{};
    alignas(cmsghdr) std::array<std::uint8_t, CMSG_SPACE(sizeof(std::uint16_t))> control_{};
    msghdr message_{};
};

} // namespace rocio::tools
