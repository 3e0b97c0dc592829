#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace rocio::rpc::detail {

class handover_desk;

/// What a ring_dispatcher knows of each slot, and the requests that wait for their send slot. All memory is
/// made at construction.
class slot_states {
  public:
    explicit slot_states(std::uint32_t slots);

    /// False, and counted, if the slot is held already or out of range.
    bool hold(std::uint32_t slot) noexcept;
    /// These three: the slot is held.
    void wait(std::uint32_t slot) noexcept;
    void hand_over(std::uint32_t slot) noexcept;
    void free(std::uint32_t slot) noexcept;

    /// Gives each waiting slot to `serve` once, oldest first; those it returns false for wait on.
    template <class Serve>
    void retry(Serve serve) {
        const auto n = waiting_.size();
        std::size_t kept = 0;
        for (std::size_t i = 0; i < n; ++i) {
            const auto slot = waiting_[i];
            if (!serve(slot)) waiting_[kept++] = slot;
        }
        waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(kept),
                       waiting_.begin() + static_cast<std::ptrdiff_t>(n));
    }
    /// The slots whose answers are back. Valid until the next call.
    std::span<const std::uint32_t> take_finished(handover_desk& desk);

    std::uint32_t handed() const noexcept { return handed_; }
    std::uint32_t waiting() const noexcept { return static_cast<std::uint32_t>(waiting_.size()); }
    std::uint64_t repeated() const noexcept { return repeated_; }

  private:
    enum class state : std::uint8_t { idle, held, handed };

    std::vector<state> states_;
    std::vector<std::uint32_t> waiting_;
    std::vector<std::uint32_t> finished_;
    std::uint32_t handed_ = 0;
    std::uint64_t repeated_ = 0;
};

} // namespace rocio::rpc::detail
