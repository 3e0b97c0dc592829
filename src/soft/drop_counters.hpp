#pragma once

#include <rocio/device/device_snapshot.hpp>
#include <rocio/types/relaxed_counter.hpp>
#include <rocio/wire/packet.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace rocio::soft {

/// Why a received datagram went no further, in the order of the checks.
enum class drop_reason : std::uint8_t {
    port_down,
    truncated, ///< Longer than any packet.
    too_short,
    not_multiple_of_4,
    bad_version,
    unknown_opcode,
    pad_exceeds_payload,
    unexpected_payload,
    bad_icrc,
    bad_pkey,
    unknown_queue_pair,
    foreign_source, ///< Not from the address of the queue pair's peer.
    wrong_service,  ///< UC or UD for an RC queue pair …
    wrong_state,    ///< The queue pair is not connected, or in the error state.
    count_,
};

std::string_view to_string(drop_reason reason) noexcept;
drop_reason reason_of(wire::malformed m) noexcept;

class drop_counters {
  public:
    void add(drop_reason reason) noexcept { counts_[static_cast<std::size_t>(reason)].add(); }
    std::uint64_t of(drop_reason reason) const noexcept {
        return counts_[static_cast<std::size_t>(reason)].value();
    }
    /// "drops.bad_icrc" …
    void append_counters(std::vector<device_snapshot::counter>& out) const;

  private:
    std::array<relaxed_counter, static_cast<std::size_t>(drop_reason::count_)> counts_{};
};

} // namespace rocio::soft
