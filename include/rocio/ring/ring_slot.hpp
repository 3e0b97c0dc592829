#pragma once

#include <rocio/ring/detail/ring_memory.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

namespace rocio {

/// A lease on a filled receive slot: move-only; the slot is free for the peer again when it ends, on any
/// thread. It may outlive its ring.
class ring_slot {
  public:
    ring_slot() noexcept = default;
    ring_slot(std::shared_ptr<detail::ring_memory> memory, std::uint32_t index) noexcept
        : memory_(std::move(memory)), index_(index), generation_(memory_->generation(index)) {}
    ring_slot(ring_slot&& other) noexcept
        : memory_(std::move(other.memory_)), index_(other.index_), generation_(other.generation_) {}
    ring_slot& operator=(ring_slot&& other) noexcept {
        if (this == &other) return *this;
        release();
        memory_ = std::move(other.memory_);
        index_ = other.index_;
        generation_ = other.generation_;
        return *this;
    }
    ~ring_slot() { release(); }

    explicit operator bool() const noexcept { return memory_ != nullptr; }
    std::uint32_t index() const noexcept { return index_; }
    /// The whole slot: how long the message in it is says its own header, never the completion.
    std::span<std::byte> bytes() const noexcept {
        return memory_ ? memory_->rx_slot(index_) : std::span<std::byte>();
    }
    /// The peer has sent another message into the slot since this one was given out: the bytes are, or were
    /// for a while, of both. Ask after the bytes were read.
    bool overwritten() const noexcept { return memory_ && memory_->generation(index_) != generation_; }
    void release() noexcept {
        const auto memory = std::move(memory_);
        if (!memory) return;
        detail::ring_memory::store(memory->rx_flags()[index_], 0);
        memory->note_change();
    }

  private:
    std::shared_ptr<detail::ring_memory> memory_;
    std::uint32_t index_ = 0;
    std::uint32_t generation_ = 0;
};

} // namespace rocio
