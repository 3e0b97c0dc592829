#pragma once

#include <cstdint>
#include <optional>

namespace rocio::fpga {

/// Where the registers of a SLAC RoCEv2 engine lie: byte offsets from the bases in slac_engine_config. The
/// defaults are those of surf's RoCEv2AxiStreamRdma with its Engine at 0x0000 and its Core at 0x2000,
/// UdpEngine and SsiPrbsTx; another firmware is another value of this type.
struct slac_register_map {
    // Engine, from engine_base: the metadata bus.
    std::uint32_t send_metadata = 0x0F00; ///< Bit 0; its rising edge starts one request.
    std::uint32_t send_bit = 0x1;
    std::uint32_t receive_metadata = 0x0F00; ///< Bit 1: the reply is there.
    std::uint32_t receive_bit = 0x2;
    std::uint32_t metadata_tx = 0x0F04;              ///< Ten words.
    std::uint32_t metadata_rx = 0x0F2C;              ///< Nine words.
    std::optional<std::uint32_t> soft_reset{0x0F50}; ///< 1, then 0. Nothing: the firmware has none.

    // Core, from engine_base: the data path.
    std::uint32_t dispatch_enable = 0x2000;
    std::uint32_t max_size = 0x2004; ///< Read only: bytes of the largest frame.
    std::uint32_t rkey = 0x2008;
    std::uint32_t lkey = 0x200C;
    std::uint32_t sqpn = 0x2010;
    std::uint32_t dqpn = 0x2014;
    std::uint32_t remote_address = 0x2018; ///< 64 bits, low word first, as all wide ones.
    std::uint32_t address_wrap_count = 0x2020;
    std::uint32_t success_counter = 0x2100;   ///< 24 bits.
    std::uint32_t unsuccess_counter = 0x2104; ///< 24 bits.
    std::uint32_t reset_counters = 0x2108;    ///< 1, then 0.
    std::uint32_t oversize_count = 0x210C;    ///< 24 bits.
    std::uint32_t monitor_frames = 0x2200;    ///< 64 bits.
    std::uint32_t monitor_rate = 0x2208;      ///< Frames per second.
    std::uint32_t monitor_bandwidth = 0x2214; ///< 64 bits, bytes per second.
    std::uint32_t monitor_frame_size = 0x222C;

    // UdpEngine, from udp_base.
    std::uint32_t udp_client_stride = 0x8;
    std::uint32_t udp_remote_port = 0x0; ///< 16 bits, bytes swapped.
    std::uint32_t udp_remote_ip = 0x4;   ///< First octet in bits 7:0.

    // SsiPrbsTx, from prbs_base.
    std::uint32_t prbs_control = 0x00; ///< Bit 0 AxiEn, bit 1 TxEn.
    std::uint32_t prbs_packet_length = 0x04;
    std::uint32_t prbs_trigger_delay = 0x1C;
    std::uint32_t prbs_word_size = 0x20;

    friend bool operator==(const slac_register_map&, const slac_register_map&) = default;
};

/// Bits of the PRBS source's control register.
namespace slac_prbs {
inline constexpr std::uint32_t axi_enable = 0x1, tx_enable = 0x2, busy = 0x4, overflow = 0x8;
} // namespace slac_prbs

} // namespace rocio::fpga
