#pragma once

#include <chrono>
#include <optional>

#include <time.h>

namespace rocio {

/// The clock of this thread's CPU time, which others may read; empty where the system has none. Kept by each
/// thread itself: the pthread_t of one that has ended must not be asked, and the next may have the same.
std::optional<clockid_t> cpu_clock_of_this_thread() noexcept;

/// 0 when the thread has ended.
std::chrono::nanoseconds read_clock(const std::optional<clockid_t>& clock) noexcept;

} // namespace rocio
