#pragma once

#include <rocio/types/latency_histogram.hpp>

#include <cstdint>
#include <string>

namespace rocio::rpc {

/// One function as the status shows it; a value.
struct function_snapshot {
    std::string name;
    std::uint32_t id = 0;
    std::uint64_t calls = 0;      ///< Requests that named it.
    std::uint64_t succeeded = 0;  ///< Status 0.
    std::uint64_t failed = 0;     ///< A status of the handler's own, above 0.
    std::uint64_t exceptions = 0; ///< status::handler_failed.
    std::uint64_t bad_length = 0; ///< status::bad_argument_length.
    std::uint64_t too_large = 0;  ///< status::result_too_large.
    latency_summary latency{};    ///< From the request's arrival to its answer, refusals included.
};

} // namespace rocio::rpc
