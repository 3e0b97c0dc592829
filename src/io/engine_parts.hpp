#pragma once

#include "io/device_waiter.hpp"
#include "io/fixed_memory.hpp"

#include <rocio/io/completion_engine.hpp>

#include <boost/asio/steady_timer.hpp>

#include <array>
#include <optional>
#include <string>
#include <vector>

#include <time.h>

namespace rocio {

constexpr std::size_t completions_per_poll = 32;

/// A completion queue and how much of it is promised.
struct engine_queue {
    std::unique_ptr<device_completion_queue> queue;
    std::uint32_t promised = 0;
    /// Armed and its event not taken yet: arming again would only pile up events in the kernel.
    bool armed = false;
    bool broken = false;               ///< Polling it failed; never polled again.
    std::uint32_t sinks = 0;           ///< That named it.
    completion_sink* sorter = nullptr; ///< The only one, where that sorts its batches itself.
};

/// A device in use, its completion queues and its waits.
struct engine_device {
    std::shared_ptr<device> dev;
    std::uint32_t uses = 0;
    std::vector<engine_queue> queues;
    std::shared_ptr<device_waiter> completions; ///< Null: no descriptor, so it must be polled.
    std::shared_ptr<device_waiter> events;      ///< Null: events come with progress().
    bool needs_progress = true;                 ///< As the device says.
    bool fatal = false;                         ///< Gone: its descriptors may be readable for ever.
    std::uint32_t events_held = 0; ///< Sweeps in a row whose completions left no time for events.
};

struct engine_owner {
    completion_sink* sink = nullptr;
    const device* dev = nullptr;
    const device_completion_queue* queue = nullptr; ///< Null: not of a queue pair.
    std::uint16_t generation = 0;
};

/// Up to 64 sinks that are swept when they are called for.
struct called_sweepers {
    std::shared_ptr<sweep_call::board> calls;
    std::array<completion_sink*, 64> sinks{};
};

struct completion_engine::parts {
    explicit parts(asio::io_context& context) : timer(context) {}

    std::vector<engine_device> devices;
    std::vector<engine_owner> owners;
    std::vector<std::uint16_t> free_owners;
    std::vector<completion_sink*> sweepers;
    std::shared_ptr<sweep_call::board> first_calls = std::make_shared<sweep_call::board>();
    std::vector<called_sweepers> called{{first_calls, {}}};

    asio::steady_timer timer;
    bool timer_pending = false;
    std::uint32_t timer_round = 0; ///< Tells the pending wait from cancelled ones.
    time_point timer_deadline = time_point::max();
    fixed_memory turn_memory;
    fixed_memory timer_memory;

    polling_policy policy = polling_policy::park();
    bool waits_open = false; ///< Descriptors are in the context's epoll set.
    time_point last_work{};
    time_point turn_ended{}; ///< Of a turn after which the next one was deferred.
    std::chrono::nanoseconds gap_between_turns{0};
    time_point turn_began{};                  ///< Of the turn that runs; else the epoch.
    time_point due_since{};                   ///< While one is scheduled.
    std::optional<clockid_t> cpu_clock{};     ///< Of the thread that had the last turn.
    std::chrono::nanoseconds gap_in_turn{-1}; ///< The longest that the present turn noted; -1: none.
    latency_histogram gaps;
    time_point last_late_log{};
    std::chrono::nanoseconds patience{0}; ///< The least of our peers'; 0: none known.
    std::chrono::nanoseconds gap_allowed = std::chrono::hours{1000}; ///< Half of it.
    std::string late_text; ///< To be logged when the lock is released.
    std::uint64_t completions = 0;
    std::array<work_completion, completions_per_poll>
        batch{}; ///< Of the sweep; kept, because making it anew costs more than a poll.
    engine_snapshot counts;
    std::shared_ptr<log_sink> log;
};

} // namespace rocio
