#pragma once

#include <rocio/device/device.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

/// A device on which a completion is always ready: what is posted is completed by the next poll, in the order
/// of posting. It moves no bytes, takes no lock and allocates nothing per message, so that its own cost is
/// small and the same for everybody. The cost of every function of this namespace is subtracted from what is
/// measured.
namespace rocio::test::instant {

/// How receives complete.
struct receive_script {
    completion_opcode op = completion_opcode::receive;
    bool immediate_is_slot = false; ///< Else it is 0x100: channel 0, counter 1.
    std::uint32_t byte_len = 64;
};

/// Called at the begin of every poll: a consumer without a thread or a context of its own.
struct poll_hook {
    void (*call)(void* self) = nullptr;
    void* self = nullptr;
};

/// Virtual time: it stands still but for what polls add, so that turns end after the same number of messages
/// in every run. The program's clock_gettime() tells it.
struct virtual_clock {
    static constexpr std::int64_t per_poll = 20;    ///< Nanoseconds.
    static constexpr std::int64_t per_message = 20; ///< Nanoseconds.
    std::int64_t now = 1'000'000'000;
    std::uint64_t reads = 0;
};
virtual_clock& clock() noexcept;

class completion_queue final : public device_completion_queue {
  public:
    completion_queue(std::uint32_t depth, const receive_script& receives, const poll_hook& hook);

    std::uint32_t depth() const noexcept override { return depth_; }
    std::size_t poll(std::span<work_completion> out, errc& error) noexcept override;
    errc arm() noexcept override { return errc::success; }

    void push_receive(wr_id id) noexcept;
    void push_send(wr_id id) noexcept;

  private:
    struct entry {
        wr_id id;
        bool is_send;
    };

    std::uint32_t depth_;
    receive_script receives_;
    const poll_hook& hook_;
    std::vector<entry> ring_;
    std::uint64_t mask_;
    std::uint64_t head_ = 0, tail_ = 0;
};

class queue_pair final : public device_queue_pair {
  public:
    queue_pair(completion_queue& completions, std::uint32_t number) noexcept
        : completions_(completions), number_(number) {}

    qpn number() const noexcept override { return number_; }
    queue_pair_state state() const noexcept override { return state_; }
    error_info to_init(const init_attributes&) override { return move_to(queue_pair_state::init); }
    error_info to_ready_to_receive(const connect_attributes&) override {
        return move_to(queue_pair_state::ready_to_receive);
    }
    error_info to_ready_to_send(const connect_attributes&) override {
        return move_to(queue_pair_state::ready_to_send);
    }
    error_info to_error() override { return move_to(queue_pair_state::error); }
    post_outcome post_send(std::span<const send_request> requests) noexcept override;
    post_outcome post_receive(std::span<const receive_request> requests) noexcept override;

  private:
    error_info move_to(queue_pair_state state) {
        state_ = state;
        return {};
    }

    completion_queue& completions_;
    qpn number_;
    queue_pair_state state_ = queue_pair_state::reset;
};

class memory_region final : public device_memory_region {
  public:
    explicit memory_region(std::span<std::byte> bytes) noexcept : bytes_(bytes) {}

    std::span<std::byte> bytes() const noexcept override { return bytes_; }
    lkey local_key() const noexcept override { return {1}; }
    rkey remote_key() const noexcept override { return {2}; }
    std::uint64_t iova() const noexcept override { return 0; }

  private:
    std::span<std::byte> bytes_;
};

class device final : public rocio::device {
  public:
    explicit device(const receive_script& receives = {});
    ~device() override;

    std::string name() const override { return "instant"; }
    std::string kind() const override { return "scripted"; }
    device_limits limits() const override;
    error_info query_port(std::uint8_t port, port_attributes& out) const override;
    error_info gid_table(std::uint8_t port, std::vector<gid_table_entry>& out) const override;
    error_info create_completion_queue(std::uint32_t depth,
                                       std::unique_ptr<device_completion_queue>& out) override;
    error_info create_queue_pair(const device_queue_pair_config& config,
                                 std::unique_ptr<device_queue_pair>& out) override;
    error_info register_memory(std::span<std::byte> bytes, const memory_region_config& config,
                               std::unique_ptr<device_memory_region>& out) override;
    bool needs_progress() const noexcept override { return false; }
    int event_fd() const noexcept override { return events_; }
    int async_event_fd() const noexcept override { return async_events_; }
    device_snapshot snapshot() const override { return {}; }

    void on_poll(const poll_hook& hook) noexcept { hook_ = hook; }

  private:
    receive_script receives_;
    int events_;
    int async_events_;
    std::uint32_t next_number_ = 1;
    poll_hook hook_{};
};

} // namespace rocio::test::instant
