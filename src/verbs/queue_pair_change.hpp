#pragma once

#include <rocio/device/device_queue_pair.hpp>

#include <cstdint>

#include <infiniband/verbs.h>

namespace rocio::verbs {

/// What a device can keep of READs in flight; both ends take the lesser of it and 16, which all known RC
/// hardware has, or of it and what the handshake settled (imposed_parameters).
struct read_depths {
    std::uint8_t initiator = 1;
    std::uint8_t responder = 1;
};
read_depths read_depths_of(const ibv_device_attr& attributes) noexcept;

/// One ibv_modify_qp(): attributes and exactly the mask that state and type ask for (the man page's table).
/// What is not in the mask is zero.
struct queue_pair_change {
    ibv_qp_attr attributes{};
    int mask = 0;
};

queue_pair_change change_to_init(queue_pair_type type, const init_attributes& attributes) noexcept;
/// `gid_index` and `port` are those of INIT. A hop limit of 0 means 64.
queue_pair_change change_to_rtr(queue_pair_type type, const connect_attributes& attributes, std::uint8_t port,
                                std::uint32_t gid_index, read_depths reads) noexcept;
queue_pair_change change_to_rts(queue_pair_type type, const connect_attributes& attributes,
                                read_depths reads) noexcept;
queue_pair_change change_to_error() noexcept;

/// IBV_ACCESS_* of a region.
int access_of_region(memory_access access) noexcept;
/// IBV_ACCESS_* of a queue pair: remote rights only, and no READ on UC, which has none.
unsigned access_of_queue_pair(queue_pair_type type, memory_access access) noexcept;

} // namespace rocio::verbs
