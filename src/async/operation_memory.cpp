#include <rocio/async/operation_memory.hpp>

#include <mutex>
#include <new>

namespace rocio::async {

/// Frees the spare blocks when their thread ends.
void operation_memory::open_spare() noexcept {
    struct closer {
        ~closer() {
            spare_.now = detail::spare_blocks::phase::closed;
            for (void*& memory : spare_.blocks) ::operator delete(std::exchange(memory, nullptr));
        }
    };
    static thread_local closer at_end;
    static_cast<void>(at_end);
    spare_.now = detail::spare_blocks::phase::open;
}

operation_memory::~operation_memory() {
    for (block* head : free_) {
        while (head) {
            block* next = head->next;
            ::operator delete(head);
            head = next;
        }
    }
}

void* operation_memory::allocate_slowly(std::size_t size) {
    const std::size_t index = class_of(size);
    if (index >= classes) return ::operator new(size);
    {
        std::lock_guard lock(mutex_);
        if (block* head = free_[index]) {
            free_[index] = head->next;
            return head;
        }
    }
    return ::operator new((index + 1) * granule);
}

void operation_memory::deallocate_slowly(void* memory, std::size_t size) noexcept {
    const std::size_t index = class_of(size);
    if (index >= classes) return ::operator delete(memory);
    if (spare_.now == detail::spare_blocks::phase::unused) open_spare();
    std::lock_guard lock(mutex_);
    free_[index] = new (memory) block{free_[index]};
}

} // namespace rocio::async
