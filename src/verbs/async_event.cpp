#include "verbs/async_event.hpp"

namespace rocio::verbs {

namespace {

device_event of_port(device_event_kind kind, const ibv_async_event& event) noexcept {
    return {.kind = kind, .port = static_cast<std::uint8_t>(event.element.port_num), .queue_pair = {}};
}

device_event of_queue_pair(device_event_kind kind, const ibv_async_event& event) noexcept {
    return {.kind = kind, .port = 0, .queue_pair = qpn{event.element.qp->qp_num & 0xFFFFFF}};
}

} // namespace

std::optional<device_event> event_of(const ibv_async_event& event) noexcept {
    switch (event.event_type) {
    case IBV_EVENT_PORT_ACTIVE:
        return of_port(device_event_kind::port_active, event);
    case IBV_EVENT_PORT_ERR:
        return of_port(device_event_kind::port_error, event);
    case IBV_EVENT_GID_CHANGE:
        return of_port(device_event_kind::gid_change, event);
    case IBV_EVENT_QP_FATAL:
    case IBV_EVENT_QP_REQ_ERR: // the responder got an invalid request; the queue pair is in error all the
                               // same
        return of_queue_pair(device_event_kind::queue_pair_fatal, event);
    case IBV_EVENT_QP_ACCESS_ERR:
        return of_queue_pair(device_event_kind::queue_pair_access_error, event);
    case IBV_EVENT_COMM_EST:
        return of_queue_pair(device_event_kind::communication_established, event);
    case IBV_EVENT_CQ_ERR:
        return device_event{.kind = device_event_kind::completion_queue_error, .port = 0, .queue_pair = {}};
    case IBV_EVENT_DEVICE_FATAL:
        return device_event{.kind = device_event_kind::device_fatal, .port = 0, .queue_pair = {}};
    default:
        return std::nullopt;
    }
}

} // namespace rocio::verbs
