#pragma once

#include <rocio/transport/memory_region_table.hpp>
#include <rocio/transport/queue_pair.hpp>

#include <memory>

namespace rocio::transport {

/// Makes a reliable-connection queue pair in RESET. `regions` must outlive it.
std::unique_ptr<queue_pair> make_rc_queue_pair(const queue_pair_config& config, const memory_region_table& regions);

} // namespace rocio::transport
