#pragma once

#include <rocio/io/detail/mapped_memory.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>

namespace rocio::detail {

/// The slots and flags of a ring, shared by the ring and its leases; the memory goes with the last of them. A
/// flag is the address of fresh data, or 0 for a free slot. Flags may be written by any thread, C code
/// included: every access here is atomic.
class ring_memory {
  public:
    /// Zeroed, page-aligned. Throws std::bad_alloc.
    ring_memory(std::uint32_t slots, std::uint32_t slot_size, const memory_options& options = {});
    ring_memory(const ring_memory&) = delete;
    ring_memory& operator=(const ring_memory&) = delete;

    const memory_snapshot& memory() const noexcept { return memory_.got(); }
    std::uint32_t slots() const noexcept { return slots_; }
    std::uint32_t slot_size() const noexcept { return slot_size_; }
    std::span<std::byte> rx() const noexcept { return {rx_, std::size_t{slots_} * slot_size_}; }
    std::span<std::byte> tx() const noexcept { return {tx_, std::size_t{slots_} * slot_size_}; }
    /// Both, with what rounds each up to whole pages.
    std::span<std::byte> all() const noexcept { return {rx_, 2 * half_}; }
    std::span<std::byte> rx_slot(std::uint32_t slot) const noexcept { return slot_of(rx_, slot); }
    std::span<std::byte> tx_slot(std::uint32_t slot) const noexcept { return slot_of(tx_, slot); }
    std::uint64_t* rx_flags() const noexcept { return rx_flags_; }
    std::uint64_t* tx_flags() const noexcept { return tx_flags_; }

    static std::uint64_t load(std::uint64_t& flag) noexcept {
        return std::atomic_ref(flag).load(std::memory_order_acquire);
    }
    static void store(std::uint64_t& flag, std::uint64_t value) noexcept {
        std::atomic_ref(flag).store(value, std::memory_order_release);
    }
    /// Whether all of `n` flags are set. Eight at a time: a loop's own instructions would be half of it.
    static bool all_set(std::uint64_t* at, std::uint32_t n) noexcept {
        for (; n >= 8; n -= 8, at += 8)
            if (load(at[0]) == 0 || load(at[1]) == 0 || load(at[2]) == 0 || load(at[3]) == 0 ||
                load(at[4]) == 0 || load(at[5]) == 0 || load(at[6]) == 0 || load(at[7]) == 0)
                return false;
        for (; n > 0; --n, ++at)
            if (load(*at) == 0) return false;
        return true;
    }
    /// Whether all are 0.
    static bool all_clear(std::uint64_t* at, std::uint32_t n) noexcept {
        for (; n >= 8; n -= 8, at += 8)
            if ((load(at[0]) | load(at[1]) | load(at[2]) | load(at[3]) | load(at[4]) | load(at[5]) |
                 load(at[6]) | load(at[7])) != 0)
                return false;
        for (; n > 0; --n, ++at)
            if (load(*at) != 0) return false;
        return true;
    }
    static std::uint64_t address_of(std::span<const std::byte> slot) noexcept {
        return reinterpret_cast<std::uintptr_t>(slot.data());
    }

    /// How many messages came into a receive slot.
    std::uint32_t generation(std::uint32_t slot) const noexcept {
        return generations_[slot].load(std::memory_order_acquire);
    }
    /// Engine only.
    void count_arrival(std::uint32_t slot) noexcept {
        const auto before = generations_[slot].load(std::memory_order_relaxed);
        generations_[slot].store(before + 1, std::memory_order_release);
    }

    /// Any thread: a flag was written; wakes an engine that waits in the kernel.
    void note_change() noexcept;
    /// Engine only, around its wait; flags are to be looked at once more after arm().
    void arm() noexcept { armed_.store(true, std::memory_order_seq_cst); }
    void disarm() noexcept {
        if (armed_.load(std::memory_order_relaxed)) armed_.store(false, std::memory_order_relaxed);
    }
    void open(std::function<void()> wake);
    /// After this note_change() calls wake no more.
    void close() noexcept;

  private:
    std::span<std::byte> slot_of(std::byte* base, std::uint32_t slot) const noexcept {
        return {base + std::size_t{slot} * slot_size_, slot_size_};
    }

    mapped_memory memory_; // first, so that what is in use all the time lies together
    std::uint32_t slots_;
    std::uint32_t slot_size_;
    std::size_t half_; ///< Bytes of one direction's slots, in whole pages.
    std::byte* rx_;
    std::byte* tx_;
    std::uint64_t* rx_flags_;
    std::uint64_t* tx_flags_;
    std::unique_ptr<std::atomic<std::uint32_t>[]> generations_;
    std::atomic<bool> armed_{false};
    std::mutex mutex_;
    std::function<void()> wake_;
};

} // namespace rocio::detail
