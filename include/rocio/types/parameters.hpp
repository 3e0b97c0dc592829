#pragma once

#include <rocio/types/ack_timeout.hpp>
#include <rocio/types/error.hpp>
#include <rocio/types/gid.hpp>
#include <rocio/types/mtu.hpp>
#include <rocio/types/psn.hpp>
#include <rocio/types/qpn.hpp>
#include <rocio/types/remote_buffer.hpp>
#include <rocio/types/rnr_timer.hpp>

#include <cstdint>
#include <optional>

namespace rocio {

/// How a peer packs slot (or page) and PSN into the 32-bit immediate of its WRITEs.
struct immediate_layout {
    std::uint32_t slot_mask = 0xFFFFFFFF;
    std::uint8_t psn_shift = 0;
    std::uint8_t psn_width = 0; ///< 0: no PSN in the immediate.
};

/// What a device can tell its peer about itself, so that each side uses the strictest rule both agree on.
struct endpoint_capabilities {
    /// Our IPv4 packets carry id 0 (or the index inside a segmented train), so the peer may demand it (exact
    /// ICRC).
    bool exact_icrc = false;
    /// Longest train of a segmented send we accept and send; 0 or 1: none.
    std::uint16_t segment_train = 0;
    /// Bytes of packets, counted as the kernel counts socket memory, that one receiving socket holds; 0:
    /// unknown.
    std::uint32_t receive_buffer = 0;
};

/// One side of a connection in the numbers the other side needs.
struct endpoint_parameters {
    gid address{};
    std::uint16_t udp_port = 4791;
    qpn queue_pair{};
    psn send_psn{};    ///< PSN of the first packet this side sends.
    psn receive_psn{}; ///< PSN this side expects first; the peer sends from it where the peer can choose.
    mtu path_mtu = mtu::b4096;
    remote_region region{};
    std::uint32_t max_payload = 0; ///< Bytes of the largest message this side takes; 0: not told.
    std::uint32_t depth = 0;       ///< Receives this side keeps posted; 0: not told.
    endpoint_capabilities capabilities{};
};

/// Our side of a handshake.
struct local_parameters : endpoint_parameters {
    rnr_timer min_rnr_timer{};
    ack_timeout timeout{};
    std::uint8_t retry_count = 7; ///< 0..7; 7 means seven.
    std::uint8_t rnr_retry = 7;   ///< 0..7; 7 means endless.
};

/// Numbers of our own side that a handshake settled with the peer (rdma_cm chooses them): they replace the
/// queue pair's own.
struct imposed_parameters {
    gid address{}; ///< The one the peer knows us by.
    psn send_psn{};
    mtu path_mtu = mtu::b4096;
    std::uint8_t reads_in = 0;  ///< READs the peer may have outstanding at us.
    std::uint8_t reads_out = 0; ///< READs we may have outstanding at the peer.
};

/// The peer's side, as the handshake learned it. Everything in it comes from outside: validate() first.
struct peer_parameters : endpoint_parameters {
    immediate_layout immediates{};
    std::optional<imposed_parameters> imposed{};
};

/// Checks every number that a peer told: queue pair 2..0xFFFFFF, an address, a UDP port, path MTU code 1..5,
/// a region that does not wrap and holds depth x max_payload bytes if all three are told, depth x max_payload
/// within 32 bits, an immediate layout within 32 bits. Gives errc::invalid_peer_parameters with a sentence
/// that names the first bad field with its value and what is allowed; no error if all fit. Pure; throws only
/// std::bad_alloc.
error_info validate(const peer_parameters& peer);

} // namespace rocio
