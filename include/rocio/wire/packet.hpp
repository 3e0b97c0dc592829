#pragma once

#include <rocio/wire/headers.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace rocio::wire {

inline constexpr std::size_t icrc_size = 4;
inline constexpr std::size_t max_header_size = 44; ///< BTH and the longest legal chain of extension headers.
/// Largest packet from BTH to ICRC whose ICRC is checked: a payload of 9,000 bytes and all its headers.
inline constexpr std::size_t max_packet_size = 9216;
inline constexpr std::uint16_t udp_port = 4791;

/// Why bytes are not a packet.
enum class malformed : std::uint8_t {
    none,
    too_short, ///< Less than BTH, its extension headers and ICRC.
    not_multiple_of_4,
    bad_version, ///< TVer is not 0.
    unknown_opcode,
    pad_exceeds_payload,
    unexpected_payload, ///< Payload behind a header that carries none.
};
std::string_view to_string(malformed m) noexcept;

/// A checked view of one packet: the UDP payload from BTH to ICRC. parse() checks everything that the bytes
/// alone can tell; afterwards no accessor can fail. Accessors of a header that the opcode does not have must
/// not be called (asserted), and nothing but bytes() of a default-made view, which is empty. The ICRC is not
/// checked here: see icrc.hpp. Views do not own the bytes.
class packet_view {
  public:
    /// Sets `out` and gives malformed::none, or gives the reason and leaves `out` alone. Never reads outside
    /// `udp_payload`; constant time.
    [[nodiscard]] static malformed parse(std::span<const std::byte> udp_payload, packet_view& out) noexcept;

    const wire::bth& bth() const noexcept { return bth_; }
    wire::opcode op() const noexcept { return bth_.op; }
    wire::reth reth() const noexcept;
    wire::aeth aeth() const noexcept;
    wire::immediate immediate() const noexcept; ///< Behind the RETH where there is one.
    wire::deth deth() const noexcept;
    wire::atomic_eth atomic_eth() const noexcept;
    wire::atomic_ack_eth atomic_ack_eth() const noexcept;
    wire::ieth ieth() const noexcept;
    std::span<const std::byte> payload() const noexcept { ///< Without pad.
        const std::size_t offset = wire::bth::size + op().extension_size();
        return bytes_.subspan(offset, bytes_.size() - offset - bth_.pad - icrc_size);
    }
    std::uint32_t icrc() const noexcept; ///< As stored: little-endian (see icrc.hpp).
    std::span<const std::byte> bytes() const noexcept { return bytes_; } ///< BTH to ICRC.

  private:
    std::span<const std::byte> bytes_{};
    wire::bth bth_{};
};

/// Headers of a packet to send: BTH and the extension headers its opcode demands, as bytes.
class header_bytes {
  public:
    std::span<const std::byte> bytes() const noexcept { return {data_.data(), size_}; }
    std::size_t size() const noexcept { return size_; }

    /// Appends `h`; the caller appends in wire order (BTH, RETH, AETH, AtomicETH, ImmDt …).
    template <class Header>
    void append(const Header& h) noexcept {
        h.emit(std::span<std::byte, Header::size>{data_.data() + size_, Header::size});
        size_ += Header::size;
    }
    void clear() noexcept { size_ = 0; }

  private:
    std::array<std::byte, max_header_size> data_{};
    std::size_t size_ = 0;
};

/// Zero bytes between payload and ICRC.
constexpr std::uint8_t pad_of(std::size_t payload) noexcept {
    return static_cast<std::uint8_t>(-payload & 3U);
}

/// Re-encodes a view: headers, payload, pad; `out` gets everything but the ICRC. Gives the bytes written; 0,
/// and nothing written, if `out` is too small. With a packet from the wire this reproduces its bytes,
/// reserved bits and pad bytes included.
std::size_t encode(const packet_view& packet, std::span<std::byte> out) noexcept;

/// One line for people: "RC_SEND_ONLY qp=0x00001a psn=0x000102 ack len=3 …".
std::string to_text(const packet_view& packet);

} // namespace rocio::wire
