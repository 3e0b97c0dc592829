#include <rocio/io/detail/slot_fifo.hpp>

namespace rocio::detail {

bool slot_fifo::take(std::uint32_t slot) noexcept {
    auto at = begin_;
    while (at != end_ && slot - run(at).first >= run(at).size()) ++at;
    if (at == end_) return false;
    --size_;
    const slot_range before{run(at).first, slot}, after{slot + 1, run(at).end};
    if (!before.empty() && !after.empty()) {
        for (auto i = end_++; i != at; --i) run(i) = run(i - 1);
        run(at) = before;
        run(at + 1) = after;
        return true;
    }
    run(at) = before.empty() ? after : before;
    if (!run(at).empty()) return true;
    for (; at != begin_; --at) run(at) = run(at - 1);
    ++begin_;
    return true;
}

} // namespace rocio::detail
