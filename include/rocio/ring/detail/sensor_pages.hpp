#pragma once

#include <rocio/io/detail/mapped_memory.hpp>
#include <rocio/ring/frame_metadata.hpp>
#include <rocio/ring/hsb_immediate.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace rocio::detail {

/// A frame that arrived.
struct sensor_arrival {
    std::uint32_t page = 0;
    std::uint32_t generation = 0; ///< Of the page: how many frames came into it.
    std::uint64_t ordinal = 0;    ///< Among all arrivals.
    std::uint32_t immediate = 0;
    std::uint32_t number = 0; ///< The frame's, extended to 32 bits.
    std::uint32_t size = 0;   ///< Bytes of data.
    immediate_layout layout{};
    frame_metadata metadata{};
    std::chrono::steady_clock::time_point received{};
};

/// The pages an FPGA writes its frames into, shared by the receiver and its leases; the memory goes with the
/// last of them. The FPGA knows nothing of leases.
class sensor_pages {
  public:
    /// Zeroed, page-aligned. Throws std::bad_alloc.
    sensor_pages(std::uint32_t pages, std::uint32_t frame_size, const memory_options& options = {});
    sensor_pages(const sensor_pages&) = delete;
    sensor_pages& operator=(const sensor_pages&) = delete;

    const memory_snapshot& memory() const noexcept { return mapped_.got(); }
    std::uint32_t pages() const noexcept { return pages_; }
    std::uint32_t page_size() const noexcept { return page_size_; }
    std::uint32_t frame_size() const noexcept { return frame_size_; }
    std::span<std::byte> all() const noexcept { return {memory_, std::size_t{pages_} * page_size_}; }
    std::span<const std::byte> data(std::uint32_t page, std::size_t size) const noexcept {
        return {memory_ + std::size_t{page} * page_size_, size};
    }
    frame_metadata metadata(std::uint32_t page) const noexcept;

    std::uint32_t generation(std::uint32_t page) const noexcept {
        return states_[page].generation.load(std::memory_order_acquire);
    }
    std::uint64_t arrivals() const noexcept { return arrivals_.load(std::memory_order_acquire); }
    /// Engine only: a frame is in the page; gives its generation.
    std::uint32_t count_arrival(std::uint32_t page) noexcept {
        arrivals_.fetch_add(1, std::memory_order_acq_rel);
        return states_[page].generation.fetch_add(1, std::memory_order_acq_rel) + 1;
    }

    void add_lease(std::uint32_t page) noexcept {
        states_[page].leases.fetch_add(1, std::memory_order_relaxed);
    }
    void drop_lease(std::uint32_t page) noexcept {
        states_[page].leases.fetch_sub(1, std::memory_order_release);
    }
    bool held(std::uint32_t page) const noexcept {
        return states_[page].leases.load(std::memory_order_acquire) != 0;
    }
    std::uint32_t held_pages() const noexcept;

    /// Whether the page still has the frame, as far as can be known: no other has come, and the metadata in
    /// it are the frame's own.
    bool still_has(const sensor_arrival& a) const noexcept {
        return generation(a.page) == a.generation && same_packet(a.layout, a.immediate, metadata(a.page).psn);
    }

  private:
    struct state {
        std::atomic<std::uint32_t> generation{0};
        std::atomic<std::uint32_t> leases{0};
    };

    mapped_memory mapped_; // first, so that what is in use all the time lies together
    std::uint32_t pages_, frame_size_, page_size_;
    std::byte* memory_;
    std::unique_ptr<state[]> states_;
    std::atomic<std::uint64_t> arrivals_{0};
};

/// Arrivals in order, at most one for each page; allocates nothing after it was made.
class arrival_queue {
  public:
    explicit arrival_queue(std::uint32_t capacity) : places_(capacity) {}

    bool empty() const noexcept { return count_ == 0; }
    std::uint32_t size() const noexcept { return count_; }
    const sensor_arrival& front() const noexcept { return places_[head_]; }
    /// There is a place: no arrival of the same page is in it.
    void push(const sensor_arrival& a) noexcept { places_[at(count_++)] = a; }
    void pop() noexcept {
        head_ = at(1);
        --count_;
    }
    void clear() noexcept { count_ = 0; }
    /// Takes the arrival of a page out; false if there is none. Mostly it is the oldest.
    bool remove(std::uint32_t page) noexcept;

  private:
    std::uint32_t at(std::uint32_t i) const noexcept {
        return static_cast<std::uint32_t>((std::uint64_t{head_} + i) % places_.size());
    }

    std::vector<sensor_arrival> places_;
    std::uint32_t head_ = 0, count_ = 0;
};

} // namespace rocio::detail
