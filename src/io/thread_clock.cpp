#include "io/thread_clock.hpp"

#include <pthread.h>

namespace rocio {

std::optional<clockid_t> cpu_clock_of_this_thread() noexcept {
    static thread_local const auto clock = []() -> std::optional<clockid_t> {
        clockid_t id{};
        if (::pthread_getcpuclockid(::pthread_self(), &id) != 0) return std::nullopt;
        return id;
    }();
    return clock;
}

std::chrono::nanoseconds read_clock(const std::optional<clockid_t>& clock) noexcept {
    timespec t{};
    if (!clock || ::clock_gettime(*clock, &t) != 0) return {};
    return std::chrono::seconds{t.tv_sec} + std::chrono::nanoseconds{t.tv_nsec};
}

} // namespace rocio
