#pragma once

#include "bench/bench_meeting.hpp"
#include "bench/measured_part.hpp"
#include "bench/pair_bench.hpp"

#include <rocio/device/device.hpp>
#include <rocio/io/busy_poll_context.hpp>
#include <rocio/io/memory_region.hpp>
#include <rocio/io/queue_pair.hpp>

#include <boost/asio/steady_timer.hpp>

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace rocio::tools {

/// One end of a benchmark on rocio's own objects: a context, a device, memory for a message each way, queue
/// pairs. For one thread.
class queue_pair_end {
  public:
    using executor = boost::asio::io_context::executor_type;

    /// `config` must outlive it. Throws rocio::exception.
    explicit queue_pair_end(const pair_bench_config& config);

    const pair_bench_config& config() const noexcept { return config_; }
    busy_poll_context& context() noexcept { return context_; }
    basic_queue_pair<executor>& pair(std::size_t n = 0) noexcept { return pairs_[n]; }
    std::size_t pair_count() const noexcept { return pairs_.size(); }
    bool device_needs_turns() const { return dev_->kind() == "soft"; }
    registered_buffer in() const { return in_; }
    registered_buffer out() const { return outs_.front(); }
    bool sends_inline() const noexcept { return config_.sent_inline() && config_.size <= inline_limit_; }

    /// Starts one message of the configured operation; `number` is its immediate where it has one.
    template <class Handler>
    void start(std::size_t n, std::uint32_t number, Handler&& handler);

    /// Connects all queue pairs. Latencies and bandwidth begin after it.
    void meet();
    /// Runs the context until finish() or fail(), which handlers call. Throws rocio::exception: what fail()
    /// was told, or errc::peer_lost when no message moves for longest_silence.
    void run();
    void finish();
    void fail(const error_info& why);
    /// A message was sent or received.
    void moved() noexcept {
        ++moved_;
        if (config_.progress) config_.progress->store(moved_, std::memory_order_relaxed);
    }
    /// Has nothing to do but answer for its memory until the other side says goodbye; gives what that took of
    /// this thread, as a share of the measured messages.
    measurement stand_by();
    /// Ends the connection so that nothing is cut off: the side that has nothing to wait for goes first.
    void part(bool first);
    /// What the engine did since meet().
    engine_snapshot engine_since_meeting();

  private:
    std::size_t out_offset() const noexcept { return (config_.size + std::size_t{63}) / 64 * 64; }
    queue_pair_config pair_config() const;
    const remote_buffer& target(std::size_t n);
    void watch_silence();
    void run_until_finished();
    void wait_closed();

    const pair_bench_config& config_;
    busy_poll_context context_;
    std::shared_ptr<device> dev_;
    std::uint32_t inline_limit_;
    bool inline_;
    memory_region memory_;
    std::vector<basic_queue_pair<executor>> pairs_{};
    std::vector<remote_buffer> targets_{};
    registered_buffer in_{};
    std::vector<registered_buffer> outs_{};
    bench_meeting meeting_;
    boost::asio::steady_timer silence_;
    engine_snapshot before_{};
    std::uint64_t moved_ = 0, moved_before_ = 0;
    bool running_ = false, finished_ = false;
    error_info failure_{};
};

template <class Handler>
void queue_pair_end::start(std::size_t n, std::uint32_t number, Handler&& handler) {
    auto& pair = pairs_[n];
    const auto immediate = number << config_.immediate_shift;
    const auto& bytes = outs_[number % outs_.size()];
    switch (config_.operation) {
    case message_operation::read:
        return pair.async_read(in_, target(n), std::forward<Handler>(handler));
    case message_operation::write_imm:
        return pair.async_write_with_immediate(bytes, target(n), immediate, std::forward<Handler>(handler));
    case message_operation::write:
        if (!inline_) return pair.async_write(bytes, target(n), std::forward<Handler>(handler));
        return pair.async_write(inline_bytes(bytes.bytes()), target(n), std::forward<Handler>(handler));
    case message_operation::send_imm:
        if (!inline_) return pair.async_send_with_immediate(bytes, immediate, std::forward<Handler>(handler));
        return pair.async_send_with_immediate(inline_bytes(bytes.bytes()), immediate,
                                              std::forward<Handler>(handler));
    case message_operation::send:
        if (!inline_) return pair.async_send(bytes, std::forward<Handler>(handler));
        return pair.async_send(inline_bytes(bytes.bytes()), std::forward<Handler>(handler));
    }
}

} // namespace rocio::tools
