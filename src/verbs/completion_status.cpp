#include "verbs/completion_status.hpp"

#include <endian.h>

namespace rocio::verbs {

errc errc_of(ibv_wc_status status) noexcept {
    switch (status) {
    case IBV_WC_SUCCESS:
        return errc::success;
    case IBV_WC_LOC_LEN_ERR:
        return errc::local_length_error;
    case IBV_WC_LOC_PROT_ERR:
    case IBV_WC_LOC_ACCESS_ERR:
        return errc::local_protection_error;
    case IBV_WC_WR_FLUSH_ERR:
        return errc::work_request_flushed;
    case IBV_WC_BAD_RESP_ERR:
        return errc::bad_response;
    case IBV_WC_REM_INV_REQ_ERR:
    case IBV_WC_REM_INV_RD_REQ_ERR:
        return errc::remote_invalid_request;
    case IBV_WC_REM_ACCESS_ERR:
        return errc::remote_access_error;
    case IBV_WC_REM_OP_ERR:
    case IBV_WC_REM_ABORT_ERR:
        return errc::remote_operation_error;
    case IBV_WC_RETRY_EXC_ERR:
    case IBV_WC_RESP_TIMEOUT_ERR:
        return errc::retry_exceeded;
    case IBV_WC_RNR_RETRY_EXC_ERR:
        return errc::rnr_retry_exceeded;
    case IBV_WC_FATAL_ERR:
        return errc::device_fatal;
    default: // LOC_QP_OP, GENERAL, and what RC and UC queue pairs never give: EE contexts, windows, tags.
        return errc::local_operation_error;
    }
}

namespace {

completion_opcode opcode_of(ibv_wc_opcode op) noexcept {
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

} // namespace

work_completion completion_of(const ibv_wc& wc) noexcept {
    work_completion out;
    out.id = wr_id::unpack(wc.wr_id);
    out.queue_pair = qpn{wc.qp_num & 0xFFFFFF};
    out.status = errc_of(wc.status);
    if (wc.status != IBV_WC_SUCCESS) return out;
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
