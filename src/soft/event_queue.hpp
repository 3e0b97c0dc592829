#pragma once

#include <rocio/device/device_event.hpp>
#include <rocio/types/relaxed_counter.hpp>

#include <array>
#include <cstddef>

namespace rocio::soft {

/// The last 64 asynchronous events; when nobody takes them the oldest are dropped and counted.
class event_queue {
  public:
    static constexpr std::size_t capacity = 64;

    void push(const device_event& event) noexcept {
        if (size_ == capacity) {
            first_ = (first_ + 1) % capacity;
            --size_;
            lost_.add();
        }
        events_[(first_ + size_++) % capacity] = event;
    }

    bool pop(device_event& out) noexcept {
        if (size_ == 0) return false;
        out = events_[first_];
        first_ = (first_ + 1) % capacity;
        --size_;
        return true;
    }

    bool empty() const noexcept { return size_ == 0; }
    const relaxed_counter& lost() const noexcept { return lost_; }

  private:
    std::array<device_event, capacity> events_{};
    std::size_t first_ = 0;
    std::size_t size_ = 0;
    relaxed_counter lost_{};
};

} // namespace rocio::soft
