#pragma once

#include <chrono>
#include <string_view>

namespace rocio {

/// How long the completion engine keeps polling without work before it waits in the kernel.
struct polling_policy {
    std::chrono::nanoseconds budget{0};

    static constexpr std::chrono::nanoseconds endless = std::chrono::nanoseconds::max();

    /// Waits at once: no CPU while idle, a wake-up per burst.
    static constexpr polling_policy park() noexcept { return {std::chrono::nanoseconds{0}}; }
    /// Polls for `budget` after the last work, then waits.
    static constexpr polling_policy hybrid(std::chrono::nanoseconds budget = std::chrono::microseconds{
                                               50}) noexcept {
        return {budget};
    }
    /// Never waits while anything is outstanding: one core, the lowest latency. io_context::poll() does not
    /// return then, because a turn is always ready.
    static constexpr polling_policy spin() noexcept { return {endless}; }

    constexpr std::string_view name() const noexcept {
        if (budget.count() <= 0) return "park";
        return budget == endless ? "spin" : "hybrid";
    }
};

} // namespace rocio
