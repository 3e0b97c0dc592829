#pragma once

#include <rocio/device/device_event.hpp>
#include <rocio/device/device_snapshot.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>

namespace rocio {

/// An event in words for the status: "port 1: active", "queue pair 17: access error".
std::string describe(const device_event& event);

/// The asynchronous events of a device since it was opened, for its snapshot: the last 64 and how many there
/// were. A device adds each when it reports or notices it, whether anybody takes it with next_event() or not.
///
/// Thread safety: any thread. add() neither allocates nor waits for more than a copy of the log.
class event_log {
  public:
    static constexpr std::size_t capacity = 64;

    void add(const device_event& event) noexcept;
    /// Sets `out.events` and `out.events_so_far`.
    void fill(device_snapshot& out) const;

  private:
    struct entry {
        std::chrono::system_clock::time_point time{};
        device_event event{};
    };

    mutable std::mutex mutex_;
    std::array<entry, capacity> entries_{}; ///< Event n is at n modulo capacity.
    std::uint64_t so_far_ = 0;
};

} // namespace rocio
