#include <rocio/stream/detail/slot_pool.hpp>

#include <mutex>
#include <utility>

namespace rocio::detail {

/// How to tell the engine. Shared, because whoever returns a slot tells when the pool may be gone.
struct slot_pool::caller {
    std::mutex mutex;
    std::function<void()> wake;
    sweep_call first;

    void call_wake() {
        std::lock_guard lock(mutex);
        if (wake) wake();
    }
};

slot_pool::slot_pool(std::uint32_t depth, std::uint32_t slot_size, const memory_options& options)
    : memory_(std::size_t{depth} * slot_size, options),
      depth_(depth),
      slot_size_(slot_size),
      slab_(memory_.data_or_throw()),
      records_(std::make_unique<slot_record[]>(depth)),
      tenures_(std::make_unique<slot_tenure[]>(depth)),
      recycled_(std::make_unique<std::uint32_t[]>(depth)),
      gathered_(std::make_unique<std::uint32_t[]>(depth)),
      caller_(std::make_shared<caller>()) {}

void slot_pool::give_back_first(const returning::chain& chain) noexcept {
    const auto call = caller_;
    std::uint32_t head = returned_.load(std::memory_order_relaxed);
    do {
        if (head == abandoned) return leave(chain.count);
        tenures_[chain.last].next.store(head > last_index ? none : head, std::memory_order_relaxed);
    } while (!returned_.compare_exchange_weak(head, chain.first, std::memory_order_acq_rel,
                                              std::memory_order_relaxed));
    if (head <= last_index) return;
    call->first();
    if (head == armed) call->call_wake();
}

/// One of several leases, or not from a handler of our engine.
void slot_pool::drop_lease_slowly(std::uint32_t index) noexcept {
    if (was_last(index)) give_back({index, index, 1});
}

void slot_pool::take_back() noexcept {
    const std::span<const std::uint32_t> slots(gathered_.get(), std::exchange(gathered_count_, 0));
    if (owner_) return owner_->on_returned(slots);
    for (std::size_t i = 1; i < slots.size(); ++i)
        tenures_[slots[i - 1]].next.store(slots[i], std::memory_order_relaxed);
    give_back({slots.front(), slots.back(), static_cast<std::uint32_t>(slots.size())});
}

bool slot_pool::arm() noexcept {
    if (has_recycled()) return false;
    std::uint32_t head = none;
    return returned_.compare_exchange_strong(head, armed, std::memory_order_acq_rel,
                                             std::memory_order_relaxed) ||
           head == armed;
}

/// Fails if something was returned just now, which wakes the engine once more than needed.
void slot_pool::leave_armed() noexcept {
    std::uint32_t head = armed;
    returned_.compare_exchange_strong(head, none, std::memory_order_relaxed);
}

void slot_pool::abandon(std::unique_ptr<slot_pool> pool, std::uint32_t lent) noexcept {
    auto* left = pool.release();
    left->owner_ = nullptr;
    std::uint32_t at = left->returned_.exchange(abandoned, std::memory_order_acq_rel);
    std::int64_t out = std::int64_t{lent} - left->recycled_count_;
    for (; at <= last_index; --out) at = left->tenures_[at].next.load(std::memory_order_relaxed);
    if (left->balance_.fetch_sub(out, std::memory_order_acq_rel) == out) delete left;
}

/// Comes after abandon(), but perhaps before it knows how many are to come.
void slot_pool::leave(std::uint32_t count) noexcept {
    const auto n = static_cast<std::int64_t>(count);
    if (balance_.fetch_add(n, std::memory_order_acq_rel) == -n) delete this;
}

void slot_pool::open(std::function<void()> wake, sweep_call first, slot_owner* owner) {
    owner_ = owner;
    if (owner) engine_ = owner->round_engine();
    std::lock_guard lock(caller_->mutex);
    caller_->wake = std::move(wake);
    caller_->first = std::move(first);
}

void slot_pool::close() noexcept {
    std::function<void()> gone;
    std::lock_guard lock(caller_->mutex);
    gone.swap(caller_->wake);
}

} // namespace rocio::detail
