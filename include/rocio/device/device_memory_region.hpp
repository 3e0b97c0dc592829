#pragma once

#include <rocio/types/memory_key.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace rocio {

/// Registered memory; destroying it deregisters. The bytes belong to the caller.
class device_memory_region {
  public:
    virtual ~device_memory_region() = default;

    virtual std::span<std::byte> bytes() const noexcept = 0;
    virtual lkey local_key() const noexcept = 0;
    virtual rkey remote_key() const noexcept = 0;
    virtual std::uint64_t iova() const noexcept = 0;
};

} // namespace rocio
