#pragma once

#include <rocio/soft/link.hpp>
#include <rocio/transport/queue_pair.hpp>
#include <rocio/wire/packet.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace rocio::soft {

class soft_queue_pair;

/// Packets of several queue pairs on their way into one link::send(): what each queue pair gave, sealed with
/// pad and ICRC, and how to tell each one what was taken. Nothing is copied but headers.
class send_batch {
  public:
    static constexpr std::size_t capacity = 48;

    bool full() const noexcept { return packets_ == capacity; }
    bool empty() const noexcept { return packets_ == 0; }
    std::size_t size() const noexcept { return packets_; }

    /// Asks `qp` for what it wants to send; false when that was nothing. `answer_first`: an acknowledgement
    /// may stand behind the requests it comes with.
    bool take_from(soft_queue_pair& qp, transport::time_point now, bool answer_first);
    std::span<const outgoing_datagram> datagrams() const noexcept { return {datagrams_.data(), packets_}; }
    std::uint64_t bytes(std::size_t first_n) const noexcept;

    /// Tells every queue pair how many of its packets the link took, calls `settled` for each, and is empty
    /// again.
    template <class F>
    void commit(std::size_t taken, transport::time_point now, F&& settled) {
        std::size_t first = 0;
        const std::size_t groups = std::exchange(groups_, 0);
        packets_ = 0;
        for (std::size_t i = 0; i < groups; ++i) {
            const group g = groups_of_[i];
            commit_one(g, taken > first ? taken - first : 0, now);
            first += g.count;
            settled(*g.qp);
        }
    }

  private:
    struct group {
        soft_queue_pair* qp = nullptr;
        std::size_t count = 0;
        bool rotated = false; ///< The acknowledgement stands behind the requests.
    };

    void seal(const soft_queue_pair& qp, std::size_t packet, std::size_t place);
    static void commit_one(const group& g, std::size_t taken, transport::time_point now);

    std::array<transport::packet_out, capacity> given_{};
    std::array<outgoing_datagram, capacity> datagrams_{};
    std::array<std::array<std::byte, 8>, capacity> trailers_{}; ///< Pad (0..3) and ICRC.
    std::array<group, capacity> groups_of_{};
    std::size_t packets_ = 0;
    std::size_t groups_ = 0;
};

} // namespace rocio::soft
