#pragma once

#include <rocio/io/detail/slot_range.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace rocio::detail {

/// Which slots are lent, one bit each, so that slots side by side cost what one costs. One writer at a time;
/// any thread may look.
class lent_slots {
  public:
    explicit lent_slots(std::uint32_t depth)
        : words_(std::make_unique<std::atomic<std::uint64_t>[]>(depth / per_word + 1)) {}

    /// When it is, what was written before insert() can be read.
    bool has(std::uint32_t slot) const noexcept {
        return (words_[slot / per_word].load(std::memory_order_acquire) >> slot % per_word & 1) != 0;
    }
    void insert(const slot_range& slots) noexcept {
        change(slots, [](std::uint64_t word, std::uint64_t bits) { return word | bits; });
    }
    void erase(const slot_range& slots) noexcept {
        change(slots, [](std::uint64_t word, std::uint64_t bits) { return word & ~bits; });
    }

  private:
    static constexpr std::uint32_t per_word = 64;

    template <class Change>
    void change(slot_range slots, Change changed) noexcept {
        while (!slots.empty()) {
            const auto at = slots.first % per_word;
            const auto n = std::min(slots.size(), per_word - at);
            auto& word = words_[slots.first / per_word];
            const auto bits = ~std::uint64_t{0} >> (per_word - n) << at;
            word.store(changed(word.load(std::memory_order_relaxed), bits), std::memory_order_release);
            slots.first += n;
        }
    }

    std::unique_ptr<std::atomic<std::uint64_t>[]> words_;
};

} // namespace rocio::detail
