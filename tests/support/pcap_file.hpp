#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace rocio::test {

/// One frame of a capture as it was on the wire.
using frame = std::vector<std::byte>;

namespace detail {

inline std::vector<std::byte> whole_file(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    if (!in) throw std::runtime_error("cannot open " + path.string());
    const std::vector<char> text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    std::vector<std::byte> bytes(text.size());
    std::ranges::transform(text, bytes.begin(), [](char c) { return static_cast<std::byte>(c); });
    return bytes;
}

inline std::uint32_t little32(std::span<const std::byte> file, std::size_t offset) {
    std::uint32_t v = 0;
    for (std::size_t i = 4; i-- > 0;) v = v << 8 | std::to_integer<std::uint32_t>(file[offset + i]);
    return v;
}

} // namespace detail

/// Reads a classic little-endian pcap file of Ethernet frames, with microsecond or nanosecond time stamps.
/// Throws std::runtime_error for anything else and for cut frames.
inline std::vector<frame> read_pcap(const std::filesystem::path& path) {
    constexpr std::uint32_t microseconds = 0xA1B2C3D4;
    constexpr std::uint32_t nanoseconds = 0xA1B23C4D;
    constexpr std::uint32_t ethernet = 1;
    const auto bytes = detail::whole_file(path);
    const std::span file{bytes};
    const auto bad = [&](const char* why) { return std::runtime_error(path.string() + ": " + why); };

    if (file.size() < 24) throw bad("shorter than a pcap header");
    const std::uint32_t magic = detail::little32(file, 0);
    if (magic != microseconds && magic != nanoseconds) throw bad("not a little-endian pcap file");
    if (detail::little32(file, 20) != ethernet) throw bad("link type is not Ethernet");

    std::vector<frame> frames;
    for (std::size_t at = 24; at < file.size();) {
        if (file.size() - at < 16) throw bad("cut record header");
        const std::uint32_t captured = detail::little32(file, at + 8);
        if (captured != detail::little32(file, at + 12)) throw bad("frame was cut when captured");
        at += 16;
        if (file.size() - at < captured) throw bad("cut frame");
        const auto body = file.subspan(at, captured);
        frames.emplace_back(body.begin(), body.end());
        at += captured;
    }
    return frames;
}

} // namespace rocio::test
