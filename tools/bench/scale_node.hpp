#pragma once

#include "bench/bench_end.hpp"

#include <rocio/io/memory_region.hpp>
#include <rocio/io/queue_pair.hpp>
#include <rocio/types/parameters.hpp>

#include <memory>
#include <string>
#include <vector>

namespace rocio::tools {

/// A context with its devices and queue pairs. Everything but construction and destruction happens on its
/// thread; see on().
struct scale_node {
    using executor = boost::asio::io_context::executor_type;
    using pair_type = basic_queue_pair<executor>;

    scale_node(const std::vector<std::string>& devices, const busy_poll_thread_config& config,
               std::uint32_t size);
    ~scale_node();
    scale_node(const scale_node&) = delete;
    scale_node& operator=(const scale_node&) = delete;

    /// Makes a queue pair on one of the devices and gives its numbers.
    local_parameters add_pair(std::size_t device, const queue_pair_config& config);
    void connect_pair(std::size_t pair, const local_parameters& other);

    std::vector<std::shared_ptr<device>> devs{};
    busy_poll_thread thread;
    std::vector<std::unique_ptr<memory_region>> memories{}; ///< A message, for each device.
    std::vector<pair_type> pairs{};
    std::vector<std::size_t> devices_of_pairs{};
};

} // namespace rocio::tools
