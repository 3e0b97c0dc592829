#include "rc_traffic.hpp"
#include "soak_count.hpp"

#include <gtest/gtest.h>

#include <random>

// Whole connections under faults, messages, operations, windows and MTUs that a seed draws.

namespace rocio::test {
namespace {

rc_traffic::settings drawn_by(std::uint64_t seed) {
    std::mt19937_64 random(seed);
    const auto below = [&](std::uint64_t n) { return static_cast<std::uint32_t>(random() % n); };
    rc_traffic::settings s;
    s.seed = seed;
    s.faults = network_faults::each(below(100) / 1000.0);
    s.endpoint.unlimited_retry = true;
    s.endpoint.path_mtu = static_cast<mtu>(1 + below(5));
    const auto limit = 1 + below(20'000);
    if (below(2) == 0)
        s.endpoint.response_window = {1 + below(100'000), [](std::uint32_t d) { return d; }, 128};
    s.endpoint.initiator_depth = 1 + below(16);
    for (auto* plan : {&s.left, &s.right}) {
        plan->messages = 20 + below(200);
        plan->max_size = limit;
        plan->size_of = [seed, limit](std::uint32_t n) {
            return static_cast<std::size_t>(std::mt19937_64(seed + n)() % limit);
        };
        plan->sends = 1 + below(100);
        plan->receives = 1 + below(100);
        plan->receive_delay = std::chrono::microseconds(below(3) == 0 ? below(500) : 0);
        plan->immediate = below(2) == 0;
        if (below(3) == 0) continue; // SENDs only
        plan->op_of = [seed](std::uint32_t n) {
            return static_cast<opcode>(std::mt19937_64(seed * 31 + n)() % 5);
        };
    }
    return s;
}

TEST(rc_network_soak, delivers_everything_whatever_the_seed_draws) {
    for (std::uint64_t seed = 1; seed <= soak_count(); ++seed) {
        auto settings = drawn_by(seed);
        settings.max_steps = 20'000'000;
        rc_traffic traffic(settings);
        traffic.run();
        ASSERT_TRUE(traffic.complete()) << "seed " << seed << ": " << traffic.describe();
    }
}

} // namespace
} // namespace rocio::test
