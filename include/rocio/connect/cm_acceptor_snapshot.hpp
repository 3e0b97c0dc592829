#pragma once

#include <cstdint>
#include <string>

namespace rocio {

/// What a cm_acceptor has seen since it was made.
struct cm_acceptor_snapshot {
    std::uint64_t requests = 0;     ///< Connections asked for.
    std::uint64_t accepted = 0;     ///< Of these, given to an async_accept().
    std::uint64_t busy = 0;         ///< Rejected because too many waited.
    std::uint64_t given_up = 0;     ///< Gone or too old before anybody accepted them.
    std::uint64_t waiting = 0;      ///< At this moment.
    std::string last_turned_away{}; ///< Address and port of the last that was not accepted.
};

} // namespace rocio
