#pragma once

#include <rocio/types/error.hpp>
#include <rocio/types/qpn.hpp>
#include <rocio/types/work_request.hpp>

#include <cstdint>

namespace rocio {

enum class completion_opcode : std::uint8_t {
    send,
    rdma_write,
    rdma_read,
    receive,
    receive_rdma_write_with_immediate,
};

/// How a work request ended. When `status` is not errc::success only `id`, `status` and `queue_pair` mean
/// anything (ibv_poll_cq(3)); the other members are then zero.
struct work_completion {
    wr_id id{};
    errc status = errc::success;
    completion_opcode op = completion_opcode::send;
    bool has_immediate = false;
    std::uint32_t immediate = 0; ///< Host order.
    std::uint32_t byte_len = 0;  ///< Bytes of the message; receives and reads only.
    qpn queue_pair{};
};

} // namespace rocio
