#pragma once

#include <rocio/types/slot_ring.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

namespace rocio::test {

/// A slot ring in memory: the test plays the wire. Breaches of the concept's contract throw std::logic_error.
class fake_slot_ring {
  public:
    struct message {
        std::uint32_t slot = 0;
        std::vector<std::byte> bytes;
    };
    enum class memory { separate, shared }; ///< shared: receive and send slots are the same bytes.

    explicit fake_slot_ring(std::uint32_t slots = 4, std::size_t slot_size = 64,
                            memory kind = memory::separate)
        : kind_(kind),
          rx_(slots, std::vector<std::byte>(slot_size)),
          tx_(slots, std::vector<std::byte>(slot_size)),
          filled_(slots, false),
          leaving_(slots, false) {}

    std::uint32_t slot_count() const noexcept { return static_cast<std::uint32_t>(rx_.size()); }
    std::span<const std::byte> rx_slot(std::uint32_t slot) const { return rx_.at(slot); }
    std::span<std::byte> tx_slot(std::uint32_t slot) {
        return kind_ == memory::shared ? rx_.at(slot) : tx_.at(slot);
    }
    bool tx_free(std::uint32_t slot) const { return !leaving_.at(slot); }
    error_code publish(std::uint32_t slot, std::size_t length) {
        if (leaving_.at(slot)) throw std::logic_error("published over a message that has not left");
        if (next_publish_error) return std::exchange(next_publish_error, {});
        const auto bytes = tx_slot(slot).first(length);
        sent.push_back({slot, {bytes.begin(), bytes.end()}});
        leaving_[slot] = keep_tx;
        log.push_back({"publish", slot});
        return {};
    }
    void release(std::uint32_t slot) {
        if (!filled_.at(slot)) throw std::logic_error("released a slot that was not held");
        filled_[slot] = false;
        log.push_back({"release", slot});
    }
    template <class Callback>
    std::size_t poll(Callback callback) {
        std::size_t n = 0;
        for (auto arrived = std::exchange(arrived_, {}); !arrived.empty(); ++n) {
            const auto slot = arrived.front();
            arrived.pop_front();
            callback(slot);
        }
        return n;
    }

    // The test's side.

    /// Fills a receive slot; the rest of it keeps its old bytes. Reports it at the next poll().
    void receive(std::uint32_t slot, std::span<const std::byte> bytes) {
        fill(slot, bytes);
        arrived_.push_back(slot);
    }
    /// Fills it without telling poll().
    void fill(std::uint32_t slot, std::span<const std::byte> bytes) {
        std::ranges::copy(bytes, rx_.at(slot).begin());
        filled_[slot] = true;
    }
    bool is_filled(std::uint32_t slot) const { return filled_.at(slot); }
    void let_leave(std::uint32_t slot) { leaving_.at(slot) = false; }
    void occupy_tx(std::uint32_t slot) { leaving_.at(slot) = true; }

    bool keep_tx = false; ///< Published messages leave only by let_leave().
    error_code next_publish_error;
    std::vector<message> sent;
    std::vector<std::pair<const char*, std::uint32_t>> log;

  private:
    memory kind_;
    std::vector<std::vector<std::byte>> rx_;
    std::vector<std::vector<std::byte>> tx_;
    std::vector<bool> filled_;
    std::vector<bool> leaving_;
    std::deque<std::uint32_t> arrived_;
};

static_assert(polled_slot_ring<fake_slot_ring>);

} // namespace rocio::test
