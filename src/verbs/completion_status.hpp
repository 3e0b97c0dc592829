#pragma once

#include <rocio/types/error.hpp>
#include <rocio/types/work_completion.hpp>

#include <endian.h>
#include <infiniband/verbs.h>

namespace rocio::verbs {

/// Total: a status this version does not know is errc::local_operation_error.
errc errc_of(ibv_wc_status status) noexcept;

inline completion_opcode opcode_of(ibv_wc_opcode op) noexcept {
    switch (op) {
    case IBV_WC_RECV:
        return completion_opcode::receive;
    case IBV_WC_RECV_RDMA_WITH_IMM:
        return completion_opcode::receive_rdma_write_with_immediate;
    case IBV_WC_RDMA_WRITE:
        return completion_opcode::rdma_write;
    case IBV_WC_RDMA_READ:
        return completion_opcode::rdma_read;
    default:
        return completion_opcode::send;
    }
}

/// Reads only what is valid: of a failed completion wr_id, status and qp_num (ibv_poll_cq(3)). Written in
/// place, member by member: a completion made elsewhere and copied costs twice as much.
inline void translate(const ibv_wc& wc, work_completion& out) noexcept {
    out.id = wr_id::from_bits(wc.wr_id);
    out.queue_pair = qpn{wc.qp_num & 0xFFFFFF};
    if (wc.status != IBV_WC_SUCCESS) [[unlikely]] {
        out = {.id = out.id, .status = errc_of(wc.status), .queue_pair = out.queue_pair};
        return;
    }
    out.status = errc::success;
    out.op = opcode_of(wc.opcode);
    // The length of a completed SEND or WRITE is not defined.
    const bool has_length = out.op != completion_opcode::send && out.op != completion_opcode::rdma_write;
    out.byte_len = has_length ? wc.byte_len : 0;
    out.has_immediate = (wc.wc_flags & IBV_WC_WITH_IMM) != 0;
    out.immediate = out.has_immediate ? be32toh(wc.imm_data) : 0;
}

} // namespace rocio::verbs
