#pragma once

#include <rocio/device/connection_manager.hpp>

#include <optional>

#include <rdma/rdma_cma.h>

namespace rocio::verbs {

/// What an event of rdma_cm says; the ids are left out. Nothing for those that only multicast groups get.
std::optional<cm_event> translate(const rdma_cm_event& event) noexcept;

/// Why an event with this status came. rdma_cm gives a negative error number, some kernels a positive one;
/// where it gives none, what the event means in itself.
error_code reason_of(cm_event_kind kind, int status) noexcept;

/// The attributes of a queue pair on its way to RTR and RTS as the numbers they hold. `local_address` comes
/// from elsewhere: the attributes hold only its index.
cm_numbers numbers_of(const ibv_qp_attr& rtr, const ibv_qp_attr& rts) noexcept;

} // namespace rocio::verbs
