#pragma once

#include <rocio/types/latency_histogram.hpp>

#include <cstdint>

namespace rocio::rpc {

/// A client as the status shows it; a value.
struct client_snapshot {
    std::uint64_t calls = 0;             ///< Started.
    std::uint64_t succeeded = 0;         ///< Answered with status 0 and a result that fits.
    std::uint64_t failed = 0;            ///< Answered with another status.
    std::uint64_t bad_responses = 0;     ///< Answered with a result that does not fit.
    std::uint64_t deadline_exceeded = 0; ///< Not answered in time.
    std::uint64_t cancelled = 0;         ///< Cancelled, or ended by the client's end.
    std::uint64_t refused = 0;           ///< Never sent: too long, too many waiting, refused by the ring.

    std::uint64_t late_answers = 0;      ///< To calls that had ended without one.
    std::uint64_t duplicate_answers = 0; ///< To calls that had had theirs.
    std::uint64_t foreign_answers = 0;   ///< To no call of this client.
    std::uint64_t not_answers = 0;       ///< Shorter than a header, or another magic.

    std::uint32_t in_flight = 0;
    std::uint64_t waiting = 0; ///< For a send slot.
    latency_summary latency{}; ///< From initiation to the answer.
};

} // namespace rocio::rpc
