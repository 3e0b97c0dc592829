#pragma once

#include <rocio/stream/detail/slot_pool.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

namespace rocio {

/// A received frame where the device put it: a lease on one slot. Move-only; the destructor returns the slot,
/// from any thread, in any order, also after the server is gone. While you hold it the slot is not posted;
/// when all slots are held the sender waits (RNR).
///
/// Thread safety: distinct frames: safe, also two leases on one slot. One frame: unsafe.
class frame {
  public:
    using time_point = std::chrono::steady_clock::time_point;

    frame() noexcept = default;
    frame(frame&&) noexcept = default;
    frame& operator=(frame&& other) noexcept {
        if (this == &other) return *this;
        release();
        pool_ = std::move(other.pool_);
        entry_ = other.entry_;
        return *this;
    }
    ~frame() { release(); }

    /// False for a default-made, moved-from or released one, which must not be asked for anything else.
    explicit operator bool() const noexcept { return pool_ != nullptr; }

    std::span<const std::byte> payload() const noexcept {
        return pool_->slot(entry_.slot).first(entry_.size);
    }
    std::size_t size() const noexcept { return entry_.size; } ///< Bytes.
    std::uint8_t channel() const noexcept {
        return static_cast<std::uint8_t>(entry_.immediate);
    }                                                                        ///< imm[7:0].
    std::uint32_t counter() const noexcept { return entry_.immediate >> 8; } ///< imm[31:8].
    std::uint32_t immediate() const noexcept { return entry_.immediate; }
    std::uint32_t slot() const noexcept { return entry_.slot; }
    time_point received() const noexcept { return entry_.received; } ///< When the engine took its completion.

    /// A second lease on the same slot, which returns with the last.
    frame share() const {
        pool_->add_lease(entry_.slot);
        return frame(pool_, entry_);
    }
    /// Returns the slot now.
    void release() noexcept {
        if (!pool_) return;
        pool_->drop_lease(entry_.slot);
        pool_.reset();
    }

    /// For the server: takes over one lease that is already counted.
    frame(std::shared_ptr<detail::slot_pool> pool, const detail::queued_frame& entry) noexcept
        : pool_(std::move(pool)), entry_(entry) {}

  private:
    std::shared_ptr<detail::slot_pool> pool_;
    detail::queued_frame entry_{};
};

} // namespace rocio
