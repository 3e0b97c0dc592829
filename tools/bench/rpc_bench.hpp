#pragma once

#include "bench/bench_result.hpp"
#include "bench/measurement.hpp"

#include <atomic>
#include <cstdint>
#include <string>

namespace rocio::tools {

/// Bytes of a request and of its answer, headers included.
inline constexpr std::uint32_t rpc_message = 64;

/// Calls one after the other, WRITE with immediate there and SEND back, between two devices of rocio:
/// rpc::client on a ring_transceiver and a busy_poll_thread that spins, rpc::dispatcher on one in unified
/// mode. Latencies are of whole calls; calls without an answer in time are lost. A tenth of `iterations`
/// comes before as warm-up. `progress` counts the calls. Throws rocio::exception.
measurement rpc_round_trips(const std::string& first, const std::string& second, std::uint64_t iterations,
                            const bench_cpus& cpus, std::atomic<std::uint64_t>& progress);

} // namespace rocio::tools
