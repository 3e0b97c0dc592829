#pragma once

#include <rocio/types/gid.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace rocio::wire {

/// What the invariant CRC covers besides the packet: IP addresses and UDP ports. The address family is that
/// of the GIDs (IPv4-mapped: IPv4).
struct icrc_flow {
    gid source{};
    gid destination{};
    std::uint16_t source_port = 4791;
    std::uint16_t destination_port = 4791;
};

/// Computes and checks the ICRC (RoCEv2 annex A17.3) of one flow. Construction prepares the constant part, so
/// keep one per peer and UDP source port. For IPv4 the sender's IP id, flags DF and fragment offset 0 are
/// covered: see docs/wire.md.
class icrc_engine {
  public:
    explicit icrc_engine(const icrc_flow& flow) noexcept;

    /// ICRC of `headers` (BTH and extension headers) + `payload` + its pad bytes, sent with IP identification
    /// `ip_id` (ignored for IPv6). Store it little-endian.
    std::uint32_t compute(std::span<const std::byte> headers, std::span<const std::byte> payload,
                          std::uint16_t ip_id = 0) const noexcept;

    /// ICRC of a received packet's bytes (BTH to ICRC, at least 16) as if its IP id were `ip_id`. The stored
    /// ICRC is not looked at.
    std::uint32_t of_packet(std::span<const std::byte> bth_to_icrc, std::uint16_t ip_id = 0) const noexcept;

    /// exact: the ICRC fits `ip_id`. Damage passes once in 2^32. False also for sizes that no packet has:
    /// below 16, above max_packet_size, no multiple of 4.
    bool check_exact(std::span<const std::byte> bth_to_icrc, std::uint16_t ip_id = 0) const noexcept;

    /// solve: the IP id for which the ICRC fits, or nothing if none does. A socket does not show the id, and
    /// CRC is linear, so the id can be computed from the difference. Finds every single-bit error; other
    /// damage passes once in 65,536. For IPv6: 0 if the ICRC fits. Nothing for sizes that no packet has.
    std::optional<std::uint16_t> solve_id(std::span<const std::byte> bth_to_icrc) const noexcept;

  private:
    std::uint32_t after_prefix(std::size_t packet_size, std::uint16_t ip_id) const noexcept;

    std::uint32_t prefix_state_; // CRC register behind LRH, IP and UDP headers with length and id as zero
    bool v6_;
};

} // namespace rocio::wire
