#pragma once

#include <rocio/types/memory_key.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace rocio {

/// Bytes inside a registered memory region, as a work request names them. Made by memory_region::buffer();
/// the bytes must stay registered until the work request completes. A default-made one is empty and needs no
/// region.
struct registered_buffer {
    std::byte* data = nullptr;
    std::uint32_t size = 0; ///< Bytes.
    lkey key{};

    std::span<std::byte> bytes() const noexcept { return {data, size}; }
    /// The first n bytes; n above size() gives all of it.
    registered_buffer first(std::uint32_t n) const noexcept { return {data, n < size ? n : size, key}; }
};

} // namespace rocio
