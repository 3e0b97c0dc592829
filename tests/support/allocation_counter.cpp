#include "allocation_counter.hpp"

#include <atomic>
#include <cerrno>
#include <cstddef>

namespace {

std::atomic<std::uint64_t> process_allocations{0};
thread_local std::uint64_t thread_allocations = 0;

void count() noexcept {
    ++thread_allocations;
    process_allocations.fetch_add(1, std::memory_order_relaxed);
}

} // namespace

#if defined(ROCIO_SANITIZED)

// Both sanitizers' runtimes call these for every allocation, aligned ones and operator new included.
extern "C" int __sanitizer_install_malloc_and_free_hooks(void (*)(const volatile void*, std::size_t),
                                                         void (*)(const volatile void*));

namespace {

void on_allocation(const volatile void*, std::size_t) {
    count();
}
void on_release(const volatile void*) {}

[[maybe_unused]] const int installed = __sanitizer_install_malloc_and_free_hooks(on_allocation, on_release);

} // namespace

#else

// The C library's functions under the names that stay reachable when malloc is replaced.
extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);

void* malloc(std::size_t size) noexcept {
    count();
    return __libc_malloc(size);
}

void* calloc(std::size_t n, std::size_t size) noexcept {
    count();
    return __libc_calloc(n, size);
}

void* realloc(void* p, std::size_t size) noexcept {
    count();
    return __libc_realloc(p, size);
}

void* memalign(std::size_t alignment, std::size_t size) noexcept {
    count();
    return __libc_memalign(alignment, size);
}

void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
    count();
    return __libc_memalign(alignment, size);
}

int posix_memalign(void** out, std::size_t alignment, std::size_t size) noexcept {
    count();
    void* p = __libc_memalign(alignment, size);
    if (p == nullptr) return ENOMEM;
    *out = p;
    return 0;
}
} // extern "C"

#endif

namespace rocio::test {

allocation_counter::allocation_counter(scope counted) noexcept : scope_(counted) {
    reset();
}

std::uint64_t allocation_counter::total() const noexcept {
    return scope_ == scope::this_thread ? thread_allocations
                                        : process_allocations.load(std::memory_order_relaxed);
}

std::uint64_t allocation_counter::allocations() const noexcept {
    return total() - start_;
}

void allocation_counter::reset() noexcept {
    start_ = total();
}

} // namespace rocio::test
