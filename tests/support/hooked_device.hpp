#pragma once

#include <rocio/device/device.hpp>

#include <functional>
#include <memory>
#include <utility>

namespace rocio::test {

/// Another device, and a word between its progress and the look at its completions.
class hooked_device final : public device {
  public:
    explicit hooked_device(std::shared_ptr<device> inner) : inner_(std::move(inner)) {}

    std::function<void()> after_progress{};

    bool progress(time_point now) override {
        const bool did = inner_->progress(now);
        if (after_progress) after_progress();
        return did;
    }

    std::string name() const override { return inner_->name(); }
    std::string kind() const override { return inner_->kind(); }
    device_limits limits() const override { return inner_->limits(); }
    endpoint_capabilities capabilities(std::uint8_t port) const override {
        return inner_->capabilities(port);
    }
    std::uint16_t udp_port() const override { return inner_->udp_port(); }
    error_info query_port(std::uint8_t port, port_attributes& out) const override {
        return inner_->query_port(port, out);
    }
    error_info gid_table(std::uint8_t port, std::vector<gid_table_entry>& out) const override {
        return inner_->gid_table(port, out);
    }
    error_info create_completion_queue(std::uint32_t depth,
                                       std::unique_ptr<device_completion_queue>& out) override {
        return inner_->create_completion_queue(depth, out);
    }
    error_info create_queue_pair(const device_queue_pair_config& config,
                                 std::unique_ptr<device_queue_pair>& out) override {
        return inner_->create_queue_pair(config, out);
    }
    error_info register_memory(std::span<std::byte> bytes, const memory_region_config& config,
                               std::unique_ptr<device_memory_region>& out) override {
        return inner_->register_memory(bytes, config, out);
    }
    errc bind(const void* engine) override { return inner_->bind(engine); }
    void unbind(const void* engine) noexcept override { inner_->unbind(engine); }
    int event_fd() const noexcept override { return inner_->event_fd(); }
    time_point next_deadline() const noexcept override { return inner_->next_deadline(); }
    void drain_events() override { inner_->drain_events(); }
    bool next_event(device_event& out) override { return inner_->next_event(out); }
    int async_event_fd() const noexcept override { return inner_->async_event_fd(); }
    device_snapshot snapshot() const override { return inner_->snapshot(); }

  private:
    std::shared_ptr<device> inner_;
};

} // namespace rocio::test
