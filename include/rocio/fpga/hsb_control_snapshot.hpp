#pragma once

#include <cstdint>

namespace rocio::fpga {

/// What a control channel's client has done, as values.
struct hsb_control_snapshot {
    std::uint64_t requests = 0; ///< Different ones: a repeated request counts once.
    std::uint64_t retries = 0;  ///< Requests sent again because no answer came in time.
    std::uint64_t refusals = 0; ///< Answers with a status other than success.
    std::uint64_t ignored =
        0; ///< Datagrams of the peer that answer no outstanding request, or make no sense.
};

} // namespace rocio::fpga
