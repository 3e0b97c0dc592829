#pragma once

#include <chrono>
#include <concepts>
#include <optional>

namespace rocio::rpc {

/// A deadline that never comes: the call ends with its answer, by cancellation, or with the client.
inline constexpr std::chrono::nanoseconds no_deadline = std::chrono::nanoseconds::max();

/// Of one call. Made implicitly from a duration, which is its deadline.
struct call_options {
    call_options() = default;
    template <class Rep, class Period>
    call_options(std::chrono::duration<Rep, Period> limit) // NOLINT(*-explicit-*)
        : deadline(std::chrono::duration_cast<std::chrono::nanoseconds>(limit)) {}

    /// From the initiation on; nothing: the client's. Zero or less: the call ends with
    /// errc::deadline_exceeded and is not sent.
    std::optional<std::chrono::nanoseconds> deadline{};
};

} // namespace rocio::rpc
