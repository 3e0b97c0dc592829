#include "transport/psn_window.hpp"

#include <algorithm>

namespace rocio::transport {

psn_window::psn_window(const flow_window& limits) noexcept : limits_(limits), packets_(limits.max_packets) {}

std::uint32_t psn_window::cost_of(std::uint32_t datagram_bytes) const noexcept {
    return limits_.capacity == 0 ? 0 : limits_.cost(datagram_bytes);
}

bool psn_window::admits(const in_flight& now, std::uint32_t next_cost, std::uint32_t packets) const noexcept {
    if (now.packets == 0) return true;
    if (now.packets + packets > packets_) return false;
    return limits_.capacity == 0 || std::uint64_t{now.cost} + next_cost <= limits_.capacity;
}

std::uint32_t psn_window::quarter(std::uint32_t datagram_bytes) const noexcept {
    std::uint32_t n = limits_.max_packets / 4;
    if (limits_.capacity != 0)
        n = std::min(n, limits_.capacity / 4 / std::max(1U, limits_.cost(datagram_bytes)));
    return std::max(1U, n);
}

bool psn_window::ask_due(const in_flight& since_asked) const noexcept {
    if (since_asked.packets >= std::max(1U, packets_ / 4)) return true;
    return limits_.capacity != 0 && since_asked.cost >= limits_.capacity / 4;
}

void psn_window::grow(std::uint32_t acknowledged) noexcept {
    packets_ += std::min(limits_.max_packets - packets_, acknowledged);
}

} // namespace rocio::transport
