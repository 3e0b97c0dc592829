#include <rocio/ring/detail/ring_memory.hpp>

#include <new>
#include <utility>

#include <sys/mman.h>
#include <unistd.h>

namespace rocio::detail {

namespace {

std::size_t rounded(std::size_t size, std::size_t unit) noexcept {
    return (size + unit - 1) / unit * unit;
}

} // namespace

ring_memory::ring_memory(std::uint32_t slots, std::uint32_t slot_size)
    : slots_(slots),
      slot_size_(slot_size),
      generations_(std::make_unique<std::atomic<std::uint32_t>[]>(slots)) {
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    half_ = rounded(std::size_t{slots} * slot_size, page);
    flags_ = rounded(std::size_t{slots} * sizeof(std::uint64_t), 64);
    void* p = ::mmap(nullptr, 2 * half_ + rounded(2 * flags_, page), PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) throw std::bad_alloc();
    rx_ = static_cast<std::byte*>(p);
    tx_ = rx_ + half_;
    rx_flags_ = reinterpret_cast<std::uint64_t*>(tx_ + half_);
    tx_flags_ = rx_flags_ + flags_ / sizeof(std::uint64_t);
}

ring_memory::~ring_memory() {
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    ::munmap(rx_, 2 * half_ + rounded(2 * flags_, page));
}

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
