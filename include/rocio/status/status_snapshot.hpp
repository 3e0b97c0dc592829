#pragma once

#include <rocio/connect/handshake_snapshot.hpp>
#include <rocio/device/device_snapshot.hpp>
#include <rocio/io/engine_snapshot.hpp>
#include <rocio/io/queue_pair_snapshot.hpp>
#include <rocio/ring/ring_snapshot.hpp>
#include <rocio/ring/sensor_receiver_snapshot.hpp>
#include <rocio/rpc/client_snapshot.hpp>
#include <rocio/rpc/rpc_snapshot.hpp>
#include <rocio/status/fpga_session_snapshot.hpp>
#include <rocio/stream/receive_server_snapshot.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace rocio {

/// Everything the status shows at one moment; a value. Providers of a status_source fill it.
struct status_snapshot {
    /// Of the JSON document; grows when a member is renamed, removed or changes its meaning.
    static constexpr int schema_version = 1;

    struct process_part {
        std::string name{};                          ///< "rocio recv"; the program's, else "".
        std::string version{};                       ///< Of rocio.
        std::string build{};                         ///< Compiler, optimisation, sanitizers.
        std::chrono::nanoseconds uptime{0};          ///< Since the status_source was made.
        std::chrono::system_clock::time_point now{}; ///< When this was taken.
        std::int64_t pid = 0;
    };
    /// A part whose provider did not answer in time: what is shown of it is old, or missing.
    struct stale_part {
        std::string name;
        std::chrono::nanoseconds age{0}; ///< Of what is shown; since the source was made if nothing is.
        std::string reason;              ///< "no answer within 50 ms", "the turn lasts for 3.2 s".
    };
    struct service {
        std::string name;
        rpc::rpc_snapshot rpc{};
    };
    struct caller {
        std::string name;
        rpc::client_snapshot client{};
    };

    process_part process{};
    std::vector<engine_snapshot> engines{};
    std::vector<device_snapshot> devices{};
    /// The user's own; those of streams and rings are added to the document from these.
    std::vector<queue_pair_snapshot> queue_pairs{};
    std::vector<receive_server_snapshot> streams{};
    std::vector<ring_snapshot> rings{};
    std::vector<sensor_receiver_snapshot> sensors{};
    std::vector<service> services{};
    std::vector<caller> callers{};
    std::vector<fpga_session_snapshot> fpgas{};
    std::vector<handshake_snapshot> handshakes{};
    std::vector<stale_part> stale{};
};

} // namespace rocio
