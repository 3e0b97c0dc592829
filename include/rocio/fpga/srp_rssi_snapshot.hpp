#pragma once

#include <rocio/fpga/register_client_snapshot.hpp>
#include <rocio/fpga/rssi_connection.hpp>

#include <cstdint>

namespace rocio::fpga {

/// An SRP bus over RSSI, as values.
struct srp_rssi_snapshot {
    register_client_snapshot requests{};
    rssi_state state = rssi_state::closed;
    rssi_parameters parameters{};     ///< In use.
    rssi_counters segments{};         ///< Of all connections.
    std::uint64_t connections = 0;    ///< That were open.
    std::uint64_t resets = 0;         ///< Connections that were lost, for whatever reason.
    std::uint64_t dropped_frames = 0; ///< Segments of the packetizer that did not fit.
};

} // namespace rocio::fpga
