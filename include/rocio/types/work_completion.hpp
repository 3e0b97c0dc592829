#pragma once

#include <rocio/types/error.hpp>
#include <rocio/types/qpn.hpp>
#include <rocio/types/work_request.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>

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

    /// A message by SEND with immediate arrived: the usual case of a receiver, in one comparison.
    bool is_send_with_immediate() const noexcept { return is_receive(completion_opcode::receive); }
    /// A message by WRITE with immediate arrived.
    bool is_write_with_immediate() const noexcept {
        return is_receive(completion_opcode::receive_rdma_write_with_immediate);
    }

  private:
    bool is_receive(completion_opcode wanted) const noexcept {
        // Two comparisons of what lies side by side; compilers do not join them.
        std::uint16_t found = 0;
        std::memcpy(&found, &op, sizeof(found));
        const std::uint8_t bytes[] = {static_cast<std::uint8_t>(wanted), 1};
        std::uint16_t expected = 0;
        std::memcpy(&expected, bytes, sizeof(expected));
        return status == errc::success && found == expected;
    }
};
static_assert(offsetof(work_completion, has_immediate) == offsetof(work_completion, op) + 1);

} // namespace rocio
