#pragma once

#include <rocio/status/status_snapshot.hpp>

#include <chrono>
#include <cstddef>
#include <deque>
#include <map>
#include <string>

namespace rocio::detail {

/// Makes rates out of counters seen at different times. It has to see the status about every half second, or
/// the rates are absent. Holds at most 32 samples. Not thread-safe.
class rate_meter {
  public:
    using time_point = std::chrono::steady_clock::time_point;

    /// Fills the rates of `status`, which was taken at `now`, and remembers its counters. A rate is absent
    /// until its time is over, where a counter went back, and for what was not there before.
    void fill(status_snapshot& status, time_point now);

    static constexpr std::size_t most_samples = 32;

  private:
    struct sample {
        time_point at{};
        std::map<std::string, double> values{};
    };

    const sample* sample_before(time_point when) const;

    std::deque<sample> samples_; ///< Oldest first.
};

} // namespace rocio::detail
