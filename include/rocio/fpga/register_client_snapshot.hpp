#pragma once

#include <cstdint>

namespace rocio::fpga {

/// What a register bus has done, as values.
struct register_client_snapshot {
    std::uint64_t requests = 0; ///< Different ones: a repeated request counts once.
    std::uint64_t retries = 0;  ///< Requests sent again because no answer came in time.
    std::uint64_t refusals = 0; ///< Answers that say no.
    std::uint64_t failures = 0; ///< Requests that ended with an error, refusals included.
    std::uint64_t ignored = 0;  ///< Messages that answer no outstanding request, or make no sense.
};

} // namespace rocio::fpga
