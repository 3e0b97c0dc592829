#pragma once

#include "bench/bench_result.hpp"

#include <cstdint>
#include <string>

namespace rocio::tools {

struct rpc_bench_result {
    round_trip_result round_trip{};
    std::uint64_t lost = 0;         ///< Calls without an answer in time.
    std::int64_t memory_growth = 0; ///< Bytes of resident memory, from the end of the warm-up to the end.
};

/// Bytes of a request and of its answer, headers included.
inline constexpr std::uint32_t rpc_message = 64;

/// Calls one after the other, WRITE with immediate there and SEND back, between two devices of rocio, each on
/// a busy_poll_thread that spins: rpc::client and rpc::ring_dispatcher on ring_transceiver. A tenth of
/// `iterations` is warm-up. Throws rocio::exception.
rpc_bench_result rpc_round_trip(const std::string& first, const std::string& second, std::uint32_t iterations,
                                const bench_cpus& cpus);

} // namespace rocio::tools
