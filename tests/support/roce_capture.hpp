#pragma once

#include "pcap_file.hpp"

#include <rocio/wire/icrc.hpp>
#include <rocio/wire/packet.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace rocio::test {

/// A RoCEv2 packet taken out of its Ethernet frame.
struct captured_packet {
    std::string file;
    unsigned frame_number = 0; ///< From 1, as tshark counts.
    wire::icrc_flow flow{};
    std::optional<std::uint16_t> ip_id{}; ///< IPv4 only.
    std::vector<std::byte> bytes{};       ///< BTH to ICRC.

    std::string name() const { return file + " " + std::to_string(frame_number); }
};

namespace detail {

inline std::uint16_t big16(std::span<const std::byte> bytes, std::size_t offset) {
    return static_cast<std::uint16_t>(std::to_integer<unsigned>(bytes[offset]) << 8 |
                                      std::to_integer<unsigned>(bytes[offset + 1]));
}

template <std::size_t N>
std::array<std::uint8_t, N> octets(std::span<const std::byte> bytes, std::size_t offset) {
    std::array<std::uint8_t, N> out{};
    for (std::size_t i = 0; i < N; ++i) out[i] = std::to_integer<std::uint8_t>(bytes[offset + i]);
    return out;
}

/// Fills flow ports and bytes from a UDP datagram; false if it is not RoCEv2.
inline bool take_udp(std::span<const std::byte> udp, captured_packet& out) {
    if (udp.size() < 8 || big16(udp, 2) != wire::udp_port) return false;
    out.flow.source_port = big16(udp, 0);
    const auto payload = udp.subspan(8, big16(udp, 4) - 8U);
    out.bytes.assign(payload.begin(), payload.end());
    return true;
}

inline bool take_v4(std::span<const std::byte> ip, captured_packet& out) {
    constexpr unsigned udp = 17;
    if (std::to_integer<unsigned>(ip[9]) != udp) return false;
    out.flow.source = gid::from_v4(octets<4>(ip, 12));
    out.flow.destination = gid::from_v4(octets<4>(ip, 16));
    out.ip_id = big16(ip, 4);
    const std::size_t header = (std::to_integer<std::size_t>(ip[0]) & 15) * 4;
    return take_udp(ip.first(big16(ip, 2)).subspan(header), out);
}

inline bool take_v6(std::span<const std::byte> ip, captured_packet& out) {
    constexpr unsigned udp = 17;
    if (std::to_integer<unsigned>(ip[6]) != udp) return false;
    out.flow.source = gid{octets<16>(ip, 8)};
    out.flow.destination = gid{octets<16>(ip, 24)};
    return take_udp(ip.subspan(40, big16(ip, 4)), out);
}

} // namespace detail

/// The RoCEv2 packet in an Ethernet frame, if it holds one.
inline std::optional<captured_packet> roce_in(std::span<const std::byte> ethernet) {
    captured_packet packet;
    const std::uint16_t type = detail::big16(ethernet, 12);
    const auto ip = ethernet.subspan(14);
    const bool found =
        (type == 0x0800 && detail::take_v4(ip, packet)) || (type == 0x86DD && detail::take_v6(ip, packet));
    if (!found) return std::nullopt;
    return packet;
}

/// All RoCEv2 packets of all captures in `directory`, by file name and frame.
inline std::vector<captured_packet> load_captures(const std::filesystem::path& directory) {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(directory)) {
        if (entry.path().extension() == ".pcap") files.push_back(entry.path());
    }
    std::ranges::sort(files);
    std::vector<captured_packet> packets;
    for (const auto& file : files) {
        unsigned number = 0;
        for (const auto& ethernet : read_pcap(file)) {
            ++number;
            auto packet = roce_in(ethernet);
            if (!packet) continue;
            packet->file = file.filename().string();
            packet->frame_number = number;
            packets.push_back(*std::move(packet));
        }
    }
    return packets;
}

} // namespace rocio::test
