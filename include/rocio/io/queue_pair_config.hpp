#pragma once

#include <rocio/device/device_queue_pair.hpp>
#include <rocio/types/ack_timeout.hpp>
#include <rocio/types/gid.hpp>
#include <rocio/types/memory_access.hpp>
#include <rocio/types/mtu.hpp>
#include <rocio/types/psn.hpp>
#include <rocio/types/remote_buffer.hpp>
#include <rocio/types/rnr_timer.hpp>

#include <cstdint>
#include <optional>

namespace rocio {

/// What a queue pair is made with. Values are checked against the device's limits at construction.
struct queue_pair_config {
    queue_pair_type type = queue_pair_type::rc;
    std::uint32_t send_depth = 128;    ///< Sends on the device at a time; further ones wait in the object.
    std::uint32_t receive_depth = 128; ///< Receives posted at a time; further ones wait in the object.
    std::uint32_t max_inline = 64;     ///< Bytes of an inline_bytes send.
    std::uint8_t port = 1;
    std::optional<std::uint32_t> gid_index{}; ///< Default: chosen by choose_gid() for `peer_address`.
    std::optional<gid> peer_address{};        ///< Helps the choice of the GID.
    std::optional<gid> local_address{}; ///< The GID itself; one that the port does not have is an error.
    memory_access remote_access = memory_access::local_read; ///< What the peer may do; default nothing.
    /// Told to the peer at async_connect(): memory_region::remote() of what it may write or read.
    remote_region region{};
    std::optional<psn>
        first_psn{};               ///< Of the first packet we send and expect; default: drawn anew each time.
    std::optional<mtu> path_mtu{}; ///< Default: the port's active MTU.
    ack_timeout timeout{};         ///< 67 ms.
    rnr_timer min_rnr_timer{};     ///< 0.64 ms: what we tell a sender that finds no receive posted.
    std::uint8_t retry_count = 7;  ///< 0..7; 7 means seven.
    std::uint8_t rnr_retry = 7;    ///< 0..7; 7 means endless.
    std::uint8_t hop_limit = 64;   ///< 1..255.
    std::uint8_t traffic_class = 0;
};

} // namespace rocio
