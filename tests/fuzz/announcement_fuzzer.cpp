#include "hsb_announcements.hpp"

#include <cstdio>
#include <cstdlib>

/// Any bytes as a datagram at the port where boards announce themselves: read, written again, as text.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (const auto broken =
            rocio::test::broken_promise_of_announcement(std::as_bytes(std::span(data, size)))) {
        std::fprintf(stderr, "broken promise: %s\n", broken->c_str());
        std::abort();
    }
    return 0;
}
