#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

// Headers of RSSI, SLAC's Reliable Streaming Interface (surf, protocols/rssi; rogue, protocols/rssi), which
// follows RFC 908 and RFC 1151.
namespace rocio::fpga {

inline constexpr std::size_t rssi_header_bytes = 8;
inline constexpr std::size_t rssi_syn_bytes = 24;

/// What both sides of a connection go by, as a SYN carries it; times in milliseconds.
struct rssi_parameters {
    std::uint8_t max_outstanding = 32; ///< Segments the other side may send without an acknowledgement.
    std::uint16_t max_segment = 1464;  ///< Bytes, with the header.
    std::uint16_t retransmit_timeout = 20;
    std::uint16_t cumulative_ack_timeout = 5;
    std::uint16_t null_timeout = 1000; ///< The server gives up a client that was silent for as long.
    std::uint8_t max_retransmits = 15; ///< How often one segment is sent.
    std::uint8_t max_cumulative_acks = 2;
    std::uint8_t connection_id = 0x78;

    friend bool operator==(const rssi_parameters&, const rssi_parameters&) = default;
};

/// Whether one can work with them: no zero where it would stop everything, segments with room for data.
bool usable(const rssi_parameters& p);

struct rssi_header {
    bool syn = false, ack = false, rst = false, nul = false, busy = false;
    std::uint8_t sequence = 0;
    std::uint8_t acknowledge = 0;
    rssi_parameters parameters{}; ///< Of a SYN.

    std::size_t size() const noexcept { return syn ? rssi_syn_bytes : rssi_header_bytes; }
};

/// Writes size() bytes to the front of `out`.
void encode(std::span<std::byte> out, const rssi_header& header);
/// Nothing for a segment that is too short, has another header length, version, time unit or checksum, or
/// flags that do not go together; other flags are ignored. The payload is what follows size() bytes; only
/// that of data counts.
std::optional<rssi_header> parse_rssi(std::span<const std::byte> segment);

} // namespace rocio::fpga
