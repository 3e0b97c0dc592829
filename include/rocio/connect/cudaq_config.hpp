#pragma once

#include <rocio/connect/handshake_log.hpp>
#include <rocio/types/error.hpp>

#include <chrono>
#include <cstdint>
#include <memory>

namespace rocio {

/// The deadlines of CUDA-Q's rendezvous.
struct cudaq_config {
    /// Caller: from the first attempt to connect (repeated every 20 ms, as the service may not listen yet) to
    /// the service's numbers. Service: from the caller's connection to its numbers.
    std::chrono::milliseconds exchange_deadline{5000};
    /// Service: how long to wait for a caller; 0: for ever.
    std::chrono::milliseconds accept_deadline{0};
    /// Where attempts are counted for the status; shared by the handshakes of one place. Default: nowhere; a
    /// service makes one.
    std::shared_ptr<handshake_log> handshakes{};
};

/// errc::invalid_argument for a deadline that is not positive or above one hour (accept_deadline may be 0).
error_info validate(const cudaq_config& config);

} // namespace rocio
