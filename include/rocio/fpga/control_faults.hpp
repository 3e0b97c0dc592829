#pragma once

#include <cstdint>

namespace rocio::fpga {

/// What happens to the datagrams of an emulated board's register port, in both directions: probabilities, 0
/// to 1. The same seed and the same datagrams give the same faults.
struct control_faults {
    double drop = 0;
    double duplicate = 0;
    double reorder = 0; ///< A datagram is kept back until the next one of its direction has passed.
    std::uint64_t seed = 1;
};

} // namespace rocio::fpga
