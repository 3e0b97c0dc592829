#include "rpc_examiner.hpp"

#include <cstdio>
#include <cstdlib>

/// Any bytes as a received slot: as a request to a dispatcher, in place, too, and as an answer to a client.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static rocio::test::rpc_examiner examiner;
    if (const auto broken = examiner.broken_promise(std::as_bytes(std::span(data, size)))) {
        std::fprintf(stderr, "broken promise: %s\n", broken->c_str());
        std::abort();
    }
    return 0;
}
