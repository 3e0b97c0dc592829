#pragma once

#include "bench/bench_result.hpp"

#include <rocio/io/polling_policy.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace rocio::tools {

/// So many of everything on the sending side; the receiving side has as many contexts.
struct scale_point {
    std::uint32_t queue_pairs = 1;
    std::uint32_t peers = 1; ///< User-space devices the queue pairs are connected with, in turn.
    std::uint32_t contexts = 1;
};

struct scale_config {
    std::uint32_t size = 64;      ///< Bytes of a message.
    std::uint64_t count = 100000; ///< Measured messages of each context, after a tenth of that as warm-up.
    bench_cpus cpus{};            ///< Of the sending and of the receiving contexts.
    polling_policy poll = polling_policy::spin();
    std::string network = "127.62"; ///< First half of the devices' addresses.
};

/// What a message and a queue pair cost.
struct scale_result {
    double nanoseconds_per_message = 0;
    double cpu_us_per_message = 0;   ///< Of both sides.
    double bytes_per_queue_pair = 0; ///< Of heap, connected and with its receives posted; 0 where unknown.
    double allocations_per_message = 0;
};

/// SENDs in bursts of 16 to one queue pair after the other, two bursts on their way, callbacks. Every message
/// must arrive, its bytes are checked. Throws rocio::exception.
scale_result run_scale(const scale_point& point, const scale_config& config);

/// The table of the benchmark: 1 to 1024 queue pairs, 1 to 64 peers, 1 to 4 contexts, each group beginning
/// with what its ratios refer to.
std::vector<std::vector<scale_point>> scale_points();

/// Of several rounds, each the medians.
scale_result middle_of(const std::vector<scale_result>& rounds);

} // namespace rocio::tools
