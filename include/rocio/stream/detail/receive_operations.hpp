#pragma once

#include <rocio/async/operation.hpp>
#include <rocio/stream/frame.hpp>
#include <rocio/stream/frame_batch.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

namespace rocio::detail {

class view_state;

/// Completes with void(error_code, frame).
class receive_one_operation : public async::operation<frame> {
  public:
    /// Once: its frame was empty.
    void take(slot_pool& pool, std::uint32_t slot) noexcept { std::get<1>(result_).adopt(pool, slot); }

    std::uint64_t id = 0; ///< Names the operation in a cancellation that may come after it is gone.

  protected:
    using operation::operation;
    ~receive_one_operation() = default;
};

/// Completes with void(error_code, frame_batch).
class receive_batch_operation : public async::operation<frame_batch> {
  public:
    std::uint64_t id = 0;
    std::size_t most; ///< Frames.

    /// Once: its batch was empty.
    void take(frame_batch batch) noexcept { succeed(std::move(batch)); }

  protected:
    receive_batch_operation(function f, std::size_t m) noexcept : operation(f), most(m) {}
    ~receive_batch_operation() = default;
};

/// Completes with void(error_code, std::size_t). It becomes ready with its first frame; what else arrives
/// until its handler is called is put in too, unless another receive waits by then.
class receive_some_operation : public async::operation<std::size_t> {
  public:
    std::uint64_t id = 0;
    std::span<frame> out;
    std::shared_ptr<view_state> from;
    bool takes_more = false; ///< Ready, but what arrives is put in until its handler is called.

    /// *locked* Puts frames in; gives how many there was room for.
    std::uint32_t take(slot_pool& pool, const slot_range& slots) noexcept {
        auto& taken = std::get<1>(result_);
        const auto n = static_cast<std::uint32_t>(std::min<std::size_t>(slots.size(), out.size() - taken));
        frame::replace(out.data() + taken, pool, slots.front(n));
        taken += n;
        return n;
    }
    bool is_full() const noexcept { return std::get<1>(result_) == out.size(); }
    void before_upcall() noexcept {
        if (takes_more) stop_taking();
    }

  protected:
    receive_some_operation(function f, std::span<frame> o, std::shared_ptr<view_state> v) noexcept
        : operation(f), out(o), from(std::move(v)) {}
    ~receive_some_operation() = default;

  private:
    void stop_taking() noexcept;
};

} // namespace rocio::detail
