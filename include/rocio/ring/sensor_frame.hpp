#pragma once

#include <rocio/ring/detail/sensor_pages.hpp>
#include <rocio/ring/frame_metadata.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

namespace rocio {

/// A sensor's frame where the FPGA wrote it: a move-only lease on one page. The memory stays as long as the
/// lease, also after the receiver is gone; the bytes do not: an FPGA waits for nobody and writes the page
/// again when its turn comes. Whoever needs more time copies, and asks overwritten() afterwards.
///
/// Thread safety: distinct frames: safe. One frame: unsafe.
class sensor_frame {
  public:
    using time_point = std::chrono::steady_clock::time_point;

    sensor_frame() noexcept = default;
    /// For the receiver.
    sensor_frame(std::shared_ptr<detail::sensor_pages> pages, const detail::sensor_arrival& what) noexcept
        : pages_(std::move(pages)), what_(what) {
        pages_->add_lease(what_.page);
    }
    sensor_frame(sensor_frame&&) noexcept = default;
    sensor_frame& operator=(sensor_frame&& other) noexcept {
        if (this == &other) return *this;
        release();
        pages_ = std::move(other.pages_);
        what_ = other.what_;
        return *this;
    }
    ~sensor_frame() { release(); }

    /// False for a default-made, moved-from or released one, which must not be asked for anything else.
    explicit operator bool() const noexcept { return pages_ != nullptr; }

    /// What the sensor sent: the frame size, or less when it ended the frame early.
    std::span<const std::byte> data() const noexcept { return pages_->data(what_.page, what_.size); }
    std::size_t size() const noexcept { return what_.size; }
    std::uint32_t page() const noexcept { return what_.page; }
    /// Consecutive; the FPGA's 16 bits extended.
    std::uint32_t number() const noexcept { return what_.number; }
    /// As it was when the frame arrived.
    const frame_metadata& metadata() const noexcept { return what_.metadata; }
    std::uint32_t immediate() const noexcept { return what_.immediate; }
    time_point received() const noexcept { return what_.received; } ///< When the engine took its completion.

    /// Another frame is in the page, or the metadata in it are not this frame's (their PSN is not the one
    /// its immediate told): the bytes are, or were for a while, of two frames. To be asked after the bytes
    /// were read.
    bool overwritten() const noexcept { return !pages_->still_has(what_); }
    /// All other pages were filled since: the FPGA is writing this one, or will with its next frame. What
    /// overwritten() cannot know is what has been written of a frame that is not complete.
    bool at_risk() const noexcept { return pages_->arrivals() - what_.ordinal + 1 >= pages_->pages(); }

    void release() noexcept {
        if (!pages_) return;
        pages_->drop_lease(what_.page);
        pages_.reset();
    }

  private:
    std::shared_ptr<detail::sensor_pages> pages_;
    detail::sensor_arrival what_{};
};

} // namespace rocio
