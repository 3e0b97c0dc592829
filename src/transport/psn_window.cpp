#include "transport/psn_window.hpp"

#include <algorithm>

namespace rocio::transport {

psn_window::psn_window(const flow_window& limits) noexcept : limits_(limits), packets_(limits.max_packets) {}

std::uint32_t psn_window::cost_of(std::uint32_t datagram_bytes) const noexcept {
    return limits_.capacity == 0 ? 0 : limits_.cost(datagram_bytes);
}

std::uint32_t psn_window::train_cost_of(std::uint32_t datagram_bytes) const noexcept {
    return limits_.capacity == 0 ? 0 : limits_.train_cost(datagram_bytes);
}

std::uint32_t psn_window::usual_cost_of(std::uint32_t datagram_bytes) const noexcept {
    return limits_.longest_train > 1 ? train_cost_of(datagram_bytes) : cost_of(datagram_bytes);
}

bool psn_window::admits_train(const in_flight& now, std::uint32_t datagram_bytes,
                              std::uint64_t waiting) const noexcept {
    // Three trains fill a window: one is read, one waits, one is made. After a loss it is small, and so are
    // they.
    const std::uint32_t whole = std::min(limits_.longest_train, std::max(1U, packets_ / 3));
    const auto packets = static_cast<std::uint32_t>(std::min<std::uint64_t>(whole, waiting));
    const std::uint32_t cost = cost_of(datagram_bytes) + (packets - 1) * train_cost_of(datagram_bytes);
    return admits(now, cost, packets);
}

bool psn_window::admits(const in_flight& now, std::uint32_t next_cost, std::uint32_t packets) const noexcept {
    if (now.packets == 0) return true;
    if (now.packets + packets > packets_) return false;
    return limits_.capacity == 0 || std::uint64_t{now.cost} + next_cost <= limits_.capacity;
}

std::uint32_t psn_window::quarter(std::uint32_t datagram_bytes) const noexcept {
    std::uint32_t n = limits_.max_packets / 4;
    if (limits_.capacity != 0)
        n = std::min(n, limits_.capacity / 4 / std::max(1U, usual_cost_of(datagram_bytes)));
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
