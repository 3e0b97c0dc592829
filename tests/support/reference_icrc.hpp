#pragma once

#include <rocio/wire/icrc.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace rocio::test {

/// The ICRC from its rule alone, header by header and bit by bit: what the fast one is measured against.
inline std::uint32_t reference_icrc(const wire::icrc_flow& flow, std::span<const std::byte> packet,
                                    std::uint16_t ip_id) {
    std::vector<std::uint8_t> covered(8, 0xFF);
    const auto add = [&](auto... values) { (covered.push_back(static_cast<std::uint8_t>(values)), ...); };
    const auto add16 = [&](std::size_t v) { add(v >> 8, v); };
    const auto add_all = [&](const auto& values) {
        covered.insert(covered.end(), values.begin(), values.end());
    };

    const std::size_t udp_length = 8 + packet.size();
    if (flow.source.v4() && flow.destination.v4()) {
        add(0x45, 0xFF);
        add16(20 + udp_length);
        add16(ip_id);
        add(0x40, 0, 0xFF, 17, 0xFF, 0xFF);
        add_all(*flow.source.v4());
        add_all(*flow.destination.v4());
    } else {
        add(0x6F, 0xFF, 0xFF, 0xFF);
        add16(udp_length);
        add(17, 0xFF);
        add_all(flow.source.bytes());
        add_all(flow.destination.bytes());
    }
    add16(flow.source_port);
    add16(flow.destination_port);
    add16(udp_length);
    add(0xFF, 0xFF);
    for (std::size_t i = 0; i + 4 < packet.size(); ++i)
        add(i == 4 ? 0xFF : std::to_integer<unsigned>(packet[i]));

    std::uint32_t crc = 0xFFFFFFFF;
    for (const std::uint8_t byte : covered) {
        crc ^= byte;
        for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ ((crc & 1) != 0 ? 0xEDB88320U : 0U);
    }
    return ~crc;
}

} // namespace rocio::test
