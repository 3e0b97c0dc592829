#pragma once

#include <rocio/async/light_mutex.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

namespace rocio::async {

namespace detail {

struct memory_block {
    memory_block* next;
};

/// Some blocks of each size class: a handler that begins the next operation takes the block of the one that
/// just ended, without an atomic instruction. Of the thread, not of one operation_memory: blocks are alike.
/// Trivially destructible, because access to anything else goes through a guard.
struct spare_blocks {
    static constexpr std::size_t classes = 16; ///< Of 64 bytes each: up to 1 KiB.
    static constexpr std::uint8_t most = 64;   ///< Of one class.
    enum class phase : std::uint8_t { unused, open, closed };

    memory_block* blocks[classes]{};
    std::uint8_t room[classes]{}; ///< For more; none but while the phase is open.
    phase now =
        phase::unused; ///< closed: the thread is ending, but static objects may still free operations.
};

} // namespace detail

/// Free lists for operations whose handler brings no allocator of its own. Blocks are kept by size class, so
/// that a steady number of outstanding operations allocates nothing after its first round. Thread-safe.
class operation_memory {
  public:
    operation_memory() = default;
    ~operation_memory();
    operation_memory(const operation_memory&) = delete;
    operation_memory& operator=(const operation_memory&) = delete;

    /// `size` bytes aligned to std::max_align_t; throws std::bad_alloc.
    void* allocate(std::size_t size) {
        const std::size_t index = class_of(size);
        if (index < classes) {
            auto*& spare = spare_.blocks[index];
            if (spare != nullptr) [[likely]] {
                ++spare_.room[index];
                return std::exchange(spare, spare->next);
            }
        }
        return allocate_slowly(size);
    }
    /// `size` as given to allocate().
    void deallocate(void* memory, std::size_t size) noexcept {
        const std::size_t index = class_of(size);
        if (index < classes && spare_.room[index] > 0) [[likely]] {
            --spare_.room[index];
            spare_.blocks[index] = new (memory) block{spare_.blocks[index]};
        } else {
            deallocate_slowly(memory, size);
        }
    }

  private:
    using block = detail::memory_block;
    static constexpr std::size_t granule = 64;
    static constexpr std::size_t classes = detail::spare_blocks::classes; ///< Larger ones go to the heap.

    static inline thread_local constinit detail::spare_blocks spare_{};
    static void open_spare() noexcept;
    static void free_all(block* head) noexcept;

    static constexpr std::size_t class_of(std::size_t size) noexcept { return (size - 1) / granule; }
    void* allocate_slowly(std::size_t size);
    void deallocate_slowly(void* memory, std::size_t size) noexcept;

    light_mutex mutex_;
    std::array<block*, classes> free_{};
};

} // namespace rocio::async
