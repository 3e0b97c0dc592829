#include <rocio/async/operation_memory.hpp>

#include <algorithm>
#include <iterator>
#include <mutex>
#include <new>

namespace rocio::async {

void operation_memory::free_all(block* head) noexcept {
    while (head) ::operator delete(std::exchange(head, head->next));
}

/// Frees the spare blocks when their thread ends.
void operation_memory::open_spare() noexcept {
    struct closer {
        ~closer() {
            spare_.now = detail::spare_blocks::phase::closed;
            std::fill(std::begin(spare_.room), std::end(spare_.room), std::uint8_t{0});
            for (auto*& head : spare_.blocks) free_all(std::exchange(head, nullptr));
        }
    };
    static thread_local closer at_end;
    static_cast<void>(at_end);
    spare_.now = detail::spare_blocks::phase::open;
    std::fill(std::begin(spare_.room), std::end(spare_.room), detail::spare_blocks::most);
}

operation_memory::~operation_memory() {
    for (block* head : free_) free_all(head);
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
