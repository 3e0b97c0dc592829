#pragma once

#include <rocio/soft/link.hpp>
#include <rocio/types/error.hpp>

#include <memory>
#include <string>

namespace rocio::soft {

/// Wraps a link and writes every datagram that passes it into a capture file, as Ethernet frames with IP and
/// UDP headers around the bytes. A socket shows neither the IP id of what arrives nor its other IP fields;
/// the id is computed from the ICRC, so that a reader who checks the ICRC finds good packets good and bad
/// ones bad. The MAC addresses, TTL and traffic class of received packets are made up.
///
/// Put it next to the socket, below a fault_link, to see what was on the wire. What was written is in the
/// file after at most 100 ms, or when the link is destroyed.
class pcap_link final : public link {
  public:
    /// Makes the file, or empties it. Errors: the system's own for a file that cannot be written.
    static error_info open(std::unique_ptr<link> inner, const std::string& file, std::unique_ptr<link>& out);
    ~pcap_link() override;

    const gid& address() const noexcept override;
    std::uint16_t port() const noexcept override;
    std::size_t receive(std::span<received_datagram> out, time_point now) noexcept override;
    std::size_t send(std::span<const outgoing_datagram> datagrams, time_point now) noexcept override;
    int fd() const noexcept override;
    bool progress(time_point now) noexcept override;
    time_point next_deadline() const noexcept override;
    std::uint32_t receive_buffer() const noexcept override;
    std::uint8_t longest_train() const noexcept override;
    link_interface interface() const override;
    /// The inner link's, then "captured_packets".
    void append_counters(std::vector<device_snapshot::counter>& out) const override;

  private:
    struct body;
    explicit pcap_link(std::unique_ptr<body> b) noexcept;
    std::unique_ptr<body> body_;
};

} // namespace rocio::soft
