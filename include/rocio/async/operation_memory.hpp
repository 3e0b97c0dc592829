#pragma once

#include <rocio/async/light_mutex.hpp>

#include <array>
#include <cstddef>

namespace rocio::async {

/// Free lists for operations whose handler brings no allocator of its own. Blocks are kept by size class, so
/// that a steady number of outstanding operations allocates nothing after its first round. Thread-safe.
class operation_memory {
  public:
    operation_memory() = default;
    ~operation_memory();
    operation_memory(const operation_memory&) = delete;
    operation_memory& operator=(const operation_memory&) = delete;

    /// `size` bytes aligned to std::max_align_t; throws std::bad_alloc.
    void* allocate(std::size_t size);
    /// `size` as given to allocate().
    void deallocate(void* block, std::size_t size) noexcept;

  private:
    struct block {
        block* next;
    };
    static constexpr std::size_t granule = 64;
    static constexpr std::size_t classes = 16; ///< Up to 1 KiB; larger ones go to the heap.

    light_mutex mutex_;
    std::array<block*, classes> free_{};
};

} // namespace rocio::async
