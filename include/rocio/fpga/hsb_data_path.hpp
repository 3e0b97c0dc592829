#pragma once

#include <rocio/fpga/hsb_registers.hpp>

#include <cstdint>
#include <optional>

namespace rocio::fpga {

namespace hsb {

inline constexpr std::uint32_t version = 0x80;    ///< Of the IP, in the low 16 bits.
inline constexpr std::uint32_t build_date = 0x84; ///< Of the bit stream.
inline constexpr std::uint32_t reset = 0x04;      ///< Writing reset_value restarts the FPGA; not answered.
inline constexpr std::uint32_t reset_value = 0x8;

/// Where the registers of host interfaces, virtual ports and sensor interfaces begin, and how far apart they
/// are.
inline constexpr std::uint32_t hif_base = 0x0200'0300;
inline constexpr std::uint32_t hif_stride = 0x1'0000;
inline constexpr std::uint32_t vp_base = 0x1000;
inline constexpr std::uint32_t vp_stride = vp::size;
inline constexpr std::uint32_t sif_base = 0x0100'0000;
inline constexpr std::uint32_t sif_stride = 0x1'0000;

namespace vp {
inline constexpr std::uint32_t buffer_mask = 0x1C; ///< Before 0x2602: one bit for each buffer in use.
inline constexpr std::uint32_t psn = 0x3C;         ///< Read only: of the next packet.
} // namespace vp

/// Offsets from the sensor interface's address.
namespace sif {
inline constexpr std::uint32_t packetizer_mode = 0x0C; ///< 0: the data as the sensor sends them.
} // namespace sif

} // namespace hsb

/// How an FPGA's virtual ports name the host's memory.
enum class hsb_layout : std::uint8_t {
    four_buffers, ///< 0x2510 to 0x2601: the addresses of at most four buffers, each >> 7, and a mask.
    paged,        ///< From 0x2602: address, distance and number of at most 4096 pages.
};

/// The layout of an IP version; nothing below 0x2510, whose registers are others.
constexpr std::optional<hsb_layout> hsb_layout_of(std::uint16_t ip_version) noexcept {
    if (ip_version >= 0x2602) return hsb_layout::paged;
    if (ip_version >= 0x2510) return hsb_layout::four_buffers;
    return std::nullopt;
}

/// Which of an FPGA's sensors, and through which of its Ethernet ports.
struct hsb_sensor {
    std::uint8_t data_plane = 0;      ///< Ethernet port, 0 to 255.
    std::uint8_t number = 0;          ///< Sensor.
    std::uint8_t sifs_per_sensor = 2; ///< Sensor interfaces that each sensor has: 1 or 2, by the board.

    /// The virtual port: number x sifs_per_sensor; 0 to 31 exist.
    constexpr std::uint32_t virtual_port() const noexcept { return std::uint32_t{number} * sifs_per_sensor; }
    constexpr bool exists() const noexcept { return virtual_port() < 32; }
};

/// The addresses of a sensor's registers.
struct hsb_data_path {
    std::uint32_t hif_address = hsb::hif_base;
    std::uint32_t vp_address = hsb::vp_base;
    std::uint32_t sif_address = hsb::sif_base;
    std::uint32_t vp_mask = 1; ///< The virtual port's bit in the host interface's mask.

    /// As the vendor's host derives them from an announcement. The sensor exists().
    static constexpr hsb_data_path of(const hsb_sensor& sensor) noexcept {
        return {hsb::hif_base + hsb::hif_stride * sensor.data_plane,
                hsb::vp_base + hsb::vp_stride * sensor.virtual_port(),
                hsb::sif_base + hsb::sif_stride * sensor.number, 1U << (sensor.virtual_port() & 31U)};
    }
    friend bool operator==(const hsb_data_path&, const hsb_data_path&) = default;
};

} // namespace rocio::fpga
