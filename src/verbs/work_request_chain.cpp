#include "verbs/work_request_chain.hpp"

#include <endian.h>

namespace rocio::verbs {

namespace {

ibv_wr_opcode opcode_of(opcode op) noexcept {
    switch (op) {
    case opcode::send:
        return IBV_WR_SEND;
    case opcode::send_with_immediate:
        return IBV_WR_SEND_WITH_IMM;
    case opcode::rdma_write:
        return IBV_WR_RDMA_WRITE;
    case opcode::rdma_write_with_immediate:
        return IBV_WR_RDMA_WRITE_WITH_IMM;
    case opcode::rdma_read:
        return IBV_WR_RDMA_READ;
    }
    return IBV_WR_SEND;
}

unsigned flags_of(const send_request& request) noexcept {
    return (request.signalled ? unsigned{IBV_SEND_SIGNALED} : 0U) |
           (request.solicited ? unsigned{IBV_SEND_SOLICITED} : 0U) |
           (request.inlined ? unsigned{IBV_SEND_INLINE} : 0U);
}

} // namespace

void fill(send_chain& chain, std::size_t i, const send_request& request) noexcept {
    ibv_send_wr& out = chain[i];
    out.wr_id = request.id.packed();
    out.opcode = opcode_of(request.op);
    out.send_flags = flags_of(request);
    out.imm_data = htobe32(request.immediate);
    out.wr.rdma.remote_addr = request.remote_address;
    out.wr.rdma.rkey = request.remote_key.value;
    if (request.inlined)
        chain.point(i, request.inline_data.data(), static_cast<std::uint32_t>(request.inline_data.size()), 0);
    else
        chain.point(i, request.buffer.data, request.buffer.size, request.buffer.key.value);
}

void fill(receive_chain& chain, std::size_t i, const receive_request& request) noexcept {
    chain[i].wr_id = request.id.packed();
    chain.point(i, request.buffer.data, request.buffer.size, request.buffer.key.value);
}

} // namespace rocio::verbs
