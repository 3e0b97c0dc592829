#pragma once

#include <rocio/transport/queue_pair.hpp>
#include <rocio/wire/icrc.hpp>

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <queue>
#include <random>
#include <span>
#include <vector>

namespace rocio::test {

/// Probabilities per packet, 0..1.
struct network_faults {
    double drop = 0;
    double duplicate = 0;
    double reorder = 0;    ///< Comes later than packets sent after it.
    double corrupt = 0;    ///< One to three bits flip on the way.
    double short_take = 0; ///< The link takes only a part of what it is offered.
    std::chrono::nanoseconds delay = std::chrono::microseconds{10};
    std::chrono::nanoseconds reorder_by = std::chrono::microseconds{25};

    static network_faults each(double probability) {
        network_faults f;
        f.drop = f.duplicate = f.reorder = f.corrupt = f.short_take = probability;
        return f;
    }
};

/// Two queue pairs over a network of discrete events: no socket, no clock, the same seed gives the same
/// history. Packets travel as bytes with a real ICRC, and a damaged one is dropped by the real check.
class simulated_network {
  public:
    struct counts {
        std::uint64_t sent = 0;
        std::uint64_t delivered = 0;
        std::uint64_t dropped = 0;
        std::uint64_t duplicated = 0;
        std::uint64_t reordered = 0;
        std::uint64_t refused_by_icrc = 0;
        std::uint64_t history = 14695981039346656037ULL; ///< Hash over every delivery and its time.

        friend bool operator==(const counts&, const counts&) = default;
    };
    enum class outcome {
        done,    ///< The condition holds.
        at_rest, ///< Nothing is under way and no deadline is set.
        too_long ///< The limit of steps was reached.
    };

    simulated_network(std::uint64_t seed, const network_faults& faults);

    /// Both must outlive the network.
    void attach(transport::queue_pair& left, transport::queue_pair& right);
    transport::time_point now() const noexcept { return now_; }
    /// Calls `action` at that time, before the packets that arrive then.
    void at(transport::time_point when, std::function<void()> action);

    /// Lets time pass until `done()`, which is asked after every instant and may post and poll.
    outcome run(const std::function<bool()>& done, std::uint64_t max_steps);

    const counts& counted() const noexcept { return counts_; }

  private:
    struct event {
        transport::time_point when;
        std::uint64_t serial = 0;
        int to = 0; ///< Which end, or action.
        std::vector<std::byte> bytes{};
        std::function<void()> action{};

        bool operator<(const event& other) const noexcept {
            return when != other.when ? when > other.when : serial > other.serial;
        }
    };
    static constexpr int no_end = 2;

    bool chance(double probability);
    void schedule(event e);
    void pump(int end);
    void transmit(int from, const transport::packet_out& packet);
    void deliver(int to, std::span<const std::byte> bytes);
    void happen(const event& e);
    transport::time_point next_time() const;

    network_faults faults_;
    std::mt19937_64 random_;
    std::array<transport::queue_pair*, 2> ends_{};
    std::array<wire::icrc_engine, 2> icrc_; ///< icrc_[i]: of packets that end i sends.
    std::priority_queue<event> events_;
    std::uint64_t serial_ = 0;
    transport::time_point now_{std::chrono::seconds{1}};
    counts counts_{};
};

} // namespace rocio::test
