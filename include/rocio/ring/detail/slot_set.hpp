#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace rocio::detail {

/// A set of slots, one bit each, so that slots in a row cost what one costs.
class slot_set {
  public:
    static constexpr std::uint32_t slots_per_word = 64;

    explicit slot_set(std::uint32_t slots) : words_(slots / slots_per_word + 1) {}

    bool has(std::uint32_t slot) const noexcept { return (word(slot) & mask(slot, 1)) != 0; }
    void insert(std::uint32_t slot, std::uint32_t n = 1) noexcept { words_[index(slot)] |= mask(slot, n); }
    void erase(std::uint32_t slot, std::uint32_t n = 1) noexcept { words_[index(slot)] &= ~mask(slot, n); }
    /// Erases it; whether it was there.
    bool take(std::uint32_t slot) noexcept {
        const bool was = has(slot);
        erase(slot);
        return was;
    }

    // Slots in a row: those that share a word. insert() and erase() take as many at once.
    /// How many there are from `slot` on.
    static constexpr std::uint32_t in_word(std::uint32_t slot) noexcept {
        return slots_per_word - slot % slots_per_word;
    }
    static constexpr std::uint64_t mask(std::uint32_t slot, std::uint32_t n) noexcept {
        return ~std::uint64_t{0} >> (slots_per_word - n) << slot % slots_per_word;
    }
    std::uint64_t word(std::uint32_t slot) const noexcept { return words_[index(slot)]; }

  private:
    static constexpr std::size_t index(std::uint32_t slot) noexcept { return slot / slots_per_word; }

    std::vector<std::uint64_t> words_;
};

} // namespace rocio::detail
