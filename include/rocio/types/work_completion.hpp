#pragma once

#include <rocio/types/error.hpp>
#include <rocio/types/qpn.hpp>
#include <rocio/types/work_request.hpp>

#include <bit>
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
    std::uint16_t reserved = 0;  ///< Stays 0, so that outcome() needs no mask.
    std::uint32_t immediate = 0; ///< Host order.
    std::uint32_t byte_len = 0;  ///< Bytes of the message; receives and reads only.
    qpn queue_pair{};

    /// Status, operation and whether there is an immediate, in one comparison.
    std::uint64_t outcome() const noexcept;
};

/// What work_completion::outcome() gives for these.
constexpr std::uint64_t outcome_of(errc status, completion_opcode op, bool has_immediate) noexcept {
    struct parts {
        errc status;
        completion_opcode op;
        std::uint8_t has_immediate;
        std::uint16_t reserved;
    };
    return std::bit_cast<std::uint64_t>(parts{status, op, static_cast<std::uint8_t>(has_immediate), 0});
}

inline std::uint64_t work_completion::outcome() const noexcept {
    constexpr auto at = offsetof(work_completion, status);
    static_assert(sizeof(status) == 4 && offsetof(work_completion, op) == at + 4);
    static_assert(offsetof(work_completion, has_immediate) == at + 5 && sizeof(has_immediate) == 1);
    static_assert(offsetof(work_completion, reserved) == at + 6 && sizeof(reserved) == 2);
    std::uint64_t v = 0;
    std::memcpy(&v, reinterpret_cast<const std::byte*>(this) + at, sizeof(v));
    return v;
}

} // namespace rocio
