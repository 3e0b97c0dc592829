#pragma once

#include <rocio/io/detail/slot_range.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace rocio::detail {

/// Slots in an order, kept as runs: they come and go side by side mostly.
class slot_runs {
  public:
    /// Room for `depth` slots, each once.
    explicit slot_runs(std::uint32_t depth) : runs_(std::make_unique<slot_range[]>(std::size_t{depth} + 1)) {
        clear();
    }
    // back_ points into the runs.
    slot_runs(const slot_runs&) = delete;
    slot_runs& operator=(const slot_runs&) = delete;

    bool empty() const noexcept { return back_ == runs_.get(); }
    std::span<const slot_range> all() const noexcept { return {runs_.get() + 1, back_ + 1}; }
    std::uint32_t slots() const noexcept {
        std::uint32_t n = 0;
        for (const auto& run : all()) n += run.size();
        return n;
    }

    void push(std::uint32_t slot) noexcept { push({slot, slot + 1}); }
    void push(const slot_range& run) noexcept {
        if (!extend(run)) append(run);
    }
    /// Adds slots that follow the last one; false: they do not.
    bool extend(const slot_range& run) noexcept {
        if (back_->end != run.first) return false;
        back_->end = run.end;
        return true;
    }
    void append(const slot_range& run) noexcept { *++back_ = run; }
    void clear() noexcept {
        back_ = runs_.get();
        *back_ = {0, no_slot};
    }
    /// The first `n` slots leave.
    void drop_front(std::uint32_t n) noexcept;

  private:
    static constexpr std::uint32_t no_slot = 0xFFFFFFFF;

    std::unique_ptr<slot_range[]>
        runs_; ///< The one before the first is there so that each has one before it.
    slot_range* back_ = nullptr;
};

} // namespace rocio::detail
