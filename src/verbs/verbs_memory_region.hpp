#pragma once

#include "verbs/device_core.hpp"

#include <rocio/device/device_memory_region.hpp>

#include <memory>

namespace rocio::verbs {

class verbs_memory_region final : public device_memory_region {
  public:
    static error_info make(std::shared_ptr<device_core> core, std::span<std::byte> bytes,
                           const memory_region_config& config, std::unique_ptr<device_memory_region>& out);

    std::span<std::byte> bytes() const noexcept override { return bytes_; }
    lkey local_key() const noexcept override { return {handle_->lkey}; }
    rkey remote_key() const noexcept override { return {handle_->rkey}; }
    std::uint64_t iova() const noexcept override { return iova_; }
    ibv_mr* handle() const noexcept { return handle_.get(); }

  private:
    verbs_memory_region(std::shared_ptr<device_core> core, std::span<std::byte> bytes, std::uint64_t iova)
        : core_(std::move(core)), bytes_(bytes), iova_(iova) {}

    std::shared_ptr<device_core> core_; // outlives the handle
    std::span<std::byte> bytes_;
    std::uint64_t iova_;
    memory_region_handle handle_;
};

} // namespace rocio::verbs
