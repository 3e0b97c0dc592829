#pragma once

#include "soft/device_core.hpp"

#include <rocio/device/device_memory_region.hpp>

#include <memory>
#include <utility>

namespace rocio::soft {

class soft_memory_region final : public device_memory_region {
  public:
    soft_memory_region(std::shared_ptr<device_core> core, std::span<std::byte> bytes, std::uint32_t key,
                       std::uint64_t iova)
        : core_(std::move(core)), bytes_(bytes), iova_(iova), key_(key) {}
    ~soft_memory_region() override { core_->remove_region(key_); }

    std::span<std::byte> bytes() const noexcept override { return bytes_; }
    lkey local_key() const noexcept override { return {key_}; }
    rkey remote_key() const noexcept override { return {key_}; }
    std::uint64_t iova() const noexcept override { return iova_; }

  private:
    std::shared_ptr<device_core> core_;
    std::span<std::byte> bytes_;
    std::uint64_t iova_;
    std::uint32_t key_;
};

} // namespace rocio::soft
