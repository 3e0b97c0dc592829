#pragma once

#include <rocio/types/parameters.hpp>

#include <cstdint>

namespace rocio {

/// How an HSB FPGA of this IP version packs page and PSN into the immediate of a frame's last packet: from
/// 0x2603 the page in bits 11:0 under 20 bits of the PSN, before in bits 7:0 under all 24 (its
/// register-transfer code).
constexpr immediate_layout hsb_immediate_layout(std::uint16_t ip_version) noexcept {
    if (ip_version >= 0x2603) return {0xFFF, 12, 20};
    return {0xFF, 8, 24};
}

/// Page and PSN of an immediate.
struct hsb_immediate {
    std::uint32_t page = 0;
    std::uint32_t psn = 0; ///< The lowest psn_width bits of it.
    friend constexpr bool operator==(const hsb_immediate&, const hsb_immediate&) = default;
};
constexpr hsb_immediate unpack(const immediate_layout& layout, std::uint32_t immediate) noexcept {
    if (layout.psn_width == 0) return {immediate & layout.slot_mask, 0};
    return {immediate & layout.slot_mask, immediate >> layout.psn_shift};
}
constexpr std::uint32_t pack(const immediate_layout& layout, const hsb_immediate& what) noexcept {
    const auto page = what.page & layout.slot_mask;
    return layout.psn_width == 0 ? page : page | what.psn << layout.psn_shift;
}
/// Whether the metadata in a page belong to the immediate that announced it: their PSNs agree as far as the
/// immediate has it. If not, the page was written again meanwhile, or a packet is missing: the frame is torn.
constexpr bool same_packet(const immediate_layout& layout, std::uint32_t immediate,
                           std::uint32_t psn) noexcept {
    if (layout.psn_width == 0) return true;
    const auto mask = layout.psn_width >= 32 ? 0xFFFFFFFF : (1U << layout.psn_width) - 1;
    return ((immediate >> layout.psn_shift) & mask) == (psn & mask);
}

} // namespace rocio
