#pragma once

#include "verbs/handles.hpp"
#include "verbs/queue_pair_change.hpp"

#include <rocio/device/device.hpp>
#include <rocio/device/event_log.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace rocio::verbs {

class verbs_queue_pair;

/// An opened context with what its queue pairs, completion queues and regions share; they keep it alive.
class device_core {
  public:
    static error_info open(ibv_device& device, std::shared_ptr<device_core>& out);

    const std::string& name() const noexcept { return name_; }
    ibv_context* context() const noexcept { return context_.get(); }
    ibv_pd* protection_domain() const noexcept { return protection_domain_.get(); }
    ibv_comp_channel* channel() const noexcept { return channel_.get(); }
    const ibv_device_attr& attributes() const noexcept { return attributes_; }
    std::uint32_t max_inline() const noexcept { return max_inline_; }
    read_depths reads() const noexcept { return read_depths_of(attributes_); }

    /// errc::invalid_argument unless 1..ports.
    error_info check_port(std::uint8_t port) const;
    error_info query(std::uint8_t port, ibv_port_attr& out) const;
    /// errc::invalid_gid_index for an empty or missing entry.
    error_info check_gid(std::uint8_t port, std::uint32_t index) const;

    errc bind(const void* engine) noexcept;
    void unbind(const void* engine) noexcept;

    void drain_events();
    /// A completion queue was armed: one event of it is to come.
    void expect_event() noexcept { ++expected_events_; }
    /// What it gives is in history() too.
    bool next_event(device_event& out);
    const event_log& history() const noexcept { return history_; }

    /// A failed completion and a fatal event end the queue pair before its owner knows.
    void add(verbs_queue_pair& pair);
    void remove(const verbs_queue_pair& pair) noexcept;
    void note_failure(qpn number) noexcept;

  private:
    device_core() = default;
    error_info prepare();
    bool take_event(device_event& out);
    error_info make_nonblocking(int descriptor) const;
    std::uint32_t measure_inline() const;

    std::string name_;
    // Destroyed from the last to the first.
    context_handle context_;
    protection_domain_handle protection_domain_;
    completion_channel_handle channel_;
    ibv_device_attr attributes_{};
    std::uint32_t max_inline_ = 0;
    std::atomic<const void*> engine_{nullptr};
    std::atomic<bool> gone_{false}; ///< A descriptor answers EIO: the device was removed.
    bool fatal_told_ = false;
    event_log history_;
    unsigned expected_events_ = 0; ///< Of armed completion queues; only the engine's turn arms and drains.
    std::mutex mutex_;             ///< Of the table: queue pairs may come and go on any thread.
    std::unordered_map<std::uint32_t, verbs_queue_pair*> queue_pairs_;
};

} // namespace rocio::verbs
