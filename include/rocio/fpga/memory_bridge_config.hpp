#pragma once

#include <rocio/types/error.hpp>

#include <chrono>
#include <cstdint>

namespace rocio::fpga {

/// What rogue calls memory.TcpServer: requests at this port, replies at the next.
inline constexpr std::uint16_t memory_bridge_default_port = 10000;

struct memory_bridge_config {
    /// How long an operation may take, with the time until the bridge is there.
    std::chrono::milliseconds answer_deadline{5000};
    /// Between the probes that find out whether it is.
    std::chrono::milliseconds probe_period{100};
};

/// errc::invalid_argument for a deadline outside 1 ms to 60 s, a period outside 1 ms to 60 s.
error_info validate(const memory_bridge_config& config);

} // namespace rocio::fpga
