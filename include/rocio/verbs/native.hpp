#pragma once

#include <rocio/device/device.hpp>

#include <infiniband/verbs.h>

namespace rocio::verbs {

/// The libibverbs objects behind the seam, for what rocio does not offer (hardware time stamps, flow rules,
/// vendor extensions). They stay owned by their rocio object and live as long as it does; nullptr for an
/// object that is not one of the verbs device. Do not destroy them, do not take their events, do not poll:
/// the completion engine does. Any thread.
ibv_context* native_context(const device& dev) noexcept;
ibv_pd* native_protection_domain(const device& dev) noexcept;
ibv_cq* native_handle(const device_completion_queue& queue) noexcept;
ibv_qp* native_handle(const device_queue_pair& pair) noexcept;
ibv_mr* native_handle(const device_memory_region& region) noexcept;

} // namespace rocio::verbs
