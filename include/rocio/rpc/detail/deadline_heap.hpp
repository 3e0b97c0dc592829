#pragma once

#include <chrono>
#include <cstddef>
#include <vector>

namespace rocio::rpc::detail {

class call_base;

/// The calls with a deadline, the earliest first. A binary heap whose entries know their places, so that a
/// call that ends otherwise leaves at once.
class deadline_heap {
  public:
    using time_point = std::chrono::steady_clock::time_point;

    bool empty() const noexcept { return calls_.empty(); }
    std::size_t size() const noexcept { return calls_.size(); }
    /// Preconditions: not empty.
    call_base& earliest() const noexcept { return *calls_.front(); }

    /// Throws std::bad_alloc. Precondition: the call is in no heap.
    void insert(call_base& call);
    /// Nothing happens if the call is not in the heap.
    void erase(call_base& call) noexcept;

  private:
    void put(call_base& call, std::size_t place) noexcept;
    void rise(std::size_t place) noexcept;
    void sink(std::size_t place) noexcept;
    bool before(std::size_t a, std::size_t b) const noexcept;

    std::vector<call_base*> calls_;
};

} // namespace rocio::rpc::detail
