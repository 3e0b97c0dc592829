#include <rocio/rpc/detail/handover_desk.hpp>
#include <rocio/rpc/detail/slot_states.hpp>

namespace rocio::rpc::detail {

slot_states::slot_states(std::uint32_t slots) : states_(slots, state::idle) {
    waiting_.reserve(slots);
    finished_.reserve(slots);
}

bool slot_states::hold(std::uint32_t slot) noexcept {
    if (slot >= states_.size() || states_[slot] != state::idle) {
        ++repeated_;
        return false;
    }
    states_[slot] = state::held;
    return true;
}

void slot_states::wait(std::uint32_t slot) noexcept {
    waiting_.push_back(slot);
}

void slot_states::hand_over(std::uint32_t slot) noexcept {
    states_[slot] = state::handed;
    ++handed_;
}

void slot_states::free(std::uint32_t slot) noexcept {
    if (states_[slot] == state::handed) --handed_;
    states_[slot] = state::idle;
}

std::span<const std::uint32_t> slot_states::take_finished(handover_desk& desk) {
    finished_.clear();
    desk.take(finished_);
    return finished_;
}

} // namespace rocio::rpc::detail
