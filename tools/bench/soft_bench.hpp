#pragma once

#include "bench/bench_result.hpp"

#include <chrono>
#include <cstdint>
#include <string>

namespace rocio::tools {

/// The same between two devices of rocio, each on a busy_poll_thread that spins: RC SEND through queue_pair
/// and receive_server, callbacks on the context's own executor. `first` and `second` are device names. Throws
/// rocio::exception.

round_trip_result soft_round_trip(const std::string& first, const std::string& second, std::uint32_t bytes,
                                  std::uint32_t iterations, const bench_cpus& cpus);

stream_result soft_stream(const std::string& first, const std::string& second, std::uint32_t bytes,
                          std::chrono::milliseconds duration, const bench_cpus& cpus);

} // namespace rocio::tools
