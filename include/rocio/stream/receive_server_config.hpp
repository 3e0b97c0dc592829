#pragma once

#include <rocio/device/device.hpp>
#include <rocio/io/memory_options.hpp>
#include <rocio/types/ack_timeout.hpp>
#include <rocio/types/mtu.hpp>
#include <rocio/types/rnr_timer.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace rocio {

/// What a receive_server is made with (the server's configuration of the SLAC system).
struct receive_server_config {
    std::string name = "stream"; ///< In status and logs.
    /// The sender's address. When given, our GID must be in its subnet (the interface's prefix, else /24).
    std::string fpga_ip{};
    std::shared_ptr<rocio::device> device{};
    std::uint8_t port = 1;
    std::optional<std::uint32_t> gid_index{}; ///< Default: chosen by address.
    std::uint32_t max_payload = 4096; ///< Bytes of a slot, 1..2^30; the SLAC firmware sends up to 4096.
    std::uint32_t rx_queue_depth =
        256;                   ///< Slots, 1..65536. max_payload x rx_queue_depth must stay below 2^32.
    bool remote_write = false; ///< Lets the peer WRITE into the slots (early firmware). Default: SEND only.
    /// A connection on which no frame comes for so long ends with errc::peer_closed, 1 ms to a day; for peers
    /// that cannot say goodbye. Frames that are held up because all slots are lent do not count as silence.
    /// Default: never.
    std::optional<std::chrono::milliseconds> idle_limit{};
    /// How many values the counter in bits 31:8 of the immediate takes before it starts at 0 again, 1 to
    /// 2^24, each channel with a counter of its own (AddrWrapCount of the SLAC firmware). With it the
    /// snapshot counts the frames that are missing on a channel: up to half a period ahead of the expected
    /// counter is a gap; a repeated counter, one further back and one outside the period are none and change
    /// nothing. It begins anew with each connection. A loss of whole periods cannot be seen. Default, and
    /// with 1, a counter that stands still: gaps are unknown.
    std::optional<std::uint32_t> counter_wrap{};
    memory_options memory{}; ///< Of the slots.
};

/// How the connection behaves (the transport configuration of the SLAC system).
struct transport_config {
    mtu path_mtu = mtu::b4096;
    rnr_timer min_rnr_timer{};    ///< Code 12, 0.64 ms. Code 1 collapses throughput on software devices.
    std::uint8_t rnr_retry = 7;   ///< 0..7, 7: endless.
    std::uint8_t retry_count = 3; ///< 0..7.
    ack_timeout timeout{};        ///< Code 14, 67 ms.
};

/// What the FPGA's bring-up needs of the host.
struct host_parameters {
    std::uint32_t host_qpn = 0;
    std::uint32_t host_rq_psn = 0;
    std::uint32_t host_sq_psn = 0;
    std::uint64_t mr_addr = 0;
    std::uint32_t mr_len = 0; ///< max_payload x rx_queue_depth.
    std::uint32_t mr_rkey = 0;
};

/// Checks everything that needs no device; errc::invalid_argument or errc::region_too_large with the knob's
/// name.
error_info validate(const receive_server_config& config);
error_info validate(const transport_config& config);

} // namespace rocio
