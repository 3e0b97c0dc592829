#include "verbs/queue_pair_change.hpp"

#include <algorithm>
#include <cstring>

namespace rocio::verbs {

namespace {

constexpr int most_reads = 16;
constexpr std::uint8_t default_hop_limit = 64;

std::uint8_t reads(int device) noexcept {
    return static_cast<std::uint8_t>(std::clamp(device, 0, most_reads));
}

/// RoCE always routes by GID: is_global, or the kernel answers EINVAL.
ibv_ah_attr address_vector(const connect_attributes& attributes, std::uint8_t port,
                           std::uint32_t gid_index) noexcept {
    ibv_ah_attr out{};
    out.is_global = 1;
    std::memcpy(out.grh.dgid.raw, attributes.peer.address.bytes().data(), sizeof out.grh.dgid.raw);
    out.grh.sgid_index = static_cast<std::uint8_t>(gid_index);
    out.grh.hop_limit = attributes.hop_limit != 0 ? attributes.hop_limit : default_hop_limit;
    out.grh.traffic_class = attributes.traffic_class;
    out.port_num = port;
    return out;
}

read_depths agreed(const connect_attributes& attributes, read_depths device) noexcept {
    const auto& imposed = attributes.peer.imposed;
    if (!imposed) return device;
    return {std::min(device.initiator, imposed->reads_out), std::min(device.responder, imposed->reads_in)};
}

} // namespace

read_depths read_depths_of(const ibv_device_attr& attributes) noexcept {
    return {reads(attributes.max_qp_init_rd_atom), reads(attributes.max_qp_rd_atom)};
}

queue_pair_change change_to_init(queue_pair_type type, const init_attributes& attributes) noexcept {
    queue_pair_change out;
    out.attributes.qp_state = IBV_QPS_INIT;
    out.attributes.pkey_index = 0;
    out.attributes.port_num = attributes.port;
    out.attributes.qp_access_flags = access_of_queue_pair(type, attributes.remote_access);
    out.mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
    return out;
}

queue_pair_change change_to_rtr(queue_pair_type type, const connect_attributes& attributes, std::uint8_t port,
                                std::uint32_t gid_index, read_depths depths) noexcept {
    queue_pair_change out;
    out.attributes.qp_state = IBV_QPS_RTR;
    out.attributes.ah_attr = address_vector(attributes, port, gid_index);
    out.attributes.path_mtu = static_cast<ibv_mtu>(code(attributes.local.path_mtu));
    out.attributes.dest_qp_num = attributes.peer.queue_pair.value();
    out.attributes.rq_psn = attributes.peer.send_psn.value();
    out.mask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
    if (type == queue_pair_type::uc) return out;
    out.attributes.max_dest_rd_atomic = agreed(attributes, depths).responder;
    out.attributes.min_rnr_timer = attributes.local.min_rnr_timer.code();
    out.mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
    return out;
}

queue_pair_change change_to_rts(queue_pair_type type, const connect_attributes& attributes,
                                read_depths depths) noexcept {
    queue_pair_change out;
    out.attributes.qp_state = IBV_QPS_RTS;
    out.attributes.sq_psn = attributes.local.send_psn.value();
    out.mask = IBV_QP_STATE | IBV_QP_SQ_PSN;
    if (type == queue_pair_type::uc) return out;
    out.attributes.timeout = attributes.local.timeout.code();
    out.attributes.retry_cnt = attributes.local.retry_count;
    out.attributes.rnr_retry = attributes.local.rnr_retry;
    out.attributes.max_rd_atomic = agreed(attributes, depths).initiator;
    out.mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
    return out;
}

queue_pair_change change_to_error() noexcept {
    queue_pair_change out;
    out.attributes.qp_state = IBV_QPS_ERR;
    out.mask = IBV_QP_STATE;
    return out;
}

int access_of_region(memory_access access) noexcept {
    int out = 0;
    if (grants(access, memory_access::local_write)) out |= IBV_ACCESS_LOCAL_WRITE;
    if (grants(access, memory_access::remote_write)) out |= IBV_ACCESS_REMOTE_WRITE;
    if (grants(access, memory_access::remote_read)) out |= IBV_ACCESS_REMOTE_READ;
    return out;
}

unsigned access_of_queue_pair(queue_pair_type type, memory_access access) noexcept {
    unsigned out = 0;
    if (grants(access, memory_access::remote_write)) out |= IBV_ACCESS_REMOTE_WRITE;
    if (type == queue_pair_type::rc && grants(access, memory_access::remote_read))
        out |= IBV_ACCESS_REMOTE_READ;
    return out;
}

} // namespace rocio::verbs
