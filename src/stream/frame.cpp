#include <rocio/stream/frame.hpp>

namespace rocio {

/// All in locals, and two at a time: a loop's own instructions come to a quarter of it.
void frame::replace(frame* frames, detail::slot_pool& pool, detail::slot_range slots) noexcept {
    detail::slot_pool::recycling recycling(pool);
    const auto replace_one = [&](frame & f, std::uint32_t slot) __attribute__((always_inline)) {
        if (f.pool_ == &pool) [[likely]]
            recycling.drop_lease(f.slot_);
        else
            f.replace_foreign(&pool);
        f.slot_ = slot;
    };
    auto slot = slots.first;
    for (; slots.end - slot >= 2; slot += 2, frames += 2) {
        replace_one(frames[0], slot);
        replace_one(frames[1], slot + 1);
    }
    if (slot != slots.end) replace_one(*frames, slot);
}

void frame::replace_foreign(detail::slot_pool* pool) noexcept {
    if (pool_) pool_->drop_lease(slot_);
    pool_ = pool;
}

} // namespace rocio
