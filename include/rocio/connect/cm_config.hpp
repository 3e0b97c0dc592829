#pragma once

#include <rocio/connect/handshake_log.hpp>
#include <rocio/types/error.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace rocio {

/// The deadlines of a connection by rdma_cm, and what this side tells about itself beyond its queue pair's
/// numbers. No step can wait for ever.
struct cm_config {
    /// Connecting side: until the peer's address is resolved, and again until the route is.
    std::chrono::milliseconds resolve_deadline{2000};
    /// Connecting side: from our request to the peer's answer, its application's time to take it up included.
    std::chrono::milliseconds connect_deadline{5000};
    /// Listening side: from our answer until the peer says that the connection stands.
    std::chrono::milliseconds ready_deadline{5000};
    /// From the start of async_exchange() to the end of async_ready(), all steps together.
    std::chrono::milliseconds total_deadline{15000};
    /// async_release(): until the peer has confirmed the end.
    std::chrono::milliseconds release_deadline{500};
    /// async_release() also waits until the system lets the queue pair's number go (time-wait), at most so
    /// long; 0: not. The system keeps the connection out of harm's way by itself; a test that counts wants
    /// it.
    std::chrono::milliseconds time_wait_deadline{0};
    /// Bytes of the largest message this side will send; 0: not told. The handshake is refused when the other
    /// side says that it takes less.
    std::uint32_t largest_message = 0;
    /// Private data for a peer that is not rocio, as it expects them: at most 56 bytes on the connecting side
    /// and 196 on the listening side. Without a value this side tells region, payload and depth in rocio's
    /// own form, which other programs ignore.
    std::optional<std::vector<std::byte>> private_data{};
    /// Where attempts are counted for the status; shared by the handshakes of one place. Default: nowhere; an
    /// acceptor makes one.
    std::shared_ptr<handshake_log> handshakes{};
};

/// errc::invalid_argument with a sentence for a deadline that is not positive or above one hour
/// (time_wait_deadline may be 0), or for more than 196 bytes of private data.
error_info validate(const cm_config& config);

} // namespace rocio
