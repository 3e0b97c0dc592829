#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace rocio::detail {

/// The slots that are neither posted nor lent, in the order in which they are to be posted.
class free_slots {
  public:
    /// Room for `depth` slots.
    void reserve(std::uint32_t depth) {
        slots_.resize(std::size_t{depth} + 1); // room() points behind the last one when it is full
        begin_ = end_ = 0;
    }

    std::span<const std::uint32_t> all() const noexcept { return {&slots_[begin_], end_ - begin_}; }
    std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(end_ - begin_); }
    bool empty() const noexcept { return begin_ == end_; }

    void push(std::uint32_t slot) noexcept { *room() = slot, ++end_; }
    /// Where all slots that are not here yet find room, for who then adds them.
    std::uint32_t* room() noexcept {
        if (begin_ > 0) [[unlikely]]
            close_up();
        return &slots_[end_];
    }
    /// `n` more lie in room(). They came newest first, mostly, if they run down: slots that lie side by side
    /// can be posted without a copy.
    void add(std::size_t n) noexcept {
        const auto added = std::span(slots_).subspan(end_, n);
        if (n > 1 && added.front() > added.back()) std::reverse(added.begin(), added.end());
        end_ += n;
    }
    /// The first `n` were posted.
    void drop_front(std::size_t n) noexcept {
        begin_ += n;
        if (begin_ == end_) begin_ = end_ = 0;
    }

  private:
    void close_up() noexcept {
        std::copy(&slots_[begin_], &slots_[end_], slots_.begin());
        end_ -= std::exchange(begin_, 0);
    }

    std::vector<std::uint32_t> slots_;
    std::size_t begin_ = 0, end_ = 0;
};

} // namespace rocio::detail
