#include <rocio/ring/detail/ring_memory.hpp>

#include <utility>

#include <unistd.h>

namespace rocio::detail {

namespace {

std::size_t rounded(std::size_t size, std::size_t unit) noexcept {
    return (size + unit - 1) / unit * unit;
}

/// Of one direction's slots, in whole pages.
std::size_t half_of(std::uint32_t slots, std::uint32_t slot_size) noexcept {
    return rounded(std::size_t{slots} * slot_size, static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)));
}

/// Of one direction's flags, in whole cache lines.
std::size_t flags_of(std::uint32_t slots) noexcept {
    return rounded(std::size_t{slots} * sizeof(std::uint64_t), 64);
}

} // namespace

ring_memory::ring_memory(std::uint32_t slots, std::uint32_t slot_size, const memory_options& options)
    : memory_(2 * (half_of(slots, slot_size) + flags_of(slots)), options),
      slots_(slots),
      slot_size_(slot_size),
      half_(half_of(slots, slot_size)),
      rx_(memory_.data_or_throw()),
      tx_(rx_ + half_),
      rx_flags_(reinterpret_cast<std::uint64_t*>(tx_ + half_)),
      tx_flags_(rx_flags_ + flags_of(slots) / sizeof(std::uint64_t)),
      generations_(std::make_unique<std::atomic<std::uint32_t>[]>(slots)) {}

void ring_memory::note_change() noexcept {
    // seq_cst on both sides: either the engine, which looks once more after arm(), sees the flag, or this
    // sees `armed_`.
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (!armed_.load(std::memory_order_seq_cst) || !armed_.exchange(false, std::memory_order_seq_cst)) return;
    const std::lock_guard held(mutex_);
    if (wake_) wake_();
}

void ring_memory::open(std::function<void()> wake) {
    const std::lock_guard held(mutex_);
    wake_ = std::move(wake);
}

void ring_memory::close() noexcept {
    std::function<void()> gone;
    const std::lock_guard held(mutex_);
    gone.swap(wake_);
}

} // namespace rocio::detail
