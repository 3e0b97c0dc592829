#pragma once

#include <rocio/types/error.hpp>
#include <rocio/types/qpn.hpp>

#include <cstdint>
#include <string_view>

namespace rocio {

enum class device_event_kind : std::uint8_t {
    port_active,
    port_error,
    gid_change,
    queue_pair_fatal,
    queue_pair_access_error,
    communication_established,
    completion_queue_error,
    device_fatal,
};
std::string_view to_string(device_event_kind kind) noexcept;

/// An asynchronous event, already acknowledged to the device.
struct device_event {
    device_event_kind kind = device_event_kind::device_fatal;
    std::uint8_t port = 0; ///< Port events only.
    qpn queue_pair{};      ///< Queue pair events only.
};

} // namespace rocio
