#pragma once

#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace rocio::transport {

/// A queue in a circle of memory that is allocated once. Each element has a running index, from 0 for the
/// first one ever pushed; it stays valid until the element is popped.
template <class T>
class fixed_ring {
  public:
    explicit fixed_ring(std::uint32_t capacity)
        : capacity_(capacity),
          mask_(std::bit_ceil(std::uint64_t{capacity}) - 1),
          places_(std::make_unique<T[]>(mask_ + 1)) {}

    std::size_t capacity() const noexcept { return capacity_; }
    std::size_t size() const noexcept { return static_cast<std::size_t>(end_ - begin_); }
    bool empty() const noexcept { return begin_ == end_; }
    bool full() const noexcept { return size() == capacity_; }

    std::uint64_t begin_index() const noexcept { return begin_; }
    std::uint64_t end_index() const noexcept { return end_; }

    T& operator[](std::uint64_t index) noexcept {
        assert(index - begin_ < size());
        return places_[index & mask_];
    }
    const T& operator[](std::uint64_t index) const noexcept {
        assert(index - begin_ < size());
        return places_[index & mask_];
    }
    T& front() noexcept { return (*this)[begin_]; }
    const T& front() const noexcept { return (*this)[begin_]; }

    /// The new last element, with whatever its place held before; the caller fills all of it.
    T& push() noexcept {
        assert(!full());
        return places_[end_++ & mask_];
    }
    void pop() noexcept {
        assert(!empty());
        ++begin_;
    }

  private:
    std::size_t capacity_;
    std::uint64_t mask_;
    std::unique_ptr<T[]> places_;
    std::uint64_t begin_ = 0;
    std::uint64_t end_ = 0;
};

} // namespace rocio::transport
