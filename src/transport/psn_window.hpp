#pragma once

#include <rocio/transport/queue_pair.hpp>

#include <cstdint>

namespace rocio::transport {

/// How much is on its way to the peer: packets that are sent and not acknowledged, and what they cost there.
struct in_flight {
    std::uint32_t packets = 0;
    std::uint32_t cost = 0;
};

/// Says whether one more packet may leave. The limit is flow_window's; after a timeout or an RNR wait it
/// drops to one packet and grows by every packet acknowledged, so that a peer that answered "not ready", or
/// whose acknowledgement alone was lost, is not flooded with a whole window of repetitions.
class psn_window {
  public:
    psn_window() noexcept = default;
    explicit psn_window(const flow_window& limits) noexcept;

    bool counts_cost() const noexcept { return limits_.capacity != 0; }
    std::uint32_t cost_of(std::uint32_t datagram_bytes) const noexcept;
    /// Of a datagram that follows another one in a train.
    std::uint32_t train_cost_of(std::uint32_t datagram_bytes) const noexcept;
    std::uint32_t longest_train() const noexcept { return limits_.longest_train; }
    void end_trains() noexcept { limits_.longest_train = 1; }
    /// Whether a train of datagrams of that size may begin now, with `waiting` of them left to send. One that
    /// cannot be had whole waits for its acknowledgements: else the window breaks up into short trains.
    bool admits_train(const in_flight& now, std::uint32_t datagram_bytes,
                      std::uint64_t waiting) const noexcept;
    /// `packets` more, that cost `next_cost` together. When nothing is in flight they may leave, however much
    /// they cost: else a peer with too small a buffer would end all traffic.
    bool admits(const in_flight& now, std::uint32_t next_cost, std::uint32_t packets = 1) const noexcept;
    /// How many packets of `datagram_bytes` are a quarter of the whole window, at least 1.
    std::uint32_t quarter(std::uint32_t datagram_bytes) const noexcept;
    /// A quarter of the window has gone out since the last request for an acknowledgement.
    bool ask_due(const in_flight& since_asked) const noexcept;

    void shrink() noexcept { packets_ = 1; }
    void grow(std::uint32_t acknowledged) noexcept;
    std::uint32_t packets() const noexcept { return packets_; }

  private:
    std::uint32_t usual_cost_of(std::uint32_t datagram_bytes) const noexcept;

    flow_window limits_{};
    std::uint32_t packets_ = 1;
};

} // namespace rocio::transport
