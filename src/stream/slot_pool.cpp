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
      leases_(std::make_unique<std::atomic<std::uint32_t>[]>(depth)),
      caller_(std::make_shared<caller>()),
      returned_(depth),
      lent_(depth),
      recycled_(depth),
      gathered_(depth) {
    for (std::uint32_t slot = 0; slot < depth; ++slot) leases_[slot].store(1, std::memory_order_relaxed);
}

void slot_pool::give_back(const return_stack::chain& chain) noexcept {
    if (returned_.push_onto_others(chain)) return;
    // The pool may be gone when it is called.
    const auto call = caller_;
    const auto slots = chain.slots;
    switch (returned_.push(chain)) {
    case return_stack::found::others:
        return;
    case return_stack::found::abandoned:
        return leave(slots);
    case return_stack::found::nothing:
        return call->first();
    case return_stack::found::armed:
        call->first();
        return call->call_wake();
    }
}

/// One of several leases, or not from a handler of our engine.
void slot_pool::drop_lease_slowly(std::uint32_t index) noexcept {
    if (!was_last(index)) return;
    give_back(slot_range{index, index + 1});
}

/// By value, so that whoever recycles keeps its run in a register.
slot_range slot_pool::begin_recycled(slot_range done, std::uint32_t index) noexcept {
    if (done.size() != 0) recycled_.push(done);
    return {index, index};
}

void slot_pool::take_back() noexcept {
    if (owner_) return owner_->on_returned(gathered_);
    return_stack::chain chain;
    for (const auto& run : gathered_.all()) returned_.add(chain, run);
    gathered_.clear();
    give_back(chain);
}

void slot_pool::take_back_recycled() noexcept {
    recycled_lender_.in_round = false;
    if (!owner_) return leave(1);
    if (!recycled_.empty()) owner_->on_recycled(recycled_);
}

bool slot_pool::arm() noexcept {
    return recycled_.empty() && returned_.arm();
}

void slot_pool::abandon(std::unique_ptr<slot_pool> pool, std::uint32_t lent) noexcept {
    auto* left = pool.release();
    left->owner_ = nullptr;
    const auto returned = left->returned_.abandon();
    // A round of handlers that is to call us is one more that the pool must outlive.
    std::int64_t out =
        std::int64_t{lent} - returned - left->recycled_.slots() + (left->recycled_lender_.in_round ? 1 : 0);
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
