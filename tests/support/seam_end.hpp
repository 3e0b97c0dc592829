#pragma once

#include <rocio/device/device.hpp>
#include <rocio/types/gid_table.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <poll.h>

namespace rocio::test {

/// True as soon as the descriptor is readable; false when it is not within `limit`.
inline bool readable(int descriptor, std::chrono::milliseconds limit = std::chrono::seconds{10}) {
    pollfd look{descriptor, POLLIN, 0};
    return ::poll(&look, 1, static_cast<int>(limit.count())) == 1;
}

struct seam_end_options {
    queue_pair_type type = queue_pair_type::rc;
    std::uint32_t depth = 64; ///< Of both work queues.
    std::uint32_t completions = 512;
    std::uint32_t max_inline = 0;
    std::size_t memory = 64 * 1024;
    memory_access access =
        memory_access::local_write | memory_access::remote_write | memory_access::remote_read;
    std::optional<std::uint64_t> iova{};
    ack_timeout timeout{14};
    std::uint8_t retry_count = 7;
    std::uint8_t rnr_retry = 7;
};

/// One end of a connection on any device behind the seam: completion queue, queue pair in INIT, one region.
/// Waits are bounded; what does not come within ten seconds fails the test.
class seam_end {
  public:
    explicit seam_end(std::shared_ptr<device> dev, const seam_end_options& options = {})
        : device_(std::move(dev)), options_(options), bytes_(options.memory + page) {
        void* start = bytes_.data();
        std::size_t room = bytes_.size();
        memory_ = {static_cast<std::byte*>(std::align(page, options_.memory, start, room)), options_.memory};
        throw_if(device_->create_completion_queue(options_.completions, queue_));
        throw_if(device_->register_memory(memory_, {options_.access, options_.iova}, region_));
        address_ = first_address(*device_);
        add_queue_pair();
    }

    /// The lowest RoCE v2 entry that serves a peer.
    static gid_table_entry first_address(const device& dev) {
        std::vector<gid_table_entry> table;
        throw_if(dev.gid_table(1, table));
        const auto choice = choose_gid(table, {});
        throw_if(choice.error);
        return *choice.chosen;
    }

    device& dev() noexcept { return *device_; }
    device_queue_pair& qp() noexcept { return *pair_; }
    device_completion_queue& cq() noexcept { return *queue_; }
    device_memory_region& region() noexcept { return *region_; }
    const gid_table_entry& address() const noexcept { return address_; }
    /// Begins at a page.
    std::span<std::byte> memory() noexcept { return memory_; }

    void destroy_queue_pair() { pair_.reset(); }
    void destroy_completion_queue() { queue_.reset(); }
    void add_queue_pair() {
        device_queue_pair_config config;
        config.type = options_.type;
        config.completions = queue_.get();
        config.send_depth = config.receive_depth = options_.depth;
        config.max_inline = options_.max_inline;
        throw_if(device_->create_queue_pair(config, pair_));
        throw_if(pair_->to_init({1, address_.index, options_.access}));
    }

    std::span<std::byte> bytes(std::size_t offset, std::size_t n) { return memory().subspan(offset, n); }
    registered_buffer buffer(std::size_t offset, std::size_t n) {
        return {memory_.data() + offset, static_cast<std::uint32_t>(n), region_->local_key()};
    }
    void write(std::size_t offset, std::string_view text) {
        std::memcpy(memory_.data() + offset, text.data(), text.size());
    }
    std::string_view text(std::size_t offset, std::size_t n) const {
        return {reinterpret_cast<const char*>(memory_.data()) + offset, n};
    }
    std::uint64_t remote_address(std::size_t offset) const { return region_->iova() + offset; }

    connect_attributes connection_to(const seam_end& peer) const {
        connect_attributes out;
        out.local.send_psn = first_psn();
        out.local.path_mtu = mtu::b1024;
        out.local.timeout = options_.timeout;
        out.local.retry_count = options_.retry_count;
        out.local.rnr_retry = options_.rnr_retry;
        out.peer.address = peer.address_.value;
        out.peer.queue_pair = peer.pair_->number();
        out.peer.send_psn = peer.first_psn();
        out.peer.path_mtu = mtu::b1024;
        return out;
    }
    void connect(const connect_attributes& to) {
        throw_if(pair_->to_ready_to_receive(to));
        throw_if(pair_->to_ready_to_send(to));
    }

    post_outcome send(send_request request) { return pair_->post_send({&request, 1}); }
    post_outcome receive(receive_request request) { return pair_->post_receive({&request, 1}); }
    void post_receives(std::uint32_t count, std::uint32_t size = 1024) {
        for (std::uint32_t i = 0; i < count; ++i)
            EXPECT_EQ(receive({{1, 1, i}, buffer(std::size_t{i} * size, size)}).accepted, 1U);
    }

    std::vector<work_completion> poll_once() {
        work_completion found[32];
        errc error = errc::success;
        const auto n = queue_->poll(found, error);
        EXPECT_EQ(error, errc::success);
        return {found, found + n};
    }
    /// The next completion, by polling.
    work_completion await() {
        const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds{10};
        do {
            work_completion found;
            errc error = errc::success;
            if (queue_->poll({&found, 1}, error) == 1) return found;
            EXPECT_EQ(error, errc::success);
            device_->progress(std::chrono::steady_clock::now());
        } while (std::chrono::steady_clock::now() < deadline);
        ADD_FAILURE() << "no completion within ten seconds";
        return {};
    }
    /// The next completion, sleeping on the device's descriptor.
    work_completion await_by_event() {
        for (;;) {
            EXPECT_EQ(queue_->arm(), errc::success);
            if (auto found = poll_once(); !found.empty()) {
                EXPECT_EQ(found.size(), 1U);
                return found.front();
            }
            if (!readable(device_->event_fd())) break;
            device_->drain_events();
        }
        ADD_FAILURE() << "no completion event within ten seconds";
        return {};
    }

  private:
    static constexpr std::size_t page = 4096;
    /// Near the wrap, and different on both sides.
    psn first_psn() const { return psn{(0xFFFFF0 + pair_->number().value()) & psn::mask}; }

    std::shared_ptr<device> device_;
    seam_end_options options_;
    std::vector<std::byte> bytes_;
    std::span<std::byte> memory_;
    std::unique_ptr<device_completion_queue> queue_;
    std::unique_ptr<device_memory_region> region_;
    std::unique_ptr<device_queue_pair> pair_;
    gid_table_entry address_{};
};

inline void connect_ends(seam_end& a, seam_end& b) {
    const auto to_b = a.connection_to(b), to_a = b.connection_to(a);
    a.connect(to_b);
    b.connect(to_a);
}

} // namespace rocio::test
