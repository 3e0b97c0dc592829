#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <new>
#include <utility>

namespace rocio {

/// Memory for the engine's own handlers, so that they do not use up Asio's two cached blocks per thread: one
/// that is pending and one that was cancelled and waits for its turn. More at a time go to the heap.
/// Thread-safe.
class fixed_memory {
  public:
    void* allocate(std::size_t size) {
        for (auto& b : blocks_) {
            if (size <= sizeof b.bytes && !b.used.exchange(true, std::memory_order_acquire)) return b.bytes;
        }
        return ::operator new(size);
    }
    void deallocate(void* memory) noexcept {
        for (auto& b : blocks_) {
            if (memory == b.bytes) return b.used.store(false, std::memory_order_release);
        }
        ::operator delete(memory);
    }

  private:
    struct block {
        alignas(std::max_align_t) unsigned char bytes[256];
        std::atomic<bool> used{false};
    };
    std::array<block, 2> blocks_;
};

/// Allocator over a fixed_memory.
template <class T>
class fixed_allocator {
  public:
    using value_type = T;

    explicit fixed_allocator(fixed_memory& memory) noexcept : memory_(&memory) {}
    template <class U>
    fixed_allocator(const fixed_allocator<U>& other) noexcept : memory_(other.memory_) {}

    T* allocate(std::size_t n) { return static_cast<T*>(memory_->allocate(n * sizeof(T))); }
    void deallocate(T* block, std::size_t) noexcept { memory_->deallocate(block); }
    friend bool operator==(const fixed_allocator& a, const fixed_allocator& b) noexcept {
        return a.memory_ == b.memory_;
    }

    fixed_memory* memory_;
};

/// A handler with its memory.
template <class Function>
struct fixed_handler {
    using allocator_type = fixed_allocator<void>;

    fixed_memory* memory;
    Function function;

    allocator_type get_allocator() const noexcept { return allocator_type(*memory); }
    template <class... Args>
    void operator()(Args&&... args) {
        function(std::forward<Args>(args)...);
    }
};

} // namespace rocio
