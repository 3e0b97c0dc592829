#include <rocio/ring/detail/sensor_pages.hpp>

namespace rocio::detail {

namespace {

std::uint32_t page_size_of(std::uint32_t frame_size) noexcept {
    return static_cast<std::uint32_t>(frame_metadata::offset_after(frame_size) + frame_metadata::size);
}

} // namespace

sensor_pages::sensor_pages(std::uint32_t pages, std::uint32_t frame_size, const memory_options& options)
    : mapped_(std::size_t{pages} * page_size_of(frame_size), options),
      pages_(pages),
      frame_size_(frame_size),
      page_size_(page_size_of(frame_size)),
      memory_(mapped_.data_or_throw()),
      states_(std::make_unique<state[]>(pages)) {}

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
