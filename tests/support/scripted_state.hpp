#pragma once

#include "fixed_ring_buffer.hpp"
#include "scripted_device.hpp"

#include <array>
#include <map>
#include <mutex>

#include <sys/eventfd.h>
#include <unistd.h>

namespace rocio::test::script {

/// An eventfd, or none.
class event_counter {
  public:
    explicit event_counter(bool wanted) : fd_(wanted ? ::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC) : -1) {}
    ~event_counter() {
        if (fd_ >= 0) ::close(fd_);
    }
    event_counter(const event_counter&) = delete;
    event_counter& operator=(const event_counter&) = delete;

    int fd() const noexcept { return fd_; }
    void raise() noexcept {
        const std::uint64_t one = 1;
        [[maybe_unused]] const auto n = ::write(fd_, &one, sizeof one);
    }
    void clear() noexcept {
        std::uint64_t value = 0;
        [[maybe_unused]] const auto n = ::read(fd_, &value, sizeof value);
    }

  private:
    int fd_;
};

struct queue_state {
    explicit queue_state(std::uint32_t depth) : completions(depth) {}

    fixed_ring_buffer<work_completion> completions;
    std::optional<work_completion> endless{};
    errc poll_error = errc::success;
    bool alive = true;
    bool armed = false;
    std::size_t arms = 0, polls = 0, raised = 0, acknowledged = 0, pending_events = 0;
};

/// A send on the device, with the copy of its inline bytes that the device must make.
struct stored_send {
    send_request request{};
    std::array<std::byte, 256> copy{};

    std::span<const std::byte> bytes() const noexcept {
        if (request.inlined) return std::span(copy).first(request.inline_data.size());
        return request.buffer.bytes();
    }
};

struct pair_state {
    explicit pair_state(const device_queue_pair_config& c, std::size_t q)
        : config(c), queue(q), sends(c.send_depth), receives(c.receive_depth) {}

    device_queue_pair_config config;
    std::size_t queue; ///< Index of its completion queue.
    qpn number{};
    queue_pair_state state = queue_pair_state::reset;
    fixed_ring_buffer<stored_send> sends;
    fixed_ring_buffer<receive_request> receives;
    std::optional<connect_attributes> connection{};
    std::optional<init_attributes> initialisation{};
    std::optional<std::size_t> peer{}; ///< A queue pair of this device.
    std::vector<posted_send> send_log{};
    std::vector<receive_request> receive_log{};
    bool alive = true;
};

struct failure {
    std::size_t after = 0; ///< Calls until it strikes; 0: never.
    errc error = errc::success;
};

/// Everything behind a scripted device and its objects, which may outlive it.
class scripted_state {
  public:
    explicit scripted_state(const scripted_device_config& c)
        : config(c), events(c.has_event_fd), async_events(c.has_async_event_fd) {}

    mutable std::mutex mutex;
    scripted_device_config config;
    event_counter events;
    event_counter async_events;

    std::vector<std::unique_ptr<queue_state>> queues;
    std::vector<std::unique_ptr<pair_state>> pairs;
    std::map<std::uint32_t, std::span<std::byte>> regions;
    std::vector<device_event> async_queue;
    std::vector<std::string> violations;
    std::map<std::uint8_t, std::vector<gid_table_entry>> gids;
    std::map<std::uint8_t, port_attributes> ports;
    device::time_point deadline = device::time_point::max();
    std::function<void()> arm_hook;
    std::function<bool(device::time_point)> progress_hook;
    std::function<error_info(std::unique_ptr<connection_manager>&)> connection_managers;

    std::array<std::size_t, device_calls> calls{};
    std::array<failure, device_calls> failures{};
    failure any_failure{};
    std::size_t drains = 0, progress_calls = 0, interrupted_drains = 0;
    bool event_per_completion = false;
    bool async_broken = false;
    bool flush_on_destroy = false;
    flush_behaviour flush = flush_behaviour::all;
    std::size_t flush_some = 0;
    std::uint32_t next_number = 0x11;
    std::uint32_t next_key = 0x1000;
    const void* bound_to = nullptr;

    // With the mutex held.
    errc enter(device_call call) noexcept;
    void push(std::size_t queue, const work_completion& completion) noexcept;
    void raise_event(queue_state& queue) noexcept;
    void complete_send(pair_state& pair, errc status) noexcept;
    void complete_receive(pair_state& pair, errc status, std::span<const std::byte> payload,
                          std::optional<std::uint32_t> immediate, completion_opcode op) noexcept;
    /// Delivers what the queue pair's sends and its peer's receives allow.
    void deliver(pair_state& pair) noexcept;
    void flush_all(pair_state& pair, std::size_t most) noexcept;
    pair_state* live_pair(std::size_t index) noexcept;
};

class scripted_completion_queue final : public device_completion_queue {
  public:
    scripted_completion_queue(std::shared_ptr<scripted_state> s, std::size_t index, std::uint32_t depth)
        : state_(std::move(s)), index_(index), depth_(depth) {}
    ~scripted_completion_queue() override;

    std::uint32_t depth() const noexcept override { return depth_; }
    std::size_t poll(std::span<work_completion> out, errc& error) noexcept override;
    errc arm() noexcept override;
    std::size_t index() const noexcept { return index_; }

  private:
    std::shared_ptr<scripted_state> state_;
    std::size_t index_;
    std::uint32_t depth_;
};

class scripted_queue_pair final : public device_queue_pair {
  public:
    scripted_queue_pair(std::shared_ptr<scripted_state> s, std::size_t index)
        : state_(std::move(s)), index_(index) {}
    ~scripted_queue_pair() override;

    qpn number() const noexcept override;
    queue_pair_state state() const noexcept override;
    error_info to_init(const init_attributes& attributes) override;
    error_info to_ready_to_receive(const connect_attributes& attributes) override;
    error_info to_ready_to_send(const connect_attributes& attributes) override;
    error_info to_error() override;
    post_outcome post_send(std::span<const send_request> requests) noexcept override;
    post_outcome post_receive(std::span<const receive_request> requests) noexcept override;
    bool counters(device_queue_pair_counters& out) const noexcept override;

  private:
    pair_state& pair() const noexcept { return *state_->pairs[index_]; }
    error_info move(device_call call, queue_pair_state from, queue_pair_state to);
    errc accept(pair_state& p, const send_request& request);
    errc accept(pair_state& p, const receive_request& request);

    std::shared_ptr<script::scripted_state> state_;
    std::size_t index_;
};

class scripted_memory_region final : public device_memory_region {
  public:
    scripted_memory_region(std::shared_ptr<scripted_state> s, std::span<std::byte> bytes, std::uint32_t key,
                           std::uint64_t iova)
        : state_(std::move(s)), bytes_(bytes), key_(key), iova_(iova) {}
    ~scripted_memory_region() override;

    std::span<std::byte> bytes() const noexcept override { return bytes_; }
    lkey local_key() const noexcept override { return {key_}; }
    rkey remote_key() const noexcept override { return {key_ | 0x80000000U}; }
    std::uint64_t iova() const noexcept override { return iova_; }

  private:
    std::shared_ptr<scripted_state> state_;
    std::span<std::byte> bytes_;
    std::uint32_t key_;
    std::uint64_t iova_;
};

} // namespace rocio::test::script
