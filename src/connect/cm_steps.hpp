#pragma once

#include <rocio/device/connection_manager.hpp>

#include <cstdint>

namespace rocio::detail {

/// Where a connection by rdma_cm stands.
enum class cm_stage : std::uint8_t {
    fresh,             ///< Nothing asked yet.
    resolving_address, //
    resolving_route,   //
    connecting,        ///< Asked for the connection.
    responded,         ///< The peer accepts; our queue pair is not ready yet.
    requested,         ///< The peer asks; not answered yet.
    accepting,         ///< Answered; the peer has not confirmed.
    established,       //
    leaving,           ///< Disconnected by us; not confirmed.
    in_time_wait,      //
    over,
};
inline constexpr std::size_t cm_stage_count = 11;

enum class cm_outcome : std::uint8_t {
    ignored, ///< Of no meaning here, or late: events of rdma_cm come in other orders than one expects.
    done,    ///< What this stage waits for.
    failed,  ///< The connection is over, or never comes about.
};

/// What an event means in a stage. Total: every pair has an answer.
cm_outcome outcome_of(cm_stage stage, cm_event_kind event) noexcept;

} // namespace rocio::detail
