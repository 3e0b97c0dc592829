#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace rocio::detail {

/// Slots that were filled one after the other, by receives that had been posted one after the other. Few
/// messages come alone, so what is kept of each costs once per run.
struct slot_run {
    std::chrono::steady_clock::time_point since{}; ///< When the sweep that brought the messages began.
    std::uint32_t slot = 0;                        ///< The first.
    std::uint32_t token = 0;                       ///< The receive that filled it.
    std::uint32_t count = 0;
    bool has_tokens = false; ///< Those receives are not posted again yet.

    bool has(std::uint32_t s) const noexcept { return s - slot < count; }
    slot_run part(std::uint32_t from, std::uint32_t to) const noexcept {
        return {since, from, token + (from - slot), to - from, has_tokens};
    }
    bool goes_on_with(const slot_run& next) const noexcept {
        return next.slot == slot + count && next.token == token + count && next.since == since &&
               next.has_tokens == has_tokens;
    }
};

/// The receive slots that are held, in the order in which they were filled. A slot is in it once at most.
class held_slots {
  public:
    explicit held_slots(std::uint32_t slots)
        : places_(2 * std::size_t{slots}), runs_(places_.data()), former_(runs_ + slots) {}
    held_slots(const held_slots&) = delete;
    held_slots& operator=(const held_slots&) = delete;

    /// How many slots.
    std::uint32_t size() const noexcept { return size_; }
    std::span<const slot_run> runs() const noexcept { return {runs_, run_count_}; }

    void add(const slot_run& run) noexcept {
        size_ += run.count;
        if (run_count_ > 0 && runs_[run_count_ - 1].goes_on_with(run))
            runs_[run_count_ - 1].count += run.count;
        else
            runs_[run_count_++] = run;
    }
    /// Takes one slot out; an empty run if it is not held.
    slot_run take(std::uint32_t slot) noexcept;
    /// Takes all out. The runs stay where they are until the next call; each of their slots may be added
    /// again, once.
    std::span<const slot_run> take_all() noexcept {
        const std::span<const slot_run> taken(runs_, std::exchange(run_count_, 0));
        std::swap(runs_, former_);
        size_ = 0;
        return taken;
    }

  private:
    std::vector<slot_run> places_; ///< As many runs as slots, twice.
    slot_run* runs_;
    slot_run* former_;
    std::size_t run_count_ = 0;
    std::uint32_t size_ = 0;
};

} // namespace rocio::detail
