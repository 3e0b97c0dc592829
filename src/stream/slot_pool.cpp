#include <rocio/stream/detail/slot_pool.hpp>

namespace rocio::detail {

slot_pool::slot_pool(std::uint32_t depth, std::uint32_t slot_size, const memory_options& options)
    : memory_(std::size_t{depth} * slot_size, options),
      depth_(depth),
      slot_size_(slot_size),
      slab_(memory_.data_or_throw()),
      links_(std::make_unique<link[]>(depth)) {}

void slot_pool::drop_lease(std::uint32_t index) noexcept {
    auto& place = links_[index];
    if (place.leases.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    std::uint32_t head = returned_.load(std::memory_order_relaxed);
    do {
        place.next.store(head, std::memory_order_relaxed);
        // seq_cst on both sides: either arm() sees this slot, or this sees `armed_`.
    } while (
        !returned_.compare_exchange_weak(head, index, std::memory_order_seq_cst, std::memory_order_relaxed));
    if (!armed_.load(std::memory_order_seq_cst) || !armed_.exchange(false, std::memory_order_seq_cst)) return;
    std::lock_guard lock(mutex_);
    if (wake_) wake_();
}

bool slot_pool::arm() noexcept {
    armed_.store(true, std::memory_order_seq_cst);
    return returned_.load(std::memory_order_seq_cst) == none;
}

void slot_pool::disarm() noexcept {
    if (armed_.load(std::memory_order_relaxed)) armed_.store(false, std::memory_order_relaxed);
}

void slot_pool::open(std::function<void()> wake) {
    std::lock_guard lock(mutex_);
    wake_ = std::move(wake);
}

void slot_pool::close() noexcept {
    std::function<void()> gone;
    std::lock_guard lock(mutex_);
    gone.swap(wake_);
}

} // namespace rocio::detail
