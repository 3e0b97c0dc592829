#pragma once

#include <rocio/fpga/hsb_announcement.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <variant>

namespace rocio::test {

using announcement_bytes = std::array<std::byte, fpga::hsb_announcement_bytes>;

/// A datagram by hand, with the offsets of the vendor's BOOTP packet.
class raw_announcement {
  public:
    explicit raw_announcement(std::uint8_t format) {
        put(0, {1, 1, 6, 0, 0, 0, 0, 1}); // BOOTP request, Ethernet, 6 bytes; transaction 1
        put(12, {192, 168, 0, 2});
        put(28, {0x48, 0xB0, 0x2D, 0x01, 0x02, 0x03});
        put(236, {0xE0, 0x38, 'N', 'V', 'D', 'A', 1, format});
    }
    void put(std::size_t at, std::initializer_list<int> values) {
        for (const auto v : values) bytes[at++] = static_cast<std::byte>(v);
    }
    void put_vendor(std::size_t at, std::initializer_list<int> values) { put(236 + at, values); }
    std::span<const std::byte> view(std::size_t n = fpga::hsb_announcement_bytes) const {
        return std::span<const std::byte>(bytes).first(n);
    }
    announcement_bytes bytes{};
};

/// What must hold for any datagram; the broken promise, if there is one.
inline std::optional<std::string> broken_promise_of_announcement(std::span<const std::byte> datagram) {
    using namespace fpga;
    const auto parsed = parse_announcement(datagram);
    if (const auto* defect = std::get_if<hsb_announcement_defect>(&parsed))
        return *describe(*defect) != 0 ? std::nullopt : std::optional<std::string>("a defect without words");
    const auto& a = std::get<hsb_announcement>(parsed);
    if (a.format != 1 && a.format != 2) return "a format that is none";
    announcement_bytes again{};
    encode_announcement(a, again);
    const auto reread = parse_announcement(again);
    if (!std::holds_alternative<hsb_announcement>(reread)) return "what was read cannot be written";
    if (std::get<hsb_announcement>(reread) != a) return "what was written is read as something else";
    if (a.serial_text().size() != 14 || a.mac_text().size() != 17) return "a text of the wrong length";
    if (a.uuid_text().size() != (a.format == 2 ? 36U : 0U)) return "a UUID of the wrong length";
    if (a.sifs_per_sensor() < 1 || a.sifs_per_sensor() > 2) return "sensor interfaces out of range";
    if (a.address_text().empty() || a.board_name().empty()) return "an empty text";
    return std::nullopt;
}

} // namespace rocio::test
