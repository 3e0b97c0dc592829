#pragma once

#include <rocio/io/detail/mapped_memory.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>

namespace rocio::detail {

/// A frame without its lease.
struct queued_frame {
    std::uint32_t slot = 0;
    std::uint32_t size = 0;
    std::uint32_t immediate = 0;
    std::chrono::steady_clock::time_point received{};
};

/// The control block shared by server, views and leases: slab, lease count per slot, stack of returned slots.
/// A lease touches no device object: it pushes its slot here, and the engine takes the whole stack and
/// re-posts it in one chain. Outlives the server while leases do.
class slot_pool {
  public:
    /// `depth` slots of `slot_size` zeroed bytes, page-aligned, in whole pages. Throws std::bad_alloc.
    slot_pool(std::uint32_t depth, std::uint32_t slot_size, const memory_options& options = {});
    slot_pool(const slot_pool&) = delete;
    slot_pool& operator=(const slot_pool&) = delete;

    std::span<std::byte> slab() const noexcept { return {slab_, std::size_t{depth_} * slot_size_}; }
    std::span<std::byte> slot(std::uint32_t index) const noexcept {
        return {slab_ + std::size_t{index} * slot_size_, slot_size_};
    }
    const memory_snapshot& memory() const noexcept { return memory_.got(); }
    std::uint32_t depth() const noexcept { return depth_; }
    std::uint32_t slot_size() const noexcept { return slot_size_; }

    /// Engine only: the slot goes out with `n` leases.
    void lend(std::uint32_t index, std::uint32_t n) noexcept {
        links_[index].leases.store(n, std::memory_order_release);
    }
    /// Any thread. When it is, what was written before lend() can be read.
    bool is_lent(std::uint32_t index) const noexcept {
        return links_[index].leases.load(std::memory_order_acquire) > 0;
    }
    void add_lease(std::uint32_t index) noexcept {
        links_[index].leases.fetch_add(1, std::memory_order_relaxed);
    }
    /// Any thread. With the last lease the slot goes onto the stack of returned ones; if the engine waits in
    /// the kernel it is woken, once.
    void drop_lease(std::uint32_t index) noexcept;

    /// Engine only: takes every returned slot, newest first.
    template <class Function>
    bool take_returned(Function function) {
        if (returned_.load(std::memory_order_relaxed) == none) return false;
        std::uint32_t at = returned_.exchange(none, std::memory_order_acquire);
        const bool any = at != none;
        while (at != none) {
            const std::uint32_t next = links_[at].next.load(std::memory_order_relaxed);
            function(at);
            at = next;
        }
        return any;
    }

    /// Engine only: from now on a return wakes. False if something was returned meanwhile: take it first.
    bool arm() noexcept;
    /// Engine only: it is awake, returns need not wake it.
    void disarm() noexcept;
    /// `wake` is called by whoever returns a slot to an armed pool, until close().
    void open(std::function<void()> wake);
    /// After this no return calls wake any more.
    void close() noexcept;

  private:
    static constexpr std::uint32_t none = 0xFFFFFFFF;
    struct link {
        std::atomic<std::uint32_t> next{none};
        std::atomic<std::uint32_t> leases{0};
    };

    mapped_memory memory_; // first, so that what is in use all the time lies together
    std::uint32_t depth_;
    std::uint32_t slot_size_;
    std::byte* slab_;
    std::unique_ptr<link[]> links_;
    std::atomic<std::uint32_t> returned_{none};
    std::atomic<bool> armed_{false};
    std::mutex mutex_;
    std::function<void()> wake_;
};

} // namespace rocio::detail
