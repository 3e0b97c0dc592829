#pragma once

#include <rocio/device/device_snapshot.hpp>
#include <rocio/types/gid.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace rocio::soft {

using time_point = std::chrono::steady_clock::time_point;

/// Bytes of the longest packet: path MTU 4096, 44 of headers, pad and ICRC.
inline constexpr std::size_t longest_packet = 4'096 + 44 + 3 + 4;
/// Datagrams of the longest train, so that 4 KiB packets stay within one UDP datagram.
inline constexpr std::uint8_t longest_segment_train = 15;

/// Where a datagram goes and the IP fields it carries there. Both fields are masked in the ICRC.
struct destination {
    gid address{};
    std::uint16_t port = 4791;
    std::uint8_t hop_limit = 64;
    std::uint8_t traffic_class = 0;
    /// Takes trains, and therefore datagrams with a UDP checksum, which RoCEv2 leaves zero (annex A17.3.2).
    bool trains = false;
};

/// One datagram to send: `header`, `payload` and `trailer` (pad and ICRC) in this order. All views, and `to`,
/// must stay valid during link::send() only.
struct outgoing_datagram {
    const destination* to = nullptr;
    std::span<const std::byte> header{};
    std::span<const std::byte> payload{};
    std::span<const std::byte> trailer{};
    /// Above 0: it is that one in a train, behind the datagrams before it, all of them to one destination and
    /// as long as the first, but the last, which may be shorter. Its ICRC is that of IP id `segment`.
    std::uint8_t segment = 0;

    std::size_t size() const noexcept { return header.size() + payload.size() + trailer.size(); }
};

/// One received datagram; `bytes` belong to the link and are valid until its next receive().
struct received_datagram {
    gid source{};
    std::uint16_t source_port = 0;
    bool truncated = false; ///< Longer than any packet; `bytes` is only its beginning.
    std::span<const std::byte> bytes{};
};

/// The network interface behind a link's address.
struct link_interface {
    std::string netdev{};
    std::optional<unsigned> prefix{}; ///< Bits of the address itself.
    std::uint32_t mtu = 0;            ///< Bytes, 0 where unknown.
    bool up = true;
};

/// Carries UDP payloads for one address by plain calls that never wait. Links compose: a fault_link wraps
/// another one. Not thread-safe, except append_counters() and the constants (address(), port()).
class link {
  public:
    virtual ~link() = default;

    virtual const gid& address() const noexcept = 0;
    virtual std::uint16_t port() const noexcept = 0; ///< The UDP port datagrams leave from and arrive at.

    /// Fills `out` from the front and gives how many arrived. When it gives all of out.size() more may wait;
    /// fewer means: come again with the next progress. Errors that ICMP reported are counted and passed over.
    virtual std::size_t receive(std::span<received_datagram> out, time_point now) noexcept = 0;

    /// Gives how many of `datagrams`, from the front, the link took; fewer means back-pressure: offer the
    /// rest later, and never a part of a train. A datagram that can never be sent (no route, too long for the
    /// interface) counts as taken and lost.
    virtual std::size_t send(std::span<const outgoing_datagram> datagrams, time_point now) noexcept = 0;

    /// Readable when receive() has something; -1: the link has no descriptor.
    virtual int fd() const noexcept { return -1; }
    /// Sends what the link itself holds back and is due. True when it sent anything.
    virtual bool progress(time_point now) noexcept { return (void)now, false; }
    /// When progress() has something to do; time_point::max(): never.
    virtual time_point next_deadline() const noexcept { return time_point::max(); }

    /// Bytes that the receiving socket holds, in the kernel's count (SO_RCVBUF); 0: without limit.
    virtual std::uint32_t receive_buffer() const noexcept { return 0; }
    /// Datagrams that a train may have; 1: none is carried. May fall to 1 when a send fails.
    virtual std::uint8_t longest_train() const noexcept { return 1; }
    /// As it is now.
    virtual link_interface interface() const = 0;
    /// Appends this link's counters. Any thread.
    virtual void append_counters(std::vector<device_snapshot::counter>& out) const = 0;

  protected:
    link() = default;
    link(const link&) = delete;
    link& operator=(const link&) = delete;
};

} // namespace rocio::soft
