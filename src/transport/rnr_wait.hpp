#pragma once

#include <rocio/transport/queue_pair.hpp>

namespace rocio::transport {

/// The pause that a "receiver not ready" answer imposes on a requester (IBA 9.7.5.2.8).
class rnr_wait {
  public:
    void start(time_point now, rnr_timer timer) noexcept;
    void end() noexcept { until_ = never; }

    /// From the answer until end(), even when the time has passed.
    bool pending() const noexcept { return until_ != never; }
    /// Nothing may be sent at `now`.
    bool blocks(time_point now) const noexcept { return pending() && now < until_; }
    time_point deadline() const noexcept { return until_; } ///< `never` when not pending.

  private:
    time_point until_ = never;
};

} // namespace rocio::transport
