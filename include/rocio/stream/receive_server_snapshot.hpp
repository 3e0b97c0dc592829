#pragma once

#include <rocio/device/device_queue_pair.hpp>
#include <rocio/io/memory_snapshot.hpp>
#include <rocio/io/queue_pair_snapshot.hpp>
#include <rocio/types/error.hpp>
#include <rocio/types/mtu.hpp>
#include <rocio/types/rnr_timer.hpp>
#include <rocio/types/traffic_rates.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rocio {

/// A receive_server as the status shows it; a value. The first block are the fifteen variables of the SLAC
/// receive server, in snake_case, and mr_len.
struct receive_server_snapshot {
    std::string fpga_ip;
    std::string fpga_gid;
    std::uint32_t host_qpn = 0;
    std::string host_gid;
    std::string host_ip;
    std::uint64_t mr_addr = 0;
    std::uint32_t mr_rkey = 0;
    std::uint64_t rx_frame_count = 0;
    std::uint64_t rx_byte_count = 0;
    std::uint32_t max_payload = 0;
    std::uint32_t rx_queue_depth = 0;
    std::uint32_t host_rq_psn = 0;
    std::uint32_t host_sq_psn = 0;
    std::uint32_t fpga_qpn = 0;  ///< 0 until connected.
    std::uint32_t fpga_lkey = 0; ///< 0 until connected.
    std::uint32_t mr_len = 0;

    std::string name;
    std::string device;
    std::string state; ///< "idle", "connecting", "connected", "disconnected", "stopped".
    error_info last_error;
    std::uint64_t sessions = 0;  ///< Connections made so far.
    std::uint64_t idle_ends = 0; ///< Of these, ended by the idle limit.
    std::uint8_t port = 1;
    std::uint32_t gid_index = 0; ///< The one in use, or chosen last.
    mtu path_mtu = mtu::b4096;   ///< As set for the connection; so are the next three.
    rnr_timer min_rnr_timer{};
    std::uint8_t rnr_retry = 0;
    std::uint8_t retry_count = 0;
    std::optional<queue_pair_state> pair_state{}; ///< Absent while the device has no queue pair of ours.
    std::optional<std::uint32_t> fpga_psn{};      ///< The first that the peer sends; absent until connected.

    std::uint32_t slots_posted = 0;           ///< 0 means that the sender is being held (RNR).
    std::uint32_t slots_lent = 0;             ///< In views and with the user.
    std::uint32_t slots_free = 0;             ///< Waiting to be posted.
    std::chrono::nanoseconds oldest_lease{0}; ///< How long the slot that is lent for longest has been lent.
    traffic_rates rates{};                    ///< Filled in by the status room.
    std::string stalled_by;              ///< The view that holds the slots while none is posted; else "".
    std::uint64_t unclaimed = 0;         ///< Frames that no view took.
    std::uint64_t without_immediate = 0; ///< Messages refused: no immediate.
    std::uint64_t bad_length = 0;        ///< Messages refused: empty, or longer than a slot.
    std::uint64_t unexpected_opcode = 0; ///< Messages refused: not a SEND.

    struct view {
        std::string name;            ///< "all" or "channel N".
        std::uint64_t delivered = 0; ///< Frames taken by the user.
        std::uint64_t dropped = 0;   ///< Dropped by a drop-oldest view.
        std::uint32_t queued = 0;
    };
    std::vector<view> views;

    struct channel {
        std::uint8_t number = 0; ///< Bits 7:0 of the immediate.
        std::uint64_t frames = 0, bytes = 0;
        /// Frames missing in the sequence of counters (bits 31:8 of the immediate); absent unless the
        /// configuration says where the counter wraps.
        std::optional<std::uint64_t> gaps{};
        traffic_rates rates{}; ///< Filled in by the status room.
    };
    std::vector<channel> channels; ///< Those on which something arrived, in order.

    memory_snapshot memory{}; ///< What memory_options have given.
    bool has_counters = false;
    device_queue_pair_counters counters{}; ///< Of all sessions.
};

/// Its queue pair, and the counters of those before it.
inline queue_pair_snapshot queue_pair_of(const receive_server_snapshot& s) {
    queue_pair_snapshot q;
    q.owner = s.name;
    q.device = s.device;
    q.type = to_string(queue_pair_type::rc);
    q.set_state(s.pair_state);
    q.number = s.host_qpn;
    q.receive_psn = s.fpga_psn.value_or(s.host_rq_psn);
    q.send_psn = s.host_sq_psn;
    if (s.fpga_qpn != 0) q.peer_address = s.fpga_ip;
    q.peer_number = s.fpga_qpn;
    q.path_mtu = s.path_mtu;
    q.min_rnr_timer = s.min_rnr_timer;
    q.rnr_retry = s.rnr_retry;
    q.retry_count = s.retry_count;
    if (s.has_counters) q.counters = s.counters;
    return q;
}

} // namespace rocio
