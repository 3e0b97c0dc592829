#include "lib/capture_reader.hpp"

#include <rocio/wire/packet.hpp>

#include <pcap/pcap.h>

#include <algorithm>
#include <array>
#include <utility>

namespace rocio::tools {

namespace {

constexpr std::uint8_t udp_protocol = 17;
constexpr std::size_t udp_header = 8;
constexpr unsigned v4_type = 0x0800;
constexpr unsigned v6_type = 0x86DD;

using bytes_view = std::span<const std::byte>;

unsigned get8(bytes_view b, std::size_t at) noexcept {
    return std::to_integer<unsigned>(b[at]);
}
unsigned get16(bytes_view b, std::size_t at) noexcept {
    return get8(b, at) << 8 | get8(b, at + 1);
}

template <std::size_t N>
std::array<std::uint8_t, N> address_at(bytes_view b, std::size_t at) noexcept {
    std::array<std::uint8_t, N> out{};
    for (std::size_t i = 0; i < N; ++i) out[i] = std::to_integer<std::uint8_t>(b[at + i]);
    return out;
}

/// What of `wanted` bytes the capture has.
bytes_view available(bytes_view b, std::size_t wanted, bool& cut) noexcept {
    cut = cut || wanted > b.size();
    return b.first(std::min(wanted, b.size()));
}

std::optional<captured_datagram> in_udp(bytes_view udp, captured_datagram out) noexcept {
    if (udp.size() < udp_header || get16(udp, 2) != wire::udp_port) return std::nullopt;
    const std::size_t length = get16(udp, 4);
    if (length < udp_header) return std::nullopt;
    out.flow.source_port = static_cast<std::uint16_t>(get16(udp, 0));
    out.flow.destination_port = static_cast<std::uint16_t>(get16(udp, 2));
    out.bytes = available(udp.subspan(udp_header), length - udp_header, out.cut);
    return out;
}

std::optional<captured_datagram> in_v4(bytes_view ip) noexcept {
    if (ip.size() < 20) return std::nullopt;
    const std::size_t header = (get8(ip, 0) & 15U) * 4;
    const bool later_fragment = (get16(ip, 6) & 0x1FFFU) != 0;
    if (header < 20 || ip.size() < header || get8(ip, 9) != udp_protocol || later_fragment)
        return std::nullopt;
    captured_datagram out;
    out.flow.source = gid::from_v4(address_at<4>(ip, 12));
    out.flow.destination = gid::from_v4(address_at<4>(ip, 16));
    out.ip_id = static_cast<std::uint16_t>(get16(ip, 4));
    return in_udp(ip.subspan(header), out);
}

std::optional<captured_datagram> in_v6(bytes_view ip) noexcept {
    if (ip.size() < 40 || get8(ip, 6) != udp_protocol) return std::nullopt;
    captured_datagram out;
    out.flow.source = gid{address_at<16>(ip, 8)};
    out.flow.destination = gid{address_at<16>(ip, 24)};
    return in_udp(ip.subspan(40), out);
}

std::optional<captured_datagram> by_type(unsigned type, bytes_view rest) noexcept {
    if (type == v4_type) return in_v4(rest);
    if (type == v6_type) return in_v6(rest);
    return std::nullopt;
}

/// Linux "cooked": 16 bytes with the type at the end, or 20 with the type in front.
std::optional<captured_datagram> in_cooked(bytes_view frame, std::size_t header,
                                           std::size_t type_at) noexcept {
    if (frame.size() < header) return std::nullopt;
    return by_type(get16(frame, type_at), frame.subspan(header));
}

struct close_pcap {
    void operator()(pcap_t* p) const noexcept { pcap_close(p); }
};

error_info unreadable(const std::string& file, const std::string& why) {
    return {make_error_code(boost::system::errc::invalid_argument), "capture " + file + ": " + why};
}

} // namespace

std::optional<captured_datagram> datagram_in_ethernet(std::span<const std::byte> frame) noexcept {
    std::size_t at = 12;
    while (frame.size() >= at + 4 && (get16(frame, at) == 0x8100 || get16(frame, at) == 0x88A8)) at += 4;
    if (frame.size() < at + 2) return std::nullopt;
    return by_type(get16(frame, at), frame.subspan(at + 2));
}

std::optional<captured_datagram> datagram_in_ip(std::span<const std::byte> packet) noexcept {
    if (packet.empty()) return std::nullopt;
    const unsigned version = get8(packet, 0) >> 4;
    if (version == 4) return in_v4(packet);
    return version == 6 ? in_v6(packet) : std::nullopt;
}

struct capture_reader::body {
    std::string file;
    std::unique_ptr<pcap_t, close_pcap> handle;
    int link_type = 0;
    std::uint64_t frames = 0;
};

capture_reader::capture_reader(std::unique_ptr<body> b) noexcept : body_(std::move(b)) {}
capture_reader::~capture_reader() = default;

error_info capture_reader::open(const std::string& file, std::unique_ptr<capture_reader>& out) {
    std::array<char, PCAP_ERRBUF_SIZE> why{};
    auto made = std::make_unique<body>();
    made->file = file;
    made->handle.reset(
        pcap_open_offline_with_tstamp_precision(file.c_str(), PCAP_TSTAMP_PRECISION_NANO, why.data()));
    if (!made->handle) return unreadable(file, why.data());
    made->link_type = pcap_datalink(made->handle.get());
    const std::array known{DLT_EN10MB, DLT_RAW, DLT_LINUX_SLL, DLT_LINUX_SLL2};
    if (std::find(known.begin(), known.end(), made->link_type) == known.end()) {
        const char* name = pcap_datalink_val_to_name(made->link_type);
        return unreadable(file, std::string("frames of type ") + (name ? name : "unknown") +
                                    "; Ethernet, Linux cooked and raw IP can be read");
    }
    out.reset(new capture_reader(std::move(made)));
    return {};
}

bool capture_reader::next(captured_frame& out, error_info& why) {
    pcap_pkthdr* header = nullptr;
    const u_char* data = nullptr;
    const int got = pcap_next_ex(body_->handle.get(), &header, &data);
    if (got == 1) {
        const auto seconds = std::chrono::seconds(header->ts.tv_sec);
        out = {++body_->frames,
               seconds + std::chrono::nanoseconds(header->ts.tv_usec),
               {reinterpret_cast<const std::byte*>(data), header->caplen}};
        return true;
    }
    if (got != PCAP_ERROR_BREAK) why = unreadable(body_->file, pcap_geterr(body_->handle.get()));
    return false;
}

std::optional<captured_datagram> capture_reader::datagram_in(const captured_frame& frame) const noexcept {
    switch (body_->link_type) {
    case DLT_RAW:
        return datagram_in_ip(frame.bytes);
    case DLT_LINUX_SLL:
        return in_cooked(frame.bytes, 16, 14);
    case DLT_LINUX_SLL2:
        return in_cooked(frame.bytes, 20, 0);
    default:
        return datagram_in_ethernet(frame.bytes);
    }
}

} // namespace rocio::tools
