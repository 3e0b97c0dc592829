#pragma once

#include <rocio/types/gid.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace rocio::wire {

/// What the invariant CRC covers besides the packet: IP addresses and UDP ports. The address family is that of the
/// GIDs (IPv4-mapped: IPv4).
struct icrc_flow {
    gid source{};
    gid destination{};
    std::uint16_t source_port = 4791;
    std::uint16_t destination_port = 4791;
};

/// Computes and checks the ICRC (RoCEv2 annex A17.3) of one flow. Construction prepares the constant part, so keep
/// one per peer. For IPv4 the sender's IP id, flags DF and fragment offset 0 are covered: see docs/wire.md.
class icrc_engine {
  public:
    explicit icrc_engine(const icrc_flow& flow) noexcept;

    /// ICRC of `headers` (BTH and extension headers) + `payload` + its pad bytes, sent with IP identification
    /// `ip_id` (ignored for IPv6). Store it little-endian.
    std::uint32_t compute(std::span<const std::byte> headers, std::span<const std::byte> payload,
                          std::uint16_t ip_id = 0) const noexcept;

    /// ICRC of a received packet's bytes (BTH to ICRC, at least 16, at most 9,216) as if its IP id were `ip_id`.
    std::uint32_t of_packet(std::span<const std::byte> bth_to_icrc, std::uint16_t ip_id = 0) const noexcept;

    /// exact: the ICRC fits `ip_id`.
    bool check_exact(std::span<const std::byte> bth_to_icrc, std::uint16_t ip_id = 0) const noexcept;

    /// solve: the IP id for which the ICRC fits, or nothing if none does. A socket does not show the id, and CRC is
    /// linear, so the id can be computed from the difference. Finds every single-bit error; other damage passes once
    /// in 65,536. For IPv6: 0 if the ICRC fits.
    std::optional<std::uint16_t> solve_id(std::span<const std::byte> bth_to_icrc) const noexcept;

  private:
    std::uint32_t running(std::size_t udp_payload, std::span<const std::byte> headers, std::uint16_t ip_id) const noexcept;

    bool v6_ = false;
    std::uint8_t prefix_[56]{}; // masked LRH, IP and UDP headers; length and id are filled in per packet
    std::uint8_t prefix_size_ = 0;
};

} // namespace rocio::wire
