#pragma once

#include <rocio/connect/handshake_log.hpp>
#include <rocio/types/error.hpp>

#include <chrono>
#include <cstdint>
#include <memory>

namespace rocio {

/// The deadlines of a TCP rendezvous, and what this side tells about itself beyond its queue pair's numbers.
/// No step can wait for ever; each deadline counts for the whole step, however slowly its bytes come.
struct tcp_rendezvous_config {
    /// Connecting side: until the TCP connection stands.
    std::chrono::milliseconds connect_deadline{5000};
    /// Until the other side's numbers are there. The connecting side waits that long for the listening side's
    /// application to take the connection up.
    std::chrono::milliseconds exchange_deadline{5000};
    /// From the moment when this side can receive until the other side can.
    std::chrono::milliseconds ready_deadline{5000};
    /// From the start of async_exchange() to the end of async_ready(), all steps together.
    std::chrono::milliseconds total_deadline{15000};
    /// Silence after which the other side is taken for lost, also when it is stopped or cannot be reached
    /// while its TCP connection seems to stand. It is told to the other side, which then gives a sign of life
    /// six times in that time: an application that blocks its context for half of it, 1.5 s, is still alive.
    /// 0: only the end of the TCP connection counts.
    std::chrono::milliseconds liveness_deadline{3000};
    /// async_release(): until the other side has taken the goodbye.
    std::chrono::milliseconds release_deadline{500};
    /// Bytes of the largest message this side will send; 0: not told. The handshake is refused when the other
    /// side says that it takes less.
    std::uint32_t largest_message = 0;
    /// Where attempts are counted for the status; shared by the handshakes of one place. Default: nowhere; a
    /// listener makes one.
    std::shared_ptr<handshake_log> handshakes{};
};

/// errc::invalid_argument with a sentence for a deadline that is not positive or above one hour
/// (liveness_deadline may be 0).
error_info validate(const tcp_rendezvous_config& config);

} // namespace rocio
