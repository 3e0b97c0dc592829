#pragma once

#include <rocio/soft/link.hpp>
#include <rocio/types/error.hpp>

#include <cstdint>
#include <memory>

namespace rocio::soft {

struct udp_link_config {
    gid address{};                    ///< On one of this machine's interfaces; IPv4-mapped: IPv4.
    std::uint16_t port = 4791;        ///< 0: any free port.
    std::uint32_t receive_buffer = 0; ///< Bytes in the kernel's count; 0: the system's default.
};

/// One unconnected UDP socket. Linux gives a datagram of such a socket the IP id 0 when IP_PMTUDISC_DO is
/// set, which is what makes an ICRC over IPv4 computable in user space (captures peer_sock_*). Datagrams
/// carry no UDP checksum, as RoCEv2 asks (annex A17.3.2). Over IPv6 there is no id.
///
/// A train leaves by one segmented send (UDP_SEGMENT), in which Linux numbers the IP ids from 0 and which it
/// does only with UDP checksums; where interface or kernel cannot, longest_train() becomes 1.
class udp_link final : public link {
  public:
    /// Errors: errc::invalid_argument (no unicast address), errc::address_not_available,
    /// errc::address_in_use, errc::address_in_use_by_kernel (rdma_rxe), errc::limit_exceeded (receive_buffer
    /// above what the system grants), and the system's own for a port this user may not bind or a process
    /// without descriptors.
    static error_info open(const udp_link_config& config, std::unique_ptr<udp_link>& out);
    ~udp_link() override;

    const gid& address() const noexcept override;
    std::uint16_t port() const noexcept override;
    std::size_t receive(std::span<received_datagram> out, time_point now) noexcept override;
    std::size_t send(std::span<const outgoing_datagram> datagrams, time_point now) noexcept override;
    int fd() const noexcept override;
    std::uint32_t receive_buffer() const noexcept override;
    std::uint8_t longest_train() const noexcept override;
    link_interface interface() const override;
    void append_counters(std::vector<device_snapshot::counter>& out) const override;

  private:
    struct body;
    explicit udp_link(std::unique_ptr<body> b) noexcept;
    std::unique_ptr<body> body_;
};

} // namespace rocio::soft
