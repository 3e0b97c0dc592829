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

/// Reads only what is valid: of a failed completion wr_id, status and qp_num (ibv_poll_cq(3)).
inline work_completion completion_of(const ibv_wc& wc) noexcept {
    work_completion out;
    out.id = wr_id::unpack(wc.wr_id);
    out.queue_pair = qpn{wc.qp_num & 0xFFFFFF};
    if (wc.status != IBV_WC_SUCCESS) {
        out.status = errc_of(wc.status);
        return out;
    }
    out.op = opcode_of(wc.opcode);
    // The length of a completed SEND or WRITE is not defined.
    if (out.op != completion_opcode::send && out.op != completion_opcode::rdma_write)
        out.byte_len = wc.byte_len;
    if ((wc.wc_flags & IBV_WC_WITH_IMM) != 0) {
        out.has_immediate = true;
        out.immediate = be32toh(wc.imm_data);
    }
    return out;
}

} // namespace rocio::verbs
