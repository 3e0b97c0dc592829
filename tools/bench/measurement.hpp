#pragma once

#include <rocio/io/engine_snapshot.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace rocio::tools {

/// What was used while messages were measured.
struct resource_use {
    double cpu_seconds = 0; ///< User and system, of the threads that carry messages.
    std::uint64_t allocations = 0;
};

/// One measurement of one implementation at one size of messages.
struct measurement {
    std::vector<double> latencies{}; ///< Microseconds, in order; none of a bandwidth.
    std::uint64_t messages = 0;      ///< Measured ones, without the warm-up.
    double seconds = 0;
    double peak_rate = 0; ///< Messages per second in the fastest of its pieces.
    resource_use use{};
    std::uint64_t lost = 0;                  ///< Messages or datagrams that never came.
    std::optional<engine_snapshot> engine{}; ///< Of rocio's own, since the connection was made.
    std::int64_t memory_growth = 0;          ///< Bytes of resident memory, where it was looked at.

    double rate() const noexcept { return seconds > 0 ? static_cast<double>(messages) / seconds : 0; }
    double cpu_us_per_message() const noexcept { return per_message(use.cpu_seconds * 1e6); }
    double cores_busy() const noexcept { return seconds > 0 ? use.cpu_seconds / seconds : 0; }
    double allocations_per_message() const noexcept {
        return per_message(static_cast<double>(use.allocations));
    }

  private:
    double per_message(double total) const noexcept {
        return messages > 0 ? total / static_cast<double>(messages) : 0;
    }
};

} // namespace rocio::tools
