#pragma once

#include "bench/pair_bench.hpp"

namespace rocio::tools {

/// The listening end of a stream: a receive_server whose frames are taken in batches and compared, each of
/// them, with what the sender's buffers hold; the numbers in the immediates must be consecutive. The sender
/// is run_queue_pair() with SEND with immediate, a bandwidth, `immediate_shift` 8 and the same `buffers`.
/// Throws as run_queue_pair().
measurement run_stream_receiver(const pair_bench_config& config);

} // namespace rocio::tools
