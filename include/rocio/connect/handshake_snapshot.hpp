#pragma once

#include <rocio/types/error.hpp>

#include <chrono>
#include <cstdint>
#include <string>

namespace rocio {

/// The making of connections in one place, such as a listener, as the status shows it; a value.
struct handshake_snapshot {
    std::string name;              ///< Of the stream or ring that it connects.
    std::string kind;              ///< "tcp", "rdma_cm", "cuda-q", "static", "slac", "hsb".
    std::string endpoint;          ///< Where it listens or whom it calls: "127.0.0.1:18515".
    std::uint64_t attempts = 0;    ///< Begun, by either side.
    std::uint64_t established = 0; ///< Of these, ended with a connection.
    std::uint64_t failed = 0;      ///< Refused, timed out, given up.
    error_info last_error{};
    std::string last_error_peer;                             ///< Address and port, where known.
    std::chrono::system_clock::time_point last_error_time{}; ///< 1970 until there is one.
};

} // namespace rocio
