#pragma once

#include "bench/bench_meeting.hpp"
#include "bench/pair_bench.hpp"

#include <rocio/device/device.hpp>
#include <rocio/io/busy_poll_context.hpp>
#include <rocio/io/memory_region.hpp>
#include <rocio/io/queue_pair.hpp>

#include <boost/asio/steady_timer.hpp>

#include <memory>

namespace rocio::tools {

/// One side of a two-process benchmark on rocio's own objects: a context, a device, memory for a message
/// each way, a queue pair. For one thread.
class queue_pair_end {
  public:
    using executor = boost::asio::io_context::executor_type;

    /// `config` must outlive it. Throws rocio::exception.
    explicit queue_pair_end(const pair_bench_config& config);

    const pair_bench_config& config() const noexcept { return config_; }
    busy_poll_context& context() noexcept { return context_; }
    basic_queue_pair<executor>& pair() noexcept { return pair_; }
    bool device_needs_turns() const { return dev_->kind() == "soft"; }
    registered_buffer in() const { return memory_.buffer(0, config_.size); }
    registered_buffer out() const { return memory_.buffer(out_offset(), config_.size); }
    bool sends_inline() const noexcept { return config_.size <= inline_limit_; }

    void meet();
    /// Runs the context until finish() or fail(), which handlers call. Throws rocio::exception: what fail()
    /// was told, or errc::peer_lost when no message moves for longest_silence.
    void run();
    void finish();
    void fail(const error_info& why);
    /// A message was sent or received.
    void moved() noexcept { ++moved_; }
    std::uint64_t messages_moved() const noexcept { return moved_; }
    /// Ends the connection so that nothing is cut off: the side that has nothing to wait for goes first.
    void part(bool first);
    /// What the engine did since meet().
    engine_snapshot engine_since_meeting();

  private:
    std::size_t out_offset() const noexcept { return (config_.size + 63) / 64 * 64; }
    queue_pair_config pair_config() const;
    void watch_silence();

    const pair_bench_config& config_;
    busy_poll_context context_;
    std::shared_ptr<device> dev_;
    std::uint32_t inline_limit_;
    memory_region memory_;
    basic_queue_pair<executor> pair_;
    bench_meeting meeting_;
    boost::asio::steady_timer silence_;
    engine_snapshot before_{};
    std::uint64_t moved_ = 0, moved_before_ = 0;
    bool running_ = false, finished_ = false;
    error_info failure_{};
};

} // namespace rocio::tools
