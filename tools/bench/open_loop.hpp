#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

namespace rocio::tools {

/// Messages at a fixed rate, whatever the answers do. The latency of a message counts from the time at which
/// it was due, not from the time at which it was sent: while answers stall, the messages that should have
/// been sent meanwhile are late, and count as late (no coordinated omission). Answers come in order. Pure:
/// the time is an argument.
class open_loop {
  public:
    using clock = std::chrono::steady_clock;

    /// `rate` in messages per second, above 0; `limit` messages without an answer at most.
    open_loop(double rate, std::uint64_t warm_up, std::uint64_t count, std::uint32_t limit);

    /// The first message is due at `now`.
    void begin(clock::time_point now) noexcept { begin_ = now; }
    clock::time_point due(std::uint64_t message) const noexcept;
    clock::time_point next_due() const noexcept { return due(sent_); }
    /// A message is due, and its place is free.
    bool may_send(clock::time_point now) const noexcept {
        return sent_ < total_ && sent_ - answered_ < limit_ && due(sent_) <= now;
    }
    bool has_more() const noexcept { return sent_ < total_; }
    void sent() noexcept { ++sent_; }
    void answered(clock::time_point now);

    std::uint64_t total() const noexcept { return total_; }
    std::uint64_t messages_sent() const noexcept { return sent_; }
    std::uint64_t messages_answered() const noexcept { return answered_; }
    bool is_over() const noexcept { return answered_ == total_; }
    /// Microseconds from due to answered, in order, without the warm-up.
    std::vector<double> take_latencies() noexcept { return std::move(latencies_); }

  private:
    double nanoseconds_between_;
    std::uint64_t warm_up_, total_;
    std::uint32_t limit_;
    clock::time_point begin_{};
    std::uint64_t sent_ = 0, answered_ = 0;
    std::vector<double> latencies_{};
};

} // namespace rocio::tools
