#pragma once

#include <rocio/device/device_queue_pair.hpp>
#include <rocio/io/memory_snapshot.hpp>
#include <rocio/io/queue_pair_snapshot.hpp>
#include <rocio/types/error.hpp>
#include <rocio/types/latency_histogram.hpp>
#include <rocio/types/parameters.hpp>
#include <rocio/types/traffic_rates.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace rocio {

/// A ring as the status shows it; a value.
struct ring_snapshot {
    std::string name;
    std::string device;
    std::string mode;
    std::string state; ///< "new", "ready", "connected", "disconnected", "stopped".
    std::uint32_t slots = 0, slot_size = 0, frame_size = 0;
    local_parameters local{};
    std::optional<peer_parameters> peer{};
    error_info last_error{};
    std::optional<queue_pair_state> pair_state{}; ///< Absent while the device has no queue pair of ours.

    std::uint32_t receives_posted = 0;
    std::uint32_t rx_held = 0;      ///< Filled slots that nobody has released.
    std::uint32_t tx_in_flight = 0; ///< Sends whose slot the device is not done with.
    std::uint64_t received = 0;
    std::uint64_t sent = 0;        ///< What the device is done with, or has copied (unified mode).
    std::uint64_t bytes_sent = 0;  ///< Of messages, failed copies included; what arrives tells its length.
    traffic_rates receive_rates{}; ///< Filled in by the status room, as the next one.
    traffic_rates send_rates{};
    /// How long filled slots were held, from the sweep that found the message to the one that found the slot
    /// released. Empty without ring_config::measure_held, and in the modes forward and unified.
    latency_summary held{};
    std::uint64_t overwritten = 0;   ///< Messages that came into a slot which was still held.
    std::uint64_t bad_immediate = 0; ///< Immediates that do not fit the peer's layout.
    std::uint64_t unexpected = 0;    ///< Completions of another kind than the ring expects.
    std::uint64_t bad_flag = 0;      ///< Send flags that are no address in the ring; taken back.
    std::uint64_t send_errors = 0, receive_errors = 0;
    memory_snapshot memory{}; ///< What memory_options have given.
    /// What the device noticed of lost packets and messages, on all connections; absent where it does not
    /// count.
    std::optional<device_queue_pair_counters> device_counters{};
};

inline queue_pair_snapshot queue_pair_of(const ring_snapshot& s) {
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
