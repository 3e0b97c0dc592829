#pragma once

#include "bench/bench_result.hpp"

#include <chrono>
#include <cstdint>

namespace rocio::tools {

/// The baseline of the soft device: what the kernel's UDP does between two spinning threads over 127.x
/// addresses, with nothing of rocio in between. Throws std::system_error.

/// `bytes` there and back, `iterations` times after a tenth of that as warm-up.
round_trip_result raw_udp_round_trip(std::uint32_t bytes, std::uint32_t iterations, const bench_cpus& cpus);

/// Datagrams of `bytes` by sendmmsg and recvmmsg, 16 at a time, 32 in flight, one acknowledgement per batch.
stream_result raw_udp_stream(std::uint32_t bytes, std::chrono::milliseconds duration, const bench_cpus& cpus);

} // namespace rocio::tools
