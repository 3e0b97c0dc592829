#pragma once

#include <rocio/fpga/hsb_channel_snapshot.hpp>
#include <rocio/fpga/slac_engine_snapshot.hpp>

#include <cstdint>
#include <string>
#include <variant>

namespace rocio {

/// One board's control plane as the status shows it; a value.
struct fpga_session_snapshot {
    std::string name;           ///< Of the stream or ring that it feeds.
    std::string fpga_ip;        ///< Where frames come from.
    std::string registers;      ///< Where and how the registers are reached.
    std::uint64_t attempts = 0; ///< Connections begun so far.
    std::variant<fpga::slac_engine_snapshot, fpga::hsb_channel_snapshot> session{}; ///< The latest.
};

} // namespace rocio
