#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace rocio::rpc {

/// Which send slot a request takes.
enum class slot_order {
    /// One after the other, round and round: what peers need that look at their slots in strict order, as
    /// CUDA-Q's dispatcher does. A call without its answer holds up those a whole round behind it.
    sequential,
    any_free, ///< The next free one. For peers that serve slots in any order, as ring_dispatcher does.
};

struct client_config {
    /// Of calls that are given none. 1 s.
    std::chrono::nanoseconds deadline = std::chrono::seconds(1);
    slot_order order = slot_order::sequential;
    /// Calls that may wait for a send slot; one more ends with rocio::errc::queue_full.
    std::size_t max_waiting = 65536;
    /// A call's 64-bit id travels in the timestamp (opaque to the protocol), its low half in the request id.
    /// true: an answer must echo both. false: a timestamp of 0 is taken, too, from a peer that does not echo
    /// it; then an answer more than four thousand million calls late could be taken for another.
    bool strict_timestamp = false;
    /// The id of the first call; nothing: drawn at random, so that answers to an earlier client of the same
    /// ring find no call.
    std::optional<std::uint64_t> first_id{};
};

} // namespace rocio::rpc
