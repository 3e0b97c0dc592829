#pragma once

#include <rocio/io/detail/slot_range.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace rocio::detail {

/// Slots on their way back from any thread to the engine: runs, pushed by CAS and taken all at once by an
/// exchange, so that there is no ABA. A run is one word, and while it is the only one nothing else is
/// written: each further cache line would go to the other core and back.
class return_stack {
    using word = std::uint64_t;
    /// In the upper half of a word whose lower one is no slot.
    enum class mark : std::uint32_t { empty, armed, abandoned };
    static constexpr std::uint32_t no_slot = 0xFFFFFFFF;
    static constexpr word last = word{1} << 63; ///< There is no run below this one.

    static constexpr word word_of(const slot_range& run) noexcept {
        return word{run.size()} << 32 | run.first;
    }
    static constexpr word word_of(mark m) noexcept { return static_cast<word>(m) << 32 | no_slot; }
    static constexpr bool is_run(word w) noexcept { return static_cast<std::uint32_t>(w) != no_slot; }
    static constexpr slot_range run_of(word w) noexcept {
        const auto first = static_cast<std::uint32_t>(w);
        return {first, first + static_cast<std::uint32_t>((w & ~last) >> 32)};
    }

  public:
    /// What a push met.
    enum class found : std::uint8_t { others, nothing, armed, abandoned };

    /// Runs that are pushed together.
    struct chain {
        std::uint32_t slots = 0;

      private:
        friend class return_stack;
        word newest = 0;
        std::uint32_t oldest = no_slot; ///< Its first slot.
        bool single = true;
    };

    explicit return_stack(std::uint32_t depth) : next_(std::make_unique<std::atomic<word>[]>(depth)) {}

    void add(chain& c, const slot_range& run) noexcept {
        if (c.slots == 0) {
            c.oldest = run.first;
        } else {
            next_[run.first].store(c.newest, std::memory_order_relaxed);
            c.single = false;
        }
        c.newest = word_of(run);
        c.slots += run.size();
    }
    // Any thread. After these nothing here may be touched any more: it may be gone with its last slot.
    /// False: there are no others, and the chain was not pushed.
    bool push_onto_others(const chain& c) noexcept {
        auto head = head_.load(std::memory_order_relaxed);
        while (is_run(head)) {
            next_[c.oldest].store(head, std::memory_order_relaxed);
            if (replace(head, c.newest)) return true;
        }
        return false;
    }
    /// Does nothing to an abandoned one.
    found push(const chain& c) noexcept {
        auto head = head_.load(std::memory_order_relaxed);
        word pushed = 0;
        do {
            if (head == word_of(mark::abandoned)) [[unlikely]]
                return found::abandoned;
            pushed = c.newest;
            if (!is_run(head) && c.single)
                pushed |= last;
            else
                next_[c.oldest].store(is_run(head) ? head : word_of(mark::empty), std::memory_order_relaxed);
        } while (!replace(head, pushed));
        if (is_run(head)) return found::others;
        return head == word_of(mark::armed) ? found::armed : found::nothing;
    }

    // Engine only from here on.
    bool empty() const noexcept { return !is_run(head_.load(std::memory_order_relaxed)); }
    /// Calls `f` for each run in the order of their return.
    template <class Function>
    void take(Function f) noexcept {
        if (empty()) return;
        const auto head = head_.exchange(word_of(mark::empty), std::memory_order_acquire);
        if ((head & last) != 0) return f(run_of(head));
        for (auto at = turned_round(head); is_run(at); at = next_of(at)) f(run_of(at));
    }
    /// From now on a push finds it armed. False if something was returned meanwhile: take it first.
    bool arm() noexcept {
        auto head = word_of(mark::empty);
        return head_.compare_exchange_strong(head, word_of(mark::armed), std::memory_order_acq_rel,
                                             std::memory_order_relaxed) ||
               head == word_of(mark::armed);
    }
    bool is_armed() const noexcept { return head_.load(std::memory_order_relaxed) == word_of(mark::armed); }
    /// Fails if something was returned just now, which wakes the engine once more than needed.
    void disarm() noexcept {
        auto head = word_of(mark::armed);
        head_.compare_exchange_strong(head, word_of(mark::empty), std::memory_order_relaxed);
    }
    /// Nothing is pushed any more; gives how many slots there are.
    std::uint32_t abandon() noexcept {
        std::uint32_t slots = 0;
        auto at = head_.exchange(word_of(mark::abandoned), std::memory_order_acq_rel);
        for (; is_run(at); at = next_of(at)) slots += run_of(at).size();
        return slots;
    }

  private:
    bool replace(word& head, word by) noexcept {
        return head_.compare_exchange_weak(head, by, std::memory_order_acq_rel, std::memory_order_relaxed);
    }
    word next_of(word run) const noexcept {
        if ((run & last) != 0) return word_of(mark::empty);
        return next_[static_cast<std::uint32_t>(run)].load(std::memory_order_relaxed);
    }
    /// The same runs, the oldest first.
    word turned_round(word newest) noexcept {
        auto older = word_of(mark::empty);
        for (auto at = newest; is_run(at);) {
            const auto next = next_of(at);
            next_[static_cast<std::uint32_t>(at)].store(older, std::memory_order_relaxed);
            older = at & ~last;
            at = next;
        }
        return older;
    }

    std::unique_ptr<std::atomic<word>[]> next_; ///< By a run's first slot: the run that came before it.
    /// Of both sides: on a line of its own.
    alignas(64) std::atomic<word> head_{word_of(mark::empty)};
};

} // namespace rocio::detail
