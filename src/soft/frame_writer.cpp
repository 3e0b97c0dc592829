#include "soft/frame_writer.hpp"

namespace rocio::soft {

namespace {

constexpr std::size_t udp_header = 8;
constexpr std::size_t v4_header = 20;
constexpr unsigned udp_protocol = 17;

/// RFC 1071 over a header of 16-bit words.
std::uint16_t checksum_of(std::span<const std::byte> header) noexcept {
    std::uint32_t sum = 0;
    for (std::size_t i = 0; i + 1 < header.size(); i += 2)
        sum += std::to_integer<std::uint32_t>(header[i]) << 8 | std::to_integer<std::uint32_t>(header[i + 1]);
    while (sum >> 16 != 0) sum = (sum & 0xFFFF) + (sum >> 16);
    return static_cast<std::uint16_t>(~sum);
}

} // namespace

frame_header::frame_header(const frame_fields& fields, std::size_t datagram_size) noexcept {
    const std::size_t udp_size = udp_header + datagram_size;
    put_ethernet(fields.destination);
    put_ethernet(fields.source);
    fields.source.is_v4_mapped() ? put_v4(fields, udp_size) : put_v6(fields, udp_size);
    put16(fields.source_port);
    put16(fields.destination_port);
    put16(static_cast<unsigned>(udp_size));
    put16(0); // no checksum, as on the wire
}

void frame_header::put16(unsigned v) noexcept {
    put8(v >> 8);
    put8(v & 0xFF);
}

void frame_header::put(std::span<const std::uint8_t> bytes) noexcept {
    for (const auto b : bytes) put8(b);
}

/// A locally administered address from the last bytes of the IP address.
void frame_header::put_ethernet(const gid& address) noexcept {
    put16(0x0200);
    put(std::span(address.bytes()).last(4));
}

void frame_header::put_v4(const frame_fields& f, std::size_t udp_size) noexcept {
    put16(0x0800);
    const std::size_t start = size_;
    put8(0x45);
    put8(f.traffic_class);
    put16(static_cast<unsigned>(v4_header + udp_size));
    put16(f.ip_id);
    put16(0x4000); // don't fragment
    put8(f.hop_limit);
    put8(udp_protocol);
    put16(0);
    put(std::span(f.source.bytes()).last(4));
    put(std::span(f.destination.bytes()).last(4));
    const auto sum = checksum_of({data_.data() + start, v4_header});
    data_[start + 10] = static_cast<std::byte>(sum >> 8);
    data_[start + 11] = static_cast<std::byte>(sum & 0xFF);
}

void frame_header::put_v6(const frame_fields& f, std::size_t udp_size) noexcept {
    put16(0x86DD);
    put16(0x6000U | static_cast<unsigned>(f.traffic_class) << 4);
    put16(0);
    put16(static_cast<unsigned>(udp_size));
    put8(udp_protocol);
    put8(f.hop_limit);
    put(f.source.bytes());
    put(f.destination.bytes());
}

} // namespace rocio::soft
