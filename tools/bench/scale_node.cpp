#include "bench/scale_node.hpp"

#include <rocio/io/connectable.hpp>

namespace rocio::tools {

namespace {

/// Both sides are in this process: nobody goes without saying so.
struct no_watch final : liveness {
    void release() noexcept override {}
};

} // namespace

scale_node::scale_node(const std::vector<std::string>& devices, const busy_poll_thread_config& config,
                       std::uint32_t size)
    : thread(config) {
    for (const auto& name : devices) {
        devs.push_back(open_device(name));
        memories.push_back(std::make_unique<memory_region>(devs.back(), size));
    }
}

scale_node::~scale_node() {
    on(*this, [this] { pairs.clear(); });
    on(*this, [this] { memories.clear(); });
}

local_parameters scale_node::add_pair(std::size_t device, const queue_pair_config& config) {
    auto& pair = pairs.emplace_back(thread.context(), devs[device], config);
    devices_of_pairs.push_back(device);
    local_parameters numbers;
    throw_if(pair.as_connectable()->prepare(numbers));
    return numbers;
}

void scale_node::connect_pair(std::size_t pair, const local_parameters& other) {
    peer_parameters peer;
    static_cast<endpoint_parameters&>(peer) = other;
    throw_if(validate(peer));
    const auto target = pairs[pair].as_connectable();
    throw_if(target->establish(peer));
    target->connected(std::make_unique<no_watch>());
}

} // namespace rocio::tools
