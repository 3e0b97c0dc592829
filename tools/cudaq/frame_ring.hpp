#pragma once

#include <rocio/types/slot_ring.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace rocio::tools {

/// A slot ring whose messages have at least the ring's frame size, as the FPGA expects of a CUDA-Q bridge: it
/// receives whole frames. A longer answer leaves whole, where the original cuts it.
template <polled_slot_ring Ring>
class frame_ring {
  public:
    explicit frame_ring(Ring& ring) : ring_(ring) {}

    std::uint32_t slot_count() const noexcept { return ring_.slot_count(); }
    std::span<const std::byte> rx_slot(std::uint32_t slot) const noexcept { return ring_.rx_slot(slot); }
    std::span<std::byte> tx_slot(std::uint32_t slot) const noexcept { return ring_.tx_slot(slot); }
    bool tx_free(std::uint32_t slot) const noexcept { return ring_.tx_free(slot); }
    std::size_t on_wire(std::size_t length) const noexcept {
        return std::max<std::size_t>(length, ring_.config().frame_size);
    }
    auto publish(std::uint32_t slot, std::size_t length) noexcept {
        return ring_.publish(slot, on_wire(length));
    }
    void release(std::uint32_t slot) noexcept { ring_.release(slot); }
    template <class F>
    std::size_t poll(F f) {
        return ring_.poll(std::move(f));
    }

  private:
    Ring& ring_;
};

} // namespace rocio::tools
