#pragma once

#include <rocio/async/operation.hpp>
#include <rocio/device/device_event.hpp>
#include <rocio/types/work_completion.hpp>

#include <span>

namespace rocio {

/// Who owns the completions of one queue pair. Every member is called by the engine's turn with the engine's
/// lock held: it must not call user code, block or throw, and must not attach, detach, add or remove a
/// sweeper; it completes operations through completion_engine::complete(), which calls them later in the turn
/// without the lock.
class completion_sink {
  public:
    virtual void on_completion(const work_completion& completion) noexcept = 0;
    /// Completions of this sink that one poll found next to each other, oldest first.
    virtual void on_completions(std::span<const work_completion> batch) noexcept {
        for (const auto& completion : batch) on_completion(completion);
    }
    /// True: on_completions() gets all that a poll found where the sink has the queue for itself. It tells
    /// its own by their wr_id, which a fast loop compares anyway, and has the engine route what is left over
    /// of an earlier owner (completion_engine::route_others()).
    virtual bool sorts_batches() const noexcept { return false; }
    /// Port, device and queue pair events of the sink's device.
    virtual void on_device_event(const device_event& event) noexcept { (void)event; }
    /// Once per sweep (or when called for, see completion_engine), before completion queues are polled: the
    /// place to re-post returned slots in one chain. Gives true when it did anything.
    virtual bool on_sweep() noexcept { return false; }
    /// The engine is about to wait in the kernel, and no on_sweep() comes in between. False: look again first
    /// (something came in since the last sweep).
    virtual bool on_park() noexcept { return true; }
    /// The context is going away: move every pending operation to `pending`, which destroys them uncalled.
    /// May be called more than once.
    virtual void on_shutdown(async::operation_queue<>& pending) noexcept = 0;

  protected:
    ~completion_sink() = default;
};

} // namespace rocio
