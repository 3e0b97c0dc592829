#include "verbs/cm_event_translation.hpp"

#include "verbs/failure.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace rocio::verbs {

namespace {

std::optional<cm_event_kind> kind_of(rdma_cm_event_type type) noexcept {
    switch (type) {
    case RDMA_CM_EVENT_ADDR_RESOLVED:
        return cm_event_kind::address_resolved;
    case RDMA_CM_EVENT_ADDR_ERROR:
        return cm_event_kind::address_error;
    case RDMA_CM_EVENT_ROUTE_RESOLVED:
        return cm_event_kind::route_resolved;
    case RDMA_CM_EVENT_ROUTE_ERROR:
        return cm_event_kind::route_error;
    case RDMA_CM_EVENT_CONNECT_REQUEST:
        return cm_event_kind::connect_request;
    case RDMA_CM_EVENT_CONNECT_RESPONSE:
        return cm_event_kind::connect_response;
    case RDMA_CM_EVENT_CONNECT_ERROR:
        return cm_event_kind::connect_error;
    case RDMA_CM_EVENT_UNREACHABLE:
        return cm_event_kind::unreachable;
    case RDMA_CM_EVENT_REJECTED:
        return cm_event_kind::rejected;
    case RDMA_CM_EVENT_ESTABLISHED:
        return cm_event_kind::established;
    case RDMA_CM_EVENT_DISCONNECTED:
        return cm_event_kind::disconnected;
    case RDMA_CM_EVENT_DEVICE_REMOVAL:
        return cm_event_kind::device_removal;
    case RDMA_CM_EVENT_ADDR_CHANGE:
        return cm_event_kind::address_change;
    case RDMA_CM_EVENT_TIMEWAIT_EXIT:
        return cm_event_kind::time_wait_exit;
    case RDMA_CM_EVENT_MULTICAST_JOIN:
    case RDMA_CM_EVENT_MULTICAST_ERROR:
        break;
    }
    return std::nullopt;
}

bool tells_of_failure(cm_event_kind kind) noexcept {
    switch (kind) {
    case cm_event_kind::address_error:
    case cm_event_kind::route_error:
    case cm_event_kind::connect_error:
    case cm_event_kind::unreachable:
    case cm_event_kind::device_removal:
        return true;
    default:
        return false;
    }
}

bool has_data(cm_event_kind kind) noexcept {
    return kind == cm_event_kind::connect_request || kind == cm_event_kind::connect_response ||
           kind == cm_event_kind::established || kind == cm_event_kind::rejected;
}

void copy_data(const rdma_conn_param& from, cm_private_data& to) noexcept {
    if (from.private_data == nullptr) return;
    to.size = std::min<std::size_t>(from.private_data_len, to.bytes.size());
    std::memcpy(to.bytes.data(), from.private_data, to.size);
}

} // namespace

error_code reason_of(cm_event_kind kind, int status) noexcept {
    if (!tells_of_failure(kind)) return {};
    if (kind == cm_event_kind::device_removal) return errc::device_fatal;
    const int number = status < 0 ? -status : status;
    // ENODEV here is no device that is gone: no RDMA device leads there.
    if (number == ENODEV) return errc::address_not_available;
    if (number != 0) return code_of(number);
    return {kind == cm_event_kind::unreachable ? ETIMEDOUT : EHOSTUNREACH, boost::system::system_category()};
}

std::optional<cm_event> translate(const rdma_cm_event& event) noexcept {
    const auto kind = kind_of(event.event);
    if (!kind) return std::nullopt;
    cm_event out;
    out.kind = *kind;
    out.reason = reason_of(*kind, event.status);
    if (*kind == cm_event_kind::rejected)
        out.reject_reason = static_cast<std::uint32_t>(event.status < 0 ? -event.status : event.status);
    if (has_data(*kind)) copy_data(event.param.conn, out.data);
    return out;
}

cm_numbers numbers_of(const ibv_qp_attr& rtr, const ibv_qp_attr& rts) noexcept {
    cm_numbers out;
    gid::bytes_type peer{};
    std::memcpy(peer.data(), rtr.ah_attr.grh.dgid.raw, peer.size());
    out.peer_address = gid(peer);
    out.port = rtr.ah_attr.port_num;
    out.peer_queue_pair = qpn(rtr.dest_qp_num & 0xFFFFFF);
    out.send_psn = psn(rts.sq_psn & psn::mask);
    out.receive_psn = psn(rtr.rq_psn & psn::mask);
    out.path_mtu = mtu_from_code(static_cast<std::uint32_t>(rtr.path_mtu)).value_or(mtu::b256);
    out.reads_in = rtr.max_dest_rd_atomic;
    out.reads_out = rts.max_rd_atomic;
    return out;
}

} // namespace rocio::verbs
