#include <rocio/ring/detail/held_slots.hpp>

#include <algorithm>

namespace rocio::detail {

slot_run held_slots::take(std::uint32_t slot) noexcept {
    auto* const end = runs_ + run_count_;
    auto* const at = std::find_if(runs_, end, [slot](const auto& run) { return run.has(slot); });
    if (at == end) return {};
    --size_;
    const auto whole = *at;
    const auto taken = whole.part(slot, slot + 1);
    const auto before = whole.part(whole.slot, slot);
    const auto after = whole.part(slot + 1, whole.slot + whole.count);
    if (before.count > 0 && after.count > 0) {
        std::move_backward(at, end, end + 1);
        ++run_count_;
        at[0] = before;
        at[1] = after;
    } else if (before.count + after.count > 0) {
        *at = before.count > 0 ? before : after;
    } else {
        std::move(at + 1, end, at);
        --run_count_;
    }
    return taken;
}

} // namespace rocio::detail
