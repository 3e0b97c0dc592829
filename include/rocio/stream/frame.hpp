#pragma once

#include <rocio/stream/detail/slot_pool.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
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
    frame(frame&& other) noexcept : pool_(std::exchange(other.pool_, nullptr)), slot_(other.slot_) {}
    frame& operator=(frame&& other) noexcept {
        if (this == &other) return *this;
        release();
        pool_ = std::exchange(other.pool_, nullptr);
        slot_ = other.slot_;
        return *this;
    }
    [[gnu::always_inline]] ~frame() {
        if (pool_) pool_->drop_lease(slot_);
    }

    /// False for a default-made, moved-from or released one, which must not be asked for anything else.
    explicit operator bool() const noexcept { return pool_ != nullptr; }

    std::span<const std::byte> payload() const noexcept { return pool_->slot(slot_).first(size()); }
    std::size_t size() const noexcept { return record().size; } ///< Bytes.
    std::uint8_t channel() const noexcept {
        return static_cast<std::uint8_t>(record().immediate);
    }                                                                          ///< imm[7:0].
    std::uint32_t counter() const noexcept { return record().immediate >> 8; } ///< imm[31:8].
    std::uint32_t immediate() const noexcept { return record().immediate; }
    std::uint32_t slot() const noexcept { return slot_; }
    /// When the engine took its completion, and those found with it.
    time_point received() const noexcept {
        return time_point(time_point::duration(record().received.load(std::memory_order_relaxed)));
    }

    /// A second lease on the same slot, which returns with the last.
    frame share() const {
        pool_->add_lease(slot_);
        return frame(*pool_, slot_);
    }
    /// Returns the slot now.
    void release() noexcept {
        if (auto* pool = std::exchange(pool_, nullptr)) pool->drop_lease(slot_);
    }

    /// Returns the slots of all of them now, as each one's release(), but together: to another thread that is
    /// several times cheaper than one by one. Empty ones are passed over.
    static void release_all(std::span<frame> frames) noexcept {
        for (std::size_t i = 0; i < frames.size();) {
            auto* const pool = frames[i].pool_;
            if (!pool) {
                ++i;
                continue;
            }
            detail::slot_pool::returning slots(*pool);
            for (; i < frames.size() && frames[i].pool_ == pool; ++i) {
                slots.drop_lease(frames[i].slot_);
                frames[i].pool_ = nullptr;
            }
        }
    }

    /// For the server: takes over one lease that is already counted.
    frame(detail::slot_pool& pool, std::uint32_t slot) noexcept : pool_(&pool), slot_(slot) {}
    /// For the engine: the same, of an empty one.
    void adopt(detail::slot_pool& pool, std::uint32_t slot) noexcept {
        pool_ = &pool;
        slot_ = slot;
    }
    /// For the engine: the same of as many as there are `slots`, in place of the present leases, which end.
    static void replace(frame* frames, detail::slot_pool& pool, detail::slot_range slots) noexcept;

  private:
    const detail::slot_record& record() const noexcept { return pool_->record(slot_); }
    void replace_foreign(detail::slot_pool* pool) noexcept;

    detail::slot_pool* pool_ = nullptr; ///< Lives as long as the lease.
    std::uint32_t slot_ = 0;
};

} // namespace rocio
