#pragma once

#include <rocio/rpc/function_snapshot.hpp>
#include <rocio/types/error.hpp>

#include <cstdint>
#include <vector>

namespace rocio::rpc {

/// The answering side as the status shows it; a value.
struct rpc_snapshot {
    std::uint64_t requests = 0;         ///< Slots looked at.
    std::uint64_t answered = 0;         ///< Answers, refusals included.
    std::uint64_t silent = 0;           ///< Requests without an answer, for any reason.
    std::uint64_t bad_magic = 0;        ///< Always silent.
    std::uint64_t short_slots = 0;      ///< No room for a header; always silent.
    std::uint64_t unknown_function = 0; ///< No function of this id.
    std::vector<function_snapshot> functions;

    // Of a ring_dispatcher; 0 for a dispatcher alone.
    std::uint32_t with_executors = 0; ///< Requests that other executors hold now.
    std::uint32_t waiting = 0;        ///< Requests that wait for their send slot now.
    std::uint64_t repeated = 0;       ///< Slots reported again while they were held.
    std::uint64_t publish_errors = 0; ///< Answers that the ring refused.
    error_code last_publish_error{};
};

} // namespace rocio::rpc
