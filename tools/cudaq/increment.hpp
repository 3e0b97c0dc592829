#pragma once

#include <rocio/rpc/function_table.hpp>

#include <algorithm>
#include <cstddef>
#include <span>

namespace rocio::tools {

/// The name by which HSB test boards call increment().
inline constexpr const char* increment_name = "rpc_increment";

/// Adds one to every byte, as CUDA-Q's test handler does.
inline rpc::raw_reply increment(std::span<const std::byte> arguments, std::span<std::byte> results) {
    const auto n = std::min(arguments.size(), results.size());
    for (std::size_t i = 0; i < n; ++i)
        results[i] = static_cast<std::byte>(std::to_integer<unsigned>(arguments[i]) + 1);
    return {0, n};
}

} // namespace rocio::tools
