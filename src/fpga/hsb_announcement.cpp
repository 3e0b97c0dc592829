#include <rocio/fpga/hsb_announcement.hpp>

#include <algorithm>
#include <optional>
#include <type_traits>

namespace rocio::fpga {

namespace {

// BOOTP (RFC 951): offsets of what is used.
constexpr std::size_t op_at = 0;
constexpr std::size_t address_length_at = 2;
constexpr std::size_t transaction_at = 4;
constexpr std::size_t client_address_at = 12;
constexpr std::size_t hardware_address_at = 28;
constexpr std::size_t vendor_at = 236;

// The vendor area, from its beginning.
constexpr std::size_t tag_at = 0;
constexpr std::size_t length_at = 1;
constexpr std::size_t name_at = 2;
constexpr std::size_t data_plane_at = 6;
constexpr std::size_t format_at = 7;
constexpr std::size_t board_at = 8;
constexpr std::size_t identity_at = 10; // 16 bytes of UUID, or 20 of text
constexpr std::size_t packets_at = 26;
constexpr std::size_t serial_at = 30;
constexpr std::size_t version_at = 37;
constexpr std::size_t crc_at = 39;
constexpr std::size_t ptp_seconds_at = 45;
constexpr std::size_t ptp_nanoseconds_at = 51;
constexpr std::size_t sequence_at = 55;
constexpr std::size_t ptp_status_at = 57;

constexpr std::size_t shortest = vendor_at + crc_at + 2;
constexpr std::uint8_t vendor_tag = 0xE0;
constexpr std::uint8_t vendor_length = 0x38;
constexpr std::array<std::uint8_t, 4> vendor_name{'N', 'V', 'D', 'A'};

constexpr std::array<std::uint8_t, 4> bootp_head{1, 1, 6, 0}; // request, Ethernet, 6 bytes, no hops

struct known_board {
    std::uint16_t id;
    const char* name;
    std::uint8_t sifs_per_sensor;
};
constexpr std::array known_boards{known_board{2, "HSB Lite", 2},
                                  known_board{3, "HSB 100G", 2},
                                  known_board{4, "Microchip PolarFire", 1},
                                  known_board{5, "HSB Nano", 2},
                                  known_board{7, "Leopard Eagle", 1},
                                  known_board{10, "TauroTech DA326", 1}};

const known_board* find_board(const hsb_announcement& a) noexcept {
    if (a.format != 1) return nullptr;
    const auto found = std::ranges::find(known_boards, a.board_id, &known_board::id);
    return found == known_boards.end() ? nullptr : &*found;
}

/// Reads numbers; what lies behind the end is 0.
class reader {
  public:
    explicit reader(std::span<const std::byte> in) noexcept : in_(in) {}

    std::uint8_t byte(std::size_t at) const noexcept {
        return at < in_.size() ? std::to_integer<std::uint8_t>(in_[at]) : std::uint8_t{0};
    }
    std::uint64_t big(std::size_t at, std::size_t bytes) const noexcept {
        std::uint64_t value = 0;
        for (std::size_t i = 0; i < bytes; ++i) value = value << 8 | byte(at + i);
        return value;
    }
    std::uint16_t little16(std::size_t at) const noexcept {
        return static_cast<std::uint16_t>(byte(at) | byte(at + 1) << 8);
    }
    template <std::size_t N>
    void take(std::size_t at, std::array<std::uint8_t, N>& out) const noexcept {
        for (std::size_t i = 0; i < N; ++i) out[i] = byte(at + i);
    }

  private:
    std::span<const std::byte> in_;
};

class writer {
  public:
    explicit writer(std::span<std::byte> out) noexcept : out_(out) {}

    void byte(std::size_t at, std::uint64_t value) noexcept {
        out_[at] = static_cast<std::byte>(value & 0xFF);
    }
    void big(std::size_t at, std::size_t bytes, std::uint64_t value) noexcept {
        for (std::size_t i = bytes; i-- > 0; value >>= 8) byte(at + i, value);
    }
    void little16(std::size_t at, std::uint16_t value) noexcept {
        byte(at, value);
        byte(at + 1, static_cast<std::uint64_t>(value) >> 8);
    }
    void put(std::size_t at, std::span<const std::uint8_t> bytes) noexcept {
        for (const auto b : bytes) byte(at++, b);
    }

  private:
    std::span<std::byte> out_;
};

std::optional<hsb_announcement_defect> defect_of(const reader& bootp, const reader& vendor) noexcept {
    if (bootp.byte(op_at) != 1 || bootp.byte(address_length_at) != 6)
        return hsb_announcement_defect::not_a_request;
    std::array<std::uint8_t, 4> name{};
    vendor.take(name_at, name);
    if (vendor.byte(tag_at) != vendor_tag || name != vendor_name)
        return hsb_announcement_defect::other_vendor;
    const auto format = vendor.byte(format_at);
    if (format != 1 && format != 2) return hsb_announcement_defect::unknown_version;
    return std::nullopt;
}

void read_second_format(const reader& vendor, hsb_announcement& a) noexcept {
    vendor.take(identity_at, a.uuid);
    a.packets_sent = static_cast<std::uint32_t>(vendor.big(packets_at, 3));
    a.ptp_seconds = vendor.big(ptp_seconds_at, 6);
    a.ptp_nanoseconds = static_cast<std::uint32_t>(vendor.big(ptp_nanoseconds_at, 4));
    a.sequence = static_cast<std::uint16_t>(vendor.big(sequence_at, 2));
    a.ptp_status = vendor.byte(ptp_status_at);
}

std::string hex(std::span<const std::uint8_t> bytes, const char* between = "") {
    constexpr const char* digits = "0123456789abcdef";
    std::string text;
    for (const auto b : bytes) {
        if (!text.empty()) text += between;
        text += digits[b >> 4];
        text += digits[b & 0xF];
    }
    return text;
}

} // namespace

const char* describe(hsb_announcement_defect defect) noexcept {
    switch (defect) {
    case hsb_announcement_defect::too_short:
        return "too short for an announcement";
    case hsb_announcement_defect::not_a_request:
        return "not a BOOTP request of an Ethernet station";
    case hsb_announcement_defect::other_vendor:
        return "of another vendor";
    case hsb_announcement_defect::unknown_version:
        return "of an unknown version of the vendor area";
    }
    return "unknown defect";
}

std::variant<hsb_announcement, hsb_announcement_defect>
parse_announcement(std::span<const std::byte> datagram) noexcept {
    if (datagram.size() < shortest) return hsb_announcement_defect::too_short;
    const reader bootp(datagram), vendor(datagram.subspan(vendor_at));
    if (const auto defect = defect_of(bootp, vendor)) return *defect;
    hsb_announcement a;
    bootp.take(client_address_at, a.address);
    bootp.take(hardware_address_at, a.mac);
    a.host_port = static_cast<std::uint8_t>(bootp.big(transaction_at, 4));
    a.data_plane = vendor.byte(data_plane_at);
    a.format = vendor.byte(format_at);
    a.board_id = vendor.little16(board_at);
    vendor.take(serial_at, a.serial);
    a.ip_version = vendor.little16(version_at);
    a.fpga_crc = vendor.little16(crc_at);
    if (a.format == 1)
        vendor.take(identity_at, a.board_text);
    else
        read_second_format(vendor, a);
    return a;
}

void encode_announcement(const hsb_announcement& what,
                         std::span<std::byte, hsb_announcement_bytes> out) noexcept {
    std::ranges::fill(out, std::byte{0});
    writer bootp(out), vendor(out.subspan(vendor_at));
    bootp.put(op_at, bootp_head);
    bootp.big(transaction_at, 4, what.host_port);
    bootp.put(client_address_at, what.address);
    bootp.put(hardware_address_at, what.mac);
    vendor.byte(tag_at, vendor_tag);
    vendor.byte(length_at, vendor_length);
    vendor.put(name_at, vendor_name);
    vendor.byte(data_plane_at, what.data_plane);
    vendor.byte(format_at, what.format == 1 ? 1 : 2);
    vendor.little16(board_at, what.board_id);
    vendor.put(serial_at, what.serial);
    vendor.little16(version_at, what.ip_version);
    vendor.little16(crc_at, what.fpga_crc);
    if (what.format == 1) return vendor.put(identity_at, what.board_text);
    vendor.put(identity_at, what.uuid);
    vendor.big(packets_at, 3, what.packets_sent);
    vendor.big(ptp_seconds_at, 6, what.ptp_seconds);
    vendor.big(ptp_nanoseconds_at, 4, what.ptp_nanoseconds);
    vendor.big(sequence_at, 2, what.sequence);
    vendor.byte(ptp_status_at, what.ptp_status);
}

std::string hsb_announcement::address_text() const {
    std::string text;
    for (const auto b : address) text += (text.empty() ? "" : ".") + std::to_string(b);
    return text;
}

std::string hsb_announcement::mac_text() const {
    return hex(mac, ":");
}

std::string hsb_announcement::serial_text() const {
    return hex(serial);
}

std::string hsb_announcement::uuid_text() const {
    if (format == 1) return {};
    const std::span all(uuid);
    return hex(all.first(4)) + "-" + hex(all.subspan(4, 2)) + "-" + hex(all.subspan(6, 2)) + "-" +
           hex(all.subspan(8, 2)) + "-" + hex(all.subspan(10));
}

std::string hsb_announcement::board_name() const {
    const auto* board = find_board(*this);
    return board != nullptr ? board->name : "HSB board";
}

std::uint8_t hsb_announcement::sifs_per_sensor() const noexcept {
    const auto* board = find_board(*this);
    return board != nullptr ? board->sifs_per_sensor : std::uint8_t{2};
}

} // namespace rocio::fpga
