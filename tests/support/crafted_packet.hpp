#pragma once

#include <rocio/wire/headers.hpp>
#include <rocio/wire/icrc.hpp>
#include <rocio/wire/packet.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace rocio::test {

/// The UDP payload of a packet, good or bad, with an ICRC that fits `flow` and `ip_id`.
inline std::vector<std::byte> craft_packet(const wire::icrc_flow& flow, const wire::bth& bth,
                                           std::span<const std::byte> behind_bth, std::uint16_t ip_id = 0) {
    std::vector<std::byte> bytes(wire::bth::size);
    bth.emit(std::span<std::byte, wire::bth::size>(bytes.data(), wire::bth::size));
    bytes.insert(bytes.end(), behind_bth.begin(), behind_bth.end());
    bytes.resize(bytes.size() + wire::icrc_size);
    const std::uint32_t icrc = wire::icrc_engine(flow).of_packet(bytes, ip_id);
    for (std::size_t i = 0; i < wire::icrc_size; ++i)
        bytes[bytes.size() - wire::icrc_size + i] = static_cast<std::byte>(icrc >> (8 * i));
    return bytes;
}

} // namespace rocio::test
