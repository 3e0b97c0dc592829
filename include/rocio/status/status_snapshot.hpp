#pragma once

#include <rocio/device/device_snapshot.hpp>
#include <rocio/io/engine_snapshot.hpp>
#include <rocio/status/fpga_session_snapshot.hpp>
#include <rocio/stream/receive_server_snapshot.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace rocio {

/// Everything the status shows at one moment; a value. Providers of a status_source fill it.
struct status_snapshot {
    struct process_part {
        std::string version{};              ///< Of rocio.
        std::chrono::nanoseconds uptime{0}; ///< Since the status_source was made.
        std::int64_t pid = 0;
    };

    process_part process{};
    std::vector<engine_snapshot> engines{};
    std::vector<device_snapshot> devices{};
    std::vector<receive_server_snapshot> streams{};
    std::vector<fpga_session_snapshot> fpgas{};
};

} // namespace rocio
