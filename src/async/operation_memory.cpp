#include <rocio/async/operation_memory.hpp>

#include <mutex>
#include <new>

namespace rocio::async {

operation_memory::~operation_memory() {
    for (block* head : free_) {
        while (head) {
            block* next = head->next;
            ::operator delete(head);
            head = next;
        }
    }
}

void* operation_memory::allocate(std::size_t size) {
    const std::size_t index = (size - 1) / granule;
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

void operation_memory::deallocate(void* memory, std::size_t size) noexcept {
    const std::size_t index = (size - 1) / granule;
    if (index >= classes) return ::operator delete(memory);
    std::lock_guard lock(mutex_);
    free_[index] = new (memory) block{free_[index]};
}

} // namespace rocio::async
