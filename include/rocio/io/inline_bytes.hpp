#pragma once

#include <cstddef>
#include <span>

namespace rocio {

/// A small send whose bytes are copied when it is posted: they need no registration and may change once the
/// initiating function has returned. At most queue_pair_config::max_inline bytes.
struct inline_bytes {
    explicit inline_bytes(std::span<const std::byte> bytes) noexcept : data(bytes) {}
    std::span<const std::byte> data;
};

} // namespace rocio
