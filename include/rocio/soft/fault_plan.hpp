#pragma once

#include <rocio/types/error.hpp>

#include <chrono>
#include <cstdint>

namespace rocio {

/// A bad network for tests and demonstrations: what happens to the datagrams a soft device sends. Each
/// probability is 0..1 and drawn for every datagram; what happens to the n-th datagram depends on `seed` and
/// n alone.
struct fault_plan {
    double drop = 0;
    double duplicate = 0;
    double reorder =
        0;            ///< Held back until 1..reorder_distance later datagrams have left, or for reorder_hold.
    double delay = 0; ///< Held back for a time drawn from 0..delay_time.
    double corrupt = 0; ///< 1..corrupt_bits different bits, drawn anywhere in the UDP payload, are flipped.

    std::uint32_t reorder_distance = 4;           ///< 1..64 datagrams.
    std::chrono::microseconds reorder_hold{1000}; ///< Above 0, at most 1 s.
    std::chrono::microseconds delay_time{2000};   ///< Above 0, at most 1 s.
    std::uint32_t corrupt_bits = 32;              ///< 1..32.
    std::uint64_t seed = 1;

    /// True when the plan does anything at all.
    bool any() const noexcept { return drop > 0 || duplicate > 0 || reorder > 0 || delay > 0 || corrupt > 0; }
};

/// errc::invalid_argument with a sentence that names the first member outside its range.
error_info validate(const fault_plan& plan);

} // namespace rocio
