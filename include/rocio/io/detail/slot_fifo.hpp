#pragma once

#include <rocio/io/detail/slot_range.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace rocio::detail {

/// Slots that leave in the order in which they came, kept as runs: what comes side by side costs what one
/// costs.
class slot_fifo {
  public:
    /// Room for `depth` slots, each once.
    explicit slot_fifo(std::uint32_t depth)
        : mask_(std::bit_ceil(depth) - 1), runs_(std::make_unique<slot_range[]>(std::size_t{mask_} + 1)) {}

    bool empty() const noexcept { return size_ == 0; }
    std::uint32_t size() const noexcept { return size_; } ///< Slots.

    void push(const slot_range& slots) noexcept {
        size_ += slots.size();
        auto& last = runs_[(end_ - 1) & mask_];
        if (begin_ != end_ && last.end == slots.first)
            last.end = slots.end;
        else
            runs_[end_++ & mask_] = slots;
    }
    /// The first ones, as many as lie side by side. Not of an empty one.
    const slot_range& front() const noexcept { return runs_[begin_ & mask_]; }
    /// The first `n` of front() leave.
    void drop_front(std::uint32_t n) noexcept {
        auto& run = runs_[begin_ & mask_];
        run.first += n;
        size_ -= n;
        if (run.empty()) ++begin_;
    }
    /// It becomes the first one.
    void push_front(std::uint32_t slot) noexcept {
        ++size_;
        runs_[--begin_ & mask_] = {slot, slot + 1};
    }
    /// Takes one out wherever it is; false: it is not in. Linear in the runs.
    bool take(std::uint32_t slot) noexcept;
    void clear() noexcept { begin_ = end_ = size_ = 0; }
    std::uint32_t pop() noexcept {
        const auto slot = front().first;
        drop_front(1);
        return slot;
    }

  private:
    slot_range& run(std::uint32_t at) noexcept { return runs_[at & mask_]; }

    std::uint32_t mask_;
    std::uint32_t begin_ = 0, end_ = 0; ///< Of the runs; they count on for ever.
    std::uint32_t size_ = 0;
    std::unique_ptr<slot_range[]> runs_;
};

} // namespace rocio::detail
