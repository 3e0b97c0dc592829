#include <rocio/stream/detail/slot_runs.hpp>

#include <algorithm>

namespace rocio::detail {

void slot_runs::drop_front(std::uint32_t n) noexcept {
    auto* const first = runs_.get() + 1;
    auto* run = first;
    for (; run <= back_ && n >= run->size(); ++run) n -= run->size();
    if (run > back_) return clear();
    run->first += n;
    back_ = std::copy(run, back_ + 1, first) - 1;
}

} // namespace rocio::detail
