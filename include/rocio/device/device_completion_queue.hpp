#pragma once

#include <rocio/types/work_completion.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace rocio {

/// A completion queue of a device. It is as deep as all that may complete into it and is never resized.
class device_completion_queue {
  public:
    virtual ~device_completion_queue() = default;

    virtual std::uint32_t depth() const noexcept = 0;
    /// Oldest first, into value-initialised `out` or what it gave before; `error`: the queue is broken, then
    /// 0.
    virtual std::size_t poll(std::span<work_completion> out, errc& error) noexcept = 0;
    /// Asks for one event at the next completion. Says nothing about what is queued already: poll again
    /// afterwards.
    virtual errc arm() noexcept = 0;
};

} // namespace rocio
