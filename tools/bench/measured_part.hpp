#pragma once

#include "allocation_counter.hpp"
#include "bench/measurement.hpp"

#include <chrono>
#include <cstdint>
#include <utility>
#include <vector>

namespace rocio::tools {

/// CPU time of the calling thread and allocations of the process.
class resource_meter {
  public:
    void begin() noexcept;
    /// Since begin(), on the same thread.
    resource_use used() const noexcept;

  private:
    double cpu_begin_ = 0;
    test::allocation_counter allocations_{test::allocation_counter::scope::process};
};

/// The part of a run that counts: from the end of the warm-up to the last message, in `pieces` of equal size
/// so that the fastest is known. For one thread.
class measured_part {
  public:
    using clock = std::chrono::steady_clock;
    static constexpr std::uint64_t pieces = 20;

    measured_part(std::uint64_t warm_up, std::uint64_t count);

    /// To be told after messages are through, how many so far; 0 before the first.
    void pass(std::uint64_t messages) {
        if (messages >= next_) checkpoint(messages);
    }
    bool is_over() const noexcept { return next_ == never; }
    /// The latencies are the caller's.
    measurement result() const;

  private:
    static constexpr std::uint64_t never = ~std::uint64_t{0};
    void checkpoint(std::uint64_t messages);

    std::uint64_t warm_up_, total_, piece_;
    std::uint64_t next_;
    std::uint64_t last_messages_ = 0;
    clock::time_point begin_{}, last_{};
    resource_meter meter_{};
    measurement result_{};
};

/// Calls one after the other, each timed: `call` makes one, and gets how many came before.
template <class Call>
measurement time_calls(std::uint64_t warm_up, std::uint64_t count, Call call) {
    using clock = measured_part::clock;
    measured_part part(warm_up, count);
    std::vector<double> latencies;
    latencies.reserve(count);
    part.pass(0);
    for (std::uint64_t n = 0; n < warm_up + count; ++n) {
        const auto begin = clock::now();
        call(n);
        const std::chrono::duration<double, std::micro> took = clock::now() - begin;
        if (n >= warm_up) latencies.push_back(took.count());
        part.pass(n + 1);
    }
    auto m = part.result();
    m.latencies = std::move(latencies);
    return m;
}

} // namespace rocio::tools
