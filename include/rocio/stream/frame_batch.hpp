#pragma once

#include <rocio/stream/detail/slot_pool.hpp>

#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <utility>

namespace rocio {

/// A received frame that somebody else has the lease on: valid as long as that is.
class frame_view {
  public:
    using time_point = std::chrono::steady_clock::time_point;

    std::span<const std::byte> payload() const noexcept { return pool_->slot(slot_).first(size()); }
    std::size_t size() const noexcept { return pool_->record(slot_).size; }                  ///< Bytes.
    std::uint8_t channel() const noexcept { return static_cast<std::uint8_t>(immediate()); } ///< imm[7:0].
    std::uint32_t counter() const noexcept { return immediate() >> 8; }                      ///< imm[31:8].
    std::uint32_t immediate() const noexcept { return pool_->record(slot_).immediate; }
    std::uint32_t slot() const noexcept { return slot_; }
    /// When the engine took its completion, and those found with it.
    time_point received() const noexcept {
        const auto since_epoch = pool_->record(slot_).received.load(std::memory_order_relaxed);
        return time_point(time_point::duration(since_epoch));
    }

    /// For the batch.
    frame_view(detail::slot_pool& pool, std::uint32_t slot) noexcept : pool_(&pool), slot_(slot) {}

  private:
    detail::slot_pool* pool_;
    std::uint32_t slot_;
};

/// Received frames whose slots lie side by side, in the order of their arrival: one lease on all of them.
/// Move-only; the destructor returns the slots together, from any thread, also after the server is gone. To
/// hand frames to another thread this is the cheapest way: what goes there and back is a few words, however
/// many the frames.
///
/// Thread safety: distinct batches: safe. One batch: const members are.
class frame_batch {
  public:
    class iterator;

    frame_batch() noexcept = default;
    frame_batch(frame_batch&& other) noexcept
        : pool_(std::exchange(other.pool_, nullptr)),
          first_(other.first_),
          count_(std::exchange(other.count_, 0)),
          sole_(other.sole_) {}
    frame_batch& operator=(frame_batch&& other) noexcept {
        if (this == &other) return *this;
        release();
        pool_ = std::exchange(other.pool_, nullptr);
        first_ = other.first_;
        count_ = std::exchange(other.count_, 0);
        sole_ = other.sole_;
        return *this;
    }
    [[gnu::always_inline]] ~frame_batch() {
        if (pool_) release_all();
    }

    std::size_t size() const noexcept { return count_; }
    bool empty() const noexcept { return count_ == 0; }
    /// `i` below size().
    frame_view operator[](std::size_t i) const noexcept {
        return {*pool_, first_ + static_cast<std::uint32_t>(i)};
    }
    iterator begin() const noexcept;
    iterator end() const noexcept;

    /// Returns the slots now; the batch is empty then.
    void release() noexcept {
        if (pool_) release_all();
    }

    /// For the server: takes over one lease on each slot that is already counted; `sole`: there is no other.
    frame_batch(detail::slot_pool& pool, std::uint32_t first, std::uint32_t count, bool sole) noexcept
        : pool_(&pool), first_(first), count_(count), sole_(sole) {}

  private:
    [[gnu::noinline]] void release_all() noexcept {
        auto* const pool = std::exchange(pool_, nullptr);
        const auto count = std::exchange(count_, 0);
        if (sole_) [[likely]]
            return pool->drop_run(first_, count);
        detail::slot_pool::returning slots(*pool);
        for (std::uint32_t i = 0; i < count; ++i) slots.drop_lease(first_ + i);
    }

    detail::slot_pool* pool_ = nullptr; ///< Lives as long as the lease.
    std::uint32_t first_ = 0, count_ = 0;
    bool sole_ = false;
};

/// A random access iterator but for `->`: what it points to is made when it is asked for.
class frame_batch::iterator {
  public:
    using iterator_concept = std::random_access_iterator_tag;
    using iterator_category = std::input_iterator_tag;
    using value_type = frame_view;
    using difference_type = std::ptrdiff_t;
    using reference = frame_view;
    using pointer = void;

    iterator() noexcept = default;
    iterator(const frame_batch& batch, difference_type at) noexcept : batch_(&batch), at_(at) {}

    frame_view operator*() const noexcept { return (*batch_)[static_cast<std::size_t>(at_)]; }
    frame_view operator[](difference_type n) const noexcept { return *(*this + n); }
    iterator& operator++() noexcept { return *this += 1; }
    iterator operator++(int) noexcept { return std::exchange(*this, *this + 1); }
    iterator& operator--() noexcept { return *this -= 1; }
    iterator operator--(int) noexcept { return std::exchange(*this, *this - 1); }
    iterator& operator+=(difference_type n) noexcept {
        at_ += n;
        return *this;
    }
    iterator& operator-=(difference_type n) noexcept { return *this += -n; }
    friend iterator operator+(iterator i, difference_type n) noexcept { return i += n; }
    friend iterator operator+(difference_type n, iterator i) noexcept { return i += n; }
    friend iterator operator-(iterator i, difference_type n) noexcept { return i -= n; }
    friend difference_type operator-(const iterator& a, const iterator& b) noexcept { return a.at_ - b.at_; }
    friend bool operator==(const iterator& a, const iterator& b) noexcept { return a.at_ == b.at_; }
    friend auto operator<=>(const iterator& a, const iterator& b) noexcept { return a.at_ <=> b.at_; }

  private:
    const frame_batch* batch_ = nullptr;
    difference_type at_ = 0;
};

inline frame_batch::iterator frame_batch::begin() const noexcept {
    return {*this, 0};
}
inline frame_batch::iterator frame_batch::end() const noexcept {
    return {*this, static_cast<std::ptrdiff_t>(count_)};
}

} // namespace rocio
