#pragma once

#include <rocio/fpga/hsb_data_path.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <variant>

namespace rocio::fpga {

inline constexpr std::uint16_t hsb_announcement_port = 12267; ///< Where FPGAs announce themselves.
inline constexpr std::uint16_t hsb_bootp_port = 12268;        ///< Where they send it from.
inline constexpr std::size_t hsb_announcement_bytes = 300;

/// Why a datagram is no announcement.
enum class hsb_announcement_defect : std::uint8_t {
    too_short,       ///< Less than the fixed part of BOOTP and the vendor area up to the IP version.
    not_a_request,   ///< Not BOOTP's op 1 with an Ethernet address.
    other_vendor,    ///< The vendor area does not begin with tag 0xE0 and "NVDA".
    unknown_version, ///< The vendor area is of neither version 1 nor 2.
};

const char* describe(hsb_announcement_defect defect) noexcept;

/// What a Holoscan Sensor Bridge FPGA says of itself once a second, as a BOOTP request by broadcast. All of
/// it comes from outside.
struct hsb_announcement {
    std::array<std::uint8_t, 4> address{}; ///< The FPGA's IPv4 address, as it says.
    std::array<std::uint8_t, 6> mac{};
    std::uint8_t host_port = 0;  ///< Number of the Ethernet port (BOOTP's transaction number).
    std::uint8_t data_plane = 0; ///< The same in the vendor area: what registers are numbered by.
    std::uint8_t format = 2;     ///< Of the vendor area: 1 or 2.

    std::uint16_t board_id = 0;                ///< Format 1: the board; format 2: the compatibility number.
    std::array<std::uint8_t, 16> uuid{};       ///< Format 2: of the kind of board.
    std::array<std::uint8_t, 20> board_text{}; ///< Format 1: the board's version.
    std::uint32_t packets_sent = 0;            ///< Format 2, 24 bits.
    std::array<std::uint8_t, 7> serial{};
    std::uint16_t ip_version = 0; ///< Such as 0x2606; says which registers the FPGA has.
    std::uint16_t fpga_crc = 0;

    std::uint64_t ptp_seconds = 0; ///< Format 2, 48 bits; 0 before the clock is set.
    std::uint32_t ptp_nanoseconds = 0;
    std::uint16_t sequence = 0; ///< Format 2: counts announcements.
    std::uint8_t ptp_status = 0;

    friend bool operator==(const hsb_announcement&, const hsb_announcement&) = default;

    std::string address_text() const;
    std::string mac_text() const;    ///< "48:b0:2d:00:00:01".
    std::string serial_text() const; ///< Fourteen hex digits.
    std::string uuid_text() const;   ///< Format 2; "" for format 1.
    /// The board's name where it is known by its number (format 1), else "HSB board".
    std::string board_name() const;
    /// Sensor interfaces of each sensor: 1 on boards known to have one, else 2.
    std::uint8_t sifs_per_sensor() const noexcept;
    /// The vendor's default for sensor_number: the data plane's own.
    hsb_sensor sensor() const noexcept { return {data_plane, data_plane, sifs_per_sensor()}; }
    hsb_sensor sensor(std::uint8_t number) const noexcept { return {data_plane, number, sifs_per_sensor()}; }
};

/// Reads a datagram of any length and content; no allocation.
std::variant<hsb_announcement, hsb_announcement_defect>
parse_announcement(std::span<const std::byte> datagram) noexcept;

/// Writes it as an FPGA does; `format` 1 or 2 (any other is written as 2).
void encode_announcement(const hsb_announcement& what,
                         std::span<std::byte, hsb_announcement_bytes> out) noexcept;

} // namespace rocio::fpga
