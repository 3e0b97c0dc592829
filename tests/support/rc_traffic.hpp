#pragma once

#include "rc_endpoint.hpp"
#include "simulated_network.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace rocio::test {

/// What one side sends to the other.
struct traffic_plan {
    std::uint32_t messages = 0;
    std::function<std::size_t(std::uint32_t)> size_of = [](std::uint32_t) { return std::size_t{100}; };
    std::size_t max_size = 100;
    std::uint32_t sends = 16;    ///< Outstanding at once.
    std::uint32_t receives = 16; ///< Posted at once at the other side.
    /// The receiver gives each buffer back so much later; zero: at once.
    std::chrono::nanoseconds receive_delay{0};
    bool immediate = false; ///< Every message carries its number.
    /// Which operation message n is; none: SEND, as `immediate` says. WRITEs go to a slot of their own at the
    /// other side, READs come from memory there that never changes.
    std::function<opcode(std::uint32_t)> op_of{};
};

/// Two connected endpoints over a simulated network that send each other numbered messages. Every completion
/// is checked as it comes: message after message, each once, in order, with its length, contents and
/// immediate; what WRITEs put and READs got, too.
class rc_traffic {
  public:
    struct settings {
        std::uint64_t seed = 1;
        network_faults faults{};
        rc_endpoint_options endpoint{}; ///< Of both; PSNs are drawn from the seed.
        traffic_plan left{};
        traffic_plan right{};
        std::uint64_t max_steps = 2'000'000;
    };

    explicit rc_traffic(const settings& s);
    ~rc_traffic();

    /// Runs until everything arrived and is acknowledged, or a side failed. Mistakes are GoogleTest failures.
    void run();

    bool complete() const;         ///< Every message arrived and every send succeeded.
    errc failure() const noexcept; ///< Why a side went to the error state, else success.
    const simulated_network::counts& network() const { return network_.counted(); }
    const transport::queue_pair_counters& left() const;
    const transport::queue_pair_counters& right() const;
    std::uint32_t arrived_right() const; ///< Messages of left that arrived in receives.
    std::uint32_t completed_left() const;
    std::string describe() const;

  private:
    struct side;
    bool turn();

    settings settings_;
    simulated_network network_;
    std::unique_ptr<side> left_;
    std::unique_ptr<side> right_;
};

} // namespace rocio::test
