#include "bus_examiner.hpp"

#include <cstdio>
#include <cstdlib>

/// Any bytes where the register buses take bytes from the network: SRP requests and replies, packetizer
/// segments, RSSI segments to both sides.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (const auto* const broken = rocio::test::broken_bus_promise(std::as_bytes(std::span(data, size)))) {
        std::fprintf(stderr, "broken promise: %s\n", broken);
        std::abort();
    }
    return 0;
}
