#include "soft/soft_completion_queue.hpp"

#include <algorithm>

namespace rocio::soft {

std::size_t soft_completion_queue::poll(std::span<work_completion> out, errc& error) noexcept {
    error = size_ == 0 && overrun_ ? errc::local_operation_error : errc::success;
    const std::size_t n = std::min(out.size(), size_);
    for (std::size_t i = 0; i < n; ++i) {
        out[i] = ring_[first_];
        if (++first_ == ring_.size()) first_ = 0;
    }
    size_ -= n;
    return n;
}

std::span<work_completion> soft_completion_queue::free_places() noexcept {
    const std::size_t depth = ring_.size();
    if (size_ == depth) return {};
    const std::size_t begin = first_ + size_ < depth ? first_ + size_ : first_ + size_ - depth;
    const std::size_t end = begin < first_ ? first_ : depth;
    return {ring_.data() + begin, end - begin};
}

} // namespace rocio::soft
