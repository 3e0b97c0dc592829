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
      lent_(depth),
      recycled_(depth),
      gathered_(depth),
      caller_(std::make_shared<caller>()) {}

void slot_pool::give_back_first(const returning::chain& chain) noexcept {
    const auto call = caller_;
    std::uint32_t head = returned_.load(std::memory_order_relaxed);
    do {
        if (head == abandoned) return leave(chain.slots);
        tenures_[chain.last].next.store(head > last_index ? none : head, std::memory_order_relaxed);
    } while (!returned_.compare_exchange_weak(head, chain.first, std::memory_order_acq_rel,
                                              std::memory_order_relaxed));
    if (head <= last_index) return;
    call->first();
    if (head == armed) call->call_wake();
}

/// One of several leases, or not from a handler of our engine.
void slot_pool::drop_lease_slowly(std::uint32_t index) noexcept {
    if (!was_last(index)) return;
    mark_returned({index, index + 1});
    give_back({index, index, 1});
}

/// By value, so that whoever recycles keeps its run in a register.
slot_range slot_pool::begin_recycled(slot_range done, std::uint32_t index) noexcept {
    if (done.size() != 0) recycled_.push(done);
    return {index, index};
}

void slot_pool::link(const slot_range& slots, returning::chain& chain) noexcept {
    mark_returned(slots);
    tenures_[slots.first].next.store(std::exchange(chain.first, slots.first), std::memory_order_relaxed);
    if (chain.last == none) chain.last = slots.first;
    chain.slots += slots.size();
}

void slot_pool::take_back() noexcept {
    if (owner_) return owner_->on_returned(gathered_);
    returning::chain chain;
    for (const auto& run : gathered_.all()) link(run, chain);
    gathered_.clear();
    give_back(chain);
}

void slot_pool::take_back_recycled() noexcept {
    recycled_lender_.in_round = false;
    if (!owner_) return leave(1);
    if (!recycled_.empty()) owner_->on_recycled(recycled_);
}

std::uint32_t slot_pool::take_from_stack(slot_runs& out) noexcept {
    std::uint32_t oldest = none, n = 0;
    for (auto at = returned_.exchange(none, std::memory_order_acquire); at <= last_index;) {
        auto& next = tenures_[at].next;
        const auto older = next.load(std::memory_order_relaxed);
        next.store(std::exchange(oldest, at), std::memory_order_relaxed);
        at = older;
    }
    for (auto at = oldest; at != none; at = tenures_[at].next.load(std::memory_order_relaxed)) {
        const auto run = returned_run(at);
        tenures_[at].leases.store(1, std::memory_order_relaxed);
        n += pass_on(run, out);
    }
    return n;
}

bool slot_pool::arm() noexcept {
    if (!recycled_.empty()) return false;
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
    // A round of handlers that is to call us is one more that the pool must outlive.
    std::int64_t out =
        std::int64_t{lent} - left->recycled_.slots() + (left->recycled_lender_.in_round ? 1 : 0);
    for (; at <= last_index; at = left->tenures_[at].next.load(std::memory_order_relaxed))
        out -= left->returned_run(at).size();
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
