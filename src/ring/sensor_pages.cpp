#include <rocio/ring/detail/sensor_pages.hpp>

#include <new>

#include <sys/mman.h>
#include <unistd.h>

namespace rocio::detail {

namespace {

std::size_t whole_pages(std::size_t size) noexcept {
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    return (size + page - 1) / page * page;
}

} // namespace

sensor_pages::sensor_pages(std::uint32_t pages, std::uint32_t frame_size)
    : pages_(pages),
      frame_size_(frame_size),
      page_size_(static_cast<std::uint32_t>(frame_metadata::offset_after(frame_size) + frame_metadata::size)),
      states_(std::make_unique<state[]>(pages)) {
    mapped_ = whole_pages(std::size_t{pages_} * page_size_);
    void* p = ::mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) throw std::bad_alloc();
    memory_ = static_cast<std::byte*>(p);
}

sensor_pages::~sensor_pages() {
    ::munmap(memory_, mapped_);
}

frame_metadata sensor_pages::metadata(std::uint32_t page) const noexcept {
    const auto* at = memory_ + std::size_t{page} * page_size_ + frame_metadata::offset_after(frame_size_);
    return frame_metadata::decode(std::span<const std::byte, frame_metadata::size>(at, frame_metadata::size));
}

std::uint32_t sensor_pages::held_pages() const noexcept {
    std::uint32_t n = 0;
    for (std::uint32_t page = 0; page < pages_; ++page) n += held(page) ? 1 : 0;
    return n;
}

bool arrival_queue::remove(std::uint32_t page) noexcept {
    std::uint32_t i = 0;
    while (i < count_ && places_[at(i)].page != page) ++i;
    if (i == count_) return false;
    for (; i > 0; --i) places_[at(i)] = places_[at(i - 1)];
    pop();
    return true;
}

} // namespace rocio::detail
