#pragma once

#include <cstddef>
#include <stdexcept>
#include <utility>
#include <vector>

namespace rocio::test {

/// First in, first out, over memory taken once: the scripted device must not allocate while allocations are
/// counted.
template <class T>
class fixed_ring_buffer {
  public:
    explicit fixed_ring_buffer(std::size_t capacity) : places_(capacity) {}

    std::size_t size() const noexcept { return size_; }
    bool empty() const noexcept { return size_ == 0; }
    bool full() const noexcept { return size_ == places_.size(); }

    void push(T value) {
        if (full()) throw std::length_error("fixed_ring_buffer is full");
        places_[(first_ + size_++) % places_.size()] = std::move(value);
    }
    T& front() { return places_[first_]; }
    T pop() {
        if (empty()) throw std::length_error("fixed_ring_buffer is empty");
        T value = std::move(places_[first_]);
        first_ = (first_ + 1) % places_.size();
        --size_;
        return value;
    }

  private:
    std::vector<T> places_;
    std::size_t first_ = 0;
    std::size_t size_ = 0;
};

} // namespace rocio::test
