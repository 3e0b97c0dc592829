#pragma once

#include <rocio/device/device_queue_pair.hpp>
#include <rocio/io/memory_snapshot.hpp>
#include <rocio/io/queue_pair_snapshot.hpp>
#include <rocio/types/error.hpp>
#include <rocio/types/parameters.hpp>
#include <rocio/types/traffic_rates.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace rocio {

/// A sensor receiver as the status shows it; a value. Counters are those of all connections since it was
/// made.
struct sensor_receiver_snapshot {
    std::string name;
    std::string device;
    std::string policy; ///< "every", "latest".
    std::string state;  ///< "new", "ready", "connecting", "connected", "disconnected", "stopped".
    std::uint32_t frame_size = 0, page_size = 0, pages = 0;
    local_parameters local{};
    std::optional<peer_parameters> peer{};
    error_info last_error{};
    std::optional<queue_pair_state> pair_state{}; ///< Absent while the device has no queue pair of ours.

    std::uint32_t receives_posted = 0;
    std::uint32_t queued = 0;      ///< Frames that wait to be taken.
    std::uint32_t held = 0;        ///< Pages with a frame that somebody holds.
    std::uint64_t frames = 0;      ///< Arrived whole, as far as their metadata tell.
    std::uint64_t bytes = 0;       ///< Of data in them.
    traffic_rates rates{};         ///< Filled in by the status room.
    std::uint64_t delivered = 0;   ///< Given out.
    std::uint64_t skipped = 0;     ///< Not given out because a newer one was there (policy latest).
    std::uint64_t dropped = 0;     ///< Not given out because their page was written again.
    std::uint64_t overwritten = 0; ///< Pages written again while somebody held their frame.
    std::uint64_t lost = 0;        ///< Frame numbers of which nothing arrived.
    std::uint64_t ended_early = 0; ///< Frames that the sensor ended before the byte count.
    std::uint64_t renumbered = 0;  ///< Times the frame numbers jumped back: the board counts anew.
    std::uint64_t bad_page = 0;    ///< Immediates that name a page beyond ours.
    std::uint64_t unexpected = 0;  ///< Completions of another kind than frames bring.
    std::uint64_t receive_errors = 0;
    std::uint32_t last_frame_number = 0;
    memory_snapshot memory{}; ///< What memory_options have given.
    /// What the device noticed of lost packets, on all connections; absent where it does not count. A lost
    /// data packet leaves a hole in its frame that only psns_missed (and the CRC in the metadata) tells.
    std::optional<device_queue_pair_counters> device_counters{};
};

inline queue_pair_snapshot queue_pair_of(const sensor_receiver_snapshot& s) {
    queue_pair_snapshot q;
    q.owner = s.name;
    q.device = s.device;
    q.type = to_string(queue_pair_type::uc);
    q.set_state(s.pair_state);
    q.set_local(s.local);
    if (s.peer) q.set_peer(*s.peer);
    q.counters = s.device_counters;
    return q;
}

} // namespace rocio
