#include <rocio/device/connection_manager.hpp>

namespace rocio {

std::string_view to_string(cm_event_kind kind) noexcept {
    switch (kind) {
    case cm_event_kind::address_resolved:
        return "address resolved";
    case cm_event_kind::address_error:
        return "address error";
    case cm_event_kind::route_resolved:
        return "route resolved";
    case cm_event_kind::route_error:
        return "route error";
    case cm_event_kind::connect_request:
        return "connect request";
    case cm_event_kind::connect_response:
        return "connect response";
    case cm_event_kind::connect_error:
        return "connect error";
    case cm_event_kind::unreachable:
        return "unreachable";
    case cm_event_kind::rejected:
        return "rejected";
    case cm_event_kind::established:
        return "established";
    case cm_event_kind::disconnected:
        return "disconnected";
    case cm_event_kind::device_removal:
        return "device removal";
    case cm_event_kind::address_change:
        return "address change";
    case cm_event_kind::time_wait_exit:
        return "time-wait exit";
    }
    return "unknown";
}

} // namespace rocio
