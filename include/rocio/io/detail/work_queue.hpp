#pragma once

#include <rocio/async/operation.hpp>
#include <rocio/types/work_request.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace rocio::detail {

/// The operations of one direction of a queue pair: those on the device, and those that wait for a place
/// there.
template <class Operation>
class work_queue {
  public:
    /// Where an operation is while it is on the device.
    struct place {
        wr_id id{}; ///< Of its work request; its slot is the queue's first one plus the place's number.
        Operation* posted = nullptr;
        place* next_free = nullptr;
    };

    work_queue(std::uint32_t first_slot, std::uint32_t depth)
        : first_slot_(first_slot), depth_(depth), places_(depth) {
        for (auto n = depth; n-- > 0;) set_free(places_[n]);
    }
    work_queue(const work_queue&) = delete;
    work_queue& operator=(const work_queue&) = delete;

    /// For a new queue pair, which has nothing posted.
    void name_places(wr_id prefix) noexcept {
        auto slot = first_slot_;
        for (auto& p : places_) p.id = {prefix.owner, prefix.generation, slot++};
    }

    std::uint32_t first_slot() const noexcept { return first_slot_; }
    bool idle() const noexcept { return posted_ == 0; }
    std::span<const place> places() const noexcept { return places_; }

    place* free_place() const noexcept { return free_; }
    /// The device has taken it. `p` is free_place().
    void put(place& p, Operation* op) noexcept {
        free_ = p.next_free;
        p.posted = op;
        ++posted_;
    }
    /// Takes the operation with this slot out of its place; null if there is none.
    Operation* take(std::uint32_t slot) noexcept {
        const auto n = slot - first_slot_;
        if (n >= depth_) [[unlikely]]
            return nullptr;
        auto& p = places_[n];
        auto* op = std::exchange(p.posted, nullptr);
        if (!op) [[unlikely]]
            return nullptr;
        set_free(p);
        --posted_;
        return op;
    }
    /// Takes all of them, one after the other.
    template <class Function>
    void take_each(Function function) {
        for (std::uint32_t n = 0; n < depth_; ++n) {
            if (auto* op = take(first_slot_ + n)) function(op);
        }
    }

    /// Nothing we know of changed since a post that nothing spoke against: the next goes to the device
    /// without a look at anything else. One that failed by itself meanwhile flushes it.
    bool open = false;
    async::operation_queue<Operation> waiting; ///< The device's queue was full.

  private:
    void set_free(place& p) noexcept { p.next_free = std::exchange(free_, &p); }

    std::uint32_t first_slot_, depth_;
    std::uint32_t posted_ = 0;
    place* free_ = nullptr;
    std::vector<place> places_;
};

} // namespace rocio::detail
