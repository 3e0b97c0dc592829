#include "packet_examiner.hpp"

#include <cstdio>
#include <cstdlib>

/// Any bytes as a UDP payload: parse, accessors, re-encoding, text and both ICRC checks.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const rocio::test::packet_examiner examiner;
    if (const auto broken = examiner.broken_promise(std::as_bytes(std::span(data, size)))) {
        std::fprintf(stderr, "broken promise: %s\n", broken->c_str());
        std::abort();
    }
    return 0;
}
