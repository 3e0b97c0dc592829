#pragma once

#include <rocio/device/device.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace rocio::test {

namespace script {
class scripted_state;
}

/// Calls of the seam that a script can make fail.
enum class device_call : std::uint8_t {
    create_completion_queue,
    arm,
    create_queue_pair,
    to_init,
    to_ready_to_receive,
    to_ready_to_send,
    to_error,
    post_send,
    post_receive,
    register_memory,
    query_port,
    gid_table,
};
inline constexpr std::size_t device_calls = 12;

/// What to_error() does with the work requests that are still posted.
enum class flush_behaviour : std::uint8_t { all, some, none };

struct scripted_device_config {
    device_limits limits{.max_queue_pairs = 1024,
                         .max_work_requests = 4096,
                         .max_completions = 1U << 16,
                         .max_inline = 256,
                         .max_message = 1U << 20,
                         .max_region = 1U << 30,
                         .ports = 2};
    bool has_event_fd = true;
    bool has_async_event_fd = true;
    int foreign_event_fd = -1; ///< What event_fd() gives instead of the device's own.
    bool exclusive = false;    ///< Belongs to one engine at a time, as the soft device does.
    bool record_posts = true;  ///< Off where allocations are counted.
};

/// A send as the device saw it when it was posted.
struct posted_send {
    send_request request{};
    std::vector<std::byte> bytes{};
};

/// A device that does what a test says, with the rules of verbs: arming is one-shot and says nothing about
/// what is queued already; an event costs a read and an acknowledgement; work requests are retired in order;
/// only id, status and queue pair of a failed completion mean anything (the rest is filled with garbage).
///
/// A queue pair that is connected to another one of the same device delivers to it by itself; one connected
/// to any other number waits for complete_send() and complete_receive(). Queue pairs and completion queues
/// are named by the order of their creation, from 0; naming one that is destroyed does nothing and gives
/// false.
///
/// Everything a script calls may be called from any thread.
class scripted_device final : public device {
  public:
    explicit scripted_device(const scripted_device_config& config = {});
    ~scripted_device() override;

    // The script: completions.
    /// The oldest posted send ends; false if there is none.
    bool complete_send(std::size_t pair, errc status = errc::success);
    /// The oldest posted receive takes `payload`; false if there is none or it is too small.
    bool complete_receive(std::size_t pair, std::span<const std::byte> payload,
                          std::optional<std::uint32_t> immediate = {});
    /// The oldest posted receive is used up by a WRITE with immediate; false if there is none.
    bool complete_write(std::size_t pair, std::uint32_t immediate);
    bool fail_receive(std::size_t pair, errc status);
    /// Any completion at all, with an event if the queue is armed.
    void inject(const work_completion& completion, std::size_t queue = 0);
    /// From now on every poll of the queue is filled with copies of `completion`; nothing: ends that.
    void refill(std::optional<work_completion> completion, std::size_t queue = 0);
    void fail_polls(errc error, std::size_t queue = 0);

    // The script: events.
    void raise(const device_event& event);
    /// event_fd() becomes readable though there is no event.
    void raise_spurious_event();
    /// An event of the queue without a completion behind it.
    void raise_empty_event(std::size_t queue = 0);
    /// An event for every completion while armed, not only for the first.
    void set_event_per_completion(bool on);
    /// The next `n` calls of drain_events() take nothing, as if a signal had come each time.
    void interrupt_drains(std::size_t n);
    /// async_event_fd() stays readable from now on and never gives an event, as after device removal.
    void break_async_event_fd();

    // The script: failures and hooks.
    /// The k-th call from now (1: the next) fails with `error`.
    void fail_call(device_call call, std::size_t k, errc error);
    /// The k-th call of any kind from now fails with `error`; 0: none.
    void fail_any_call(std::size_t k, errc error);
    void set_flush(flush_behaviour behaviour, std::size_t some = 0);
    /// Destroying a queue pair leaves flush completions for what is still posted, and an event.
    void set_flush_on_destroy(bool on);
    /// Called in arm(), before the queue is armed, without any lock.
    void on_arm(std::function<void()> hook);
    /// Called in progress(); gives what progress() gives.
    void on_progress(std::function<bool(time_point)> hook);
    void set_next_deadline(time_point when);
    void set_gid_table(std::uint8_t port, std::vector<gid_table_entry> table);
    void set_port(std::uint8_t port, const port_attributes& attributes);
    /// What create_connection_manager() does; nothing: it is not supported.
    void set_connection_manager(std::function<error_info(std::unique_ptr<connection_manager>&)> maker);

    // What happened.
    std::size_t calls(device_call call) const;
    std::size_t calls() const; ///< Of every kind.
    std::size_t arms(std::size_t queue = 0) const;
    bool is_armed(std::size_t queue = 0) const;
    std::size_t polls(std::size_t queue = 0) const;
    std::size_t queued(std::size_t queue = 0) const;
    std::size_t events_raised(std::size_t queue = 0) const;
    std::size_t events_acknowledged(std::size_t queue = 0) const;
    std::size_t drains() const;
    std::size_t progress_calls() const;
    std::size_t posted_sends(std::size_t pair = 0) const;    ///< Still on the device.
    std::size_t posted_receives(std::size_t pair = 0) const; ///< Still on the device.
    std::vector<posted_send> send_log(std::size_t pair = 0) const;
    std::vector<receive_request> receive_log(std::size_t pair = 0) const;
    std::optional<connect_attributes> connection(std::size_t pair = 0) const;
    std::optional<init_attributes> initialisation(std::size_t pair = 0) const;
    qpn number_of(std::size_t pair) const;
    /// The next queue pair gets this number.
    void reuse_number(qpn number);

    std::size_t live_completion_queues() const;
    std::size_t live_queue_pairs() const;
    std::size_t live_regions() const;
    std::vector<std::span<std::byte>> live_ranges() const; ///< Of the registered regions.
    /// Rules of the seam that were broken; empty is right.
    std::vector<std::string> violations() const;

    // The device.
    std::string name() const override { return "scripted"; }
    std::string kind() const override { return "scripted"; }
    device_limits limits() const override;
    endpoint_capabilities capabilities(std::uint8_t port) const override;
    error_info query_port(std::uint8_t port, port_attributes& out) const override;
    error_info gid_table(std::uint8_t port, std::vector<gid_table_entry>& out) const override;
    error_info create_completion_queue(std::uint32_t depth,
                                       std::unique_ptr<device_completion_queue>& out) override;
    error_info create_queue_pair(const device_queue_pair_config& config,
                                 std::unique_ptr<device_queue_pair>& out) override;
    error_info register_memory(std::span<std::byte> bytes, const memory_region_config& config,
                               std::unique_ptr<device_memory_region>& out) override;
    error_info create_connection_manager(std::unique_ptr<connection_manager>& out) override;
    errc bind(const void* engine) override;
    void unbind(const void* engine) noexcept override;
    bool progress(time_point now) override;
    int event_fd() const noexcept override;
    time_point next_deadline() const noexcept override;
    void drain_events() override;
    bool next_event(device_event& out) override;
    int async_event_fd() const noexcept override;
    device_snapshot snapshot() const override;

  private:
    std::shared_ptr<script::scripted_state> state_;
};

} // namespace rocio::test
