#include "bench/open_loop.hpp"

namespace rocio::tools {

open_loop::open_loop(double rate, std::uint64_t warm_up, std::uint64_t count, std::uint32_t limit)
    : nanoseconds_between_(1e9 / rate), warm_up_(warm_up), total_(warm_up + count), limit_(limit) {
    latencies_.reserve(count);
}

open_loop::clock::time_point open_loop::due(std::uint64_t message) const noexcept {
    // From the beginning each time: rounding does not add up.
    return begin_ + std::chrono::nanoseconds(
                        static_cast<std::int64_t>(static_cast<double>(message) * nanoseconds_between_));
}

void open_loop::answered(clock::time_point now) {
    const auto message = answered_++;
    if (message < warm_up_) return;
    latencies_.push_back(std::chrono::duration<double, std::micro>(now - due(message)).count());
}

} // namespace rocio::tools
