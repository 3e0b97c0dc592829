#pragma once

#include <rocio/device/device_event.hpp>

#include <optional>

#include <infiniband/verbs.h>

namespace rocio::verbs {

/// What the seam says of an event; nothing for those that do not concern RC and UC queue pairs over Ethernet
/// (LID, P_Key, subnet manager, shared receive queues, path migration). Copies all it needs, so that the
/// event can be acknowledged at once: an object whose event is not acknowledged cannot be destroyed.
std::optional<device_event> event_of(const ibv_async_event& event) noexcept;

} // namespace rocio::verbs
