#pragma once

#include <rocio/transport/queue_pair.hpp>

#include <chrono>

namespace rocio::transport {

/// The transport timer of a requester: runs while packets are unacknowledged, starts anew with every
/// progress.
class ack_timer {
  public:
    ack_timer() noexcept = default;
    explicit ack_timer(ack_timeout timeout) noexcept;

    void start(time_point now) noexcept;
    void start_if_stopped(time_point now) noexcept {
        if (deadline_ == never) start(now);
    }
    void stop() noexcept { deadline_ = never; }

    bool due(time_point now) const noexcept { return deadline_ != never && deadline_ <= now; }
    time_point deadline() const noexcept { return deadline_; } ///< `never` when stopped or endless.

  private:
    std::chrono::nanoseconds duration_{0}; ///< Zero: waits for ever.
    time_point deadline_ = never;
};

} // namespace rocio::transport
