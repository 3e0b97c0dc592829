#pragma once

#include <rocio/types/error.hpp>

#include <cstdint>
#include <string>

namespace rocio {

/// What a tcp_listener has seen since it was made.
struct tcp_listener_snapshot {
    std::uint64_t accepted = 0;  ///< Connections with a valid hello.
    std::uint64_t refused = 0;   ///< Hellos refused: garbage, another version, a number outside its range.
    std::uint64_t timed_out = 0; ///< No whole hello within the deadline.
    std::uint64_t dropped = 0;   ///< The oldest without a hello, when there were too many.
    std::uint64_t probes = 0;    ///< Closed by the other side before it had said hello.
    std::uint64_t resource_errors =
        0; ///< The system had no descriptor or memory for a connection; tried again later.
    std::uint64_t unfinished = 0;    ///< Without a whole hello, at this moment.
    error_info last_refusal{};       ///< Why the last hello was refused.
    std::string last_refused_peer{}; ///< Its address and port.
};

} // namespace rocio
