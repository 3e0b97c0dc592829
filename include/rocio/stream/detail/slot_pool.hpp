#pragma once

#include <rocio/io/detail/mapped_memory.hpp>
#include <rocio/io/sweep_call.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>

namespace rocio::detail {

/// What there is to know of a lent slot's frame.
struct slot_record {
    using clock = std::chrono::steady_clock;

    std::uint32_t size = 0; ///< Bytes of the frame.
    std::uint32_t immediate = 0;
    std::atomic<clock::rep> received{0};
};

/// Whose a slot is. Apart from its record: with each frame these go to the thread that has the lease and
/// back, eight to a cache line.
struct slot_tenure {
    static constexpr std::uint32_t free = 0;
    static constexpr std::uint32_t posted = 0x80000000; ///< The device's.

    std::atomic<std::uint32_t> leases{free}; ///< Or what is above.
    std::atomic<std::uint32_t> next{0};      ///< While it is on the stack of returned slots.
};

/// The control block shared by server, views and leases: slab, lease count per slot, stack of returned slots.
/// A lease touches no device object: it pushes its slot here, and the engine takes the whole stack and
/// re-posts it in one chain. Outlives the server while leases do: see abandon().
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
    /// Written by the engine while the slot is not lent.
    slot_record& record(std::uint32_t index) noexcept { return records_[index]; }

    /// Engine only.
    bool is_posted(std::uint32_t index) const noexcept {
        return tenures_[index].leases.load(std::memory_order_relaxed) == slot_tenure::posted;
    }
    void set_posted(std::uint32_t index) noexcept {
        tenures_[index].leases.store(slot_tenure::posted, std::memory_order_relaxed);
    }
    void set_free(std::uint32_t index) noexcept {
        tenures_[index].leases.store(slot_tenure::free, std::memory_order_relaxed);
    }
    /// Engine only: the slot goes out with `n` leases.
    void lend(std::uint32_t index, std::uint32_t n) noexcept {
        tenures_[index].leases.store(n, std::memory_order_release);
    }
    /// Any thread. When it is, what was written before lend() can be read.
    bool is_lent(std::uint32_t index) const noexcept {
        const auto n = tenures_[index].leases.load(std::memory_order_acquire);
        return n != slot_tenure::free && n != slot_tenure::posted;
    }
    void add_lease(std::uint32_t index) noexcept {
        tenures_[index].leases.fetch_add(1, std::memory_order_relaxed);
    }
    /// Any thread. With the last lease the slot goes onto the stack of returned ones; if the engine waits in
    /// the kernel it is woken, once.
    void drop_lease(std::uint32_t index) noexcept {
        if (was_last(index)) give_back({index, index, 1});
    }

    /// Slots on their way back together: one atomic exchange for all of them. Of one pool.
    class returning {
      public:
        explicit returning(slot_pool& pool) noexcept : pool_(pool) {}
        returning(const returning&) = delete;
        returning& operator=(const returning&) = delete;
        ~returning() {
            if (chain_.count != 0) pool_.give_back(chain_);
        }
        /// As drop_lease().
        void drop_lease(std::uint32_t index) noexcept {
            if (!pool_.was_last(index)) return;
            if (chain_.count++ == 0)
                chain_.last = index;
            else
                pool_.tenures_[index].next.store(chain_.first, std::memory_order_relaxed);
            chain_.first = index;
        }

      private:
        friend class slot_pool;
        struct chain {
            std::uint32_t first = 0, last = 0, count = 0;
        };

        slot_pool& pool_;
        chain chain_{};
    };

    /// Engine only: drop_lease() without an atomic instruction; does not call.
    void recycle(std::uint32_t index) noexcept {
        auto& tenure = tenures_[index];
        if (tenure.leases.load(std::memory_order_acquire) != 1) return drop_lease(index);
        tenure.leases.store(0, std::memory_order_relaxed);
        tenure.next.store(recycled_, std::memory_order_relaxed);
        recycled_ = index;
    }
    bool has_recycled() const noexcept { return recycled_ != none; }

    /// Engine only: takes every returned slot, newest first.
    template <class Function>
    bool take_returned(Function function) {
        const bool any = has_recycled();
        for (std::uint32_t at = std::exchange(recycled_, none); at != none;) {
            const std::uint32_t next = tenures_[at].next.load(std::memory_order_relaxed);
            function(at);
            at = next;
        }
        return take_from_stack(function) || any;
    }

    /// Engine only: from now on a return wakes. False if something was returned meanwhile: take it first.
    bool arm() noexcept;
    /// Engine only: it is awake, returns need not wake it.
    void disarm() noexcept {
        if (returned_.load(std::memory_order_relaxed) == armed) [[unlikely]]
            leave_armed();
    }
    /// `wake` is called by whoever returns a slot to an armed pool, until close(); `first` by whoever returns
    /// the first slot since the last take_returned(). Throws std::bad_alloc.
    void open(std::function<void()> wake, sweep_call first = {});
    /// After this no return calls wake any more.
    void close() noexcept;

    /// The server goes while `lent` slots are out, those on the stack counted with them: the pool goes with
    /// the last of them.
    static void abandon(std::unique_ptr<slot_pool> pool, std::uint32_t lent) noexcept;

  private:
    /// What the stack's head is where it is no slot.
    static constexpr std::uint32_t last_index = 0xFFFFFFFC;
    static constexpr std::uint32_t abandoned = 0xFFFFFFFD;
    static constexpr std::uint32_t armed = 0xFFFFFFFE;
    static constexpr std::uint32_t none = 0xFFFFFFFF;

    struct caller;

    template <class Function>
    bool take_from_stack(Function& function) {
        if (returned_.load(std::memory_order_relaxed) > last_index) return false;
        for (std::uint32_t at = returned_.exchange(none, std::memory_order_acquire); at <= last_index;) {
            const std::uint32_t next = tenures_[at].next.load(std::memory_order_relaxed);
            function(at);
            at = next;
        }
        return true;
    }

    /// Ends a lease; true for the last one.
    bool was_last(std::uint32_t index) noexcept {
        auto& leases = tenures_[index].leases;
        // Whoever has the only lease is alone: nobody else could make a second one.
        if (leases.load(std::memory_order_acquire) != 1)
            return leases.fetch_sub(1, std::memory_order_acq_rel) == 1;
        leases.store(0, std::memory_order_relaxed);
        return true;
    }
    void give_back(const returning::chain& chain) noexcept {
        std::uint32_t head = returned_.load(std::memory_order_relaxed);
        do {
            if (head > last_index) return give_back_first(chain);
            tenures_[chain.last].next.store(head, std::memory_order_relaxed);
        } while (!returned_.compare_exchange_weak(head, chain.first, std::memory_order_acq_rel,
                                                  std::memory_order_relaxed));
        // Nothing of the pool may be touched any more: it may be gone with its last slot.
    }
    void give_back_first(const returning::chain& chain) noexcept;
    void leave_armed() noexcept;
    void leave(std::uint32_t count) noexcept;

    mapped_memory memory_; // first, so that what is in use all the time lies together
    std::uint32_t depth_;
    std::uint32_t slot_size_;
    std::byte* slab_;
    std::unique_ptr<slot_record[]> records_;
    std::unique_ptr<slot_tenure[]> tenures_;
    std::shared_ptr<caller> caller_;
    std::uint32_t recycled_ = none; ///< The first of those that recycle() took.
    /// After abandon(): how many slots came back, less those that are to come back; the pool goes at 0.
    std::atomic<std::int64_t> balance_{0};
    /// Of both sides: on a line of its own.
    alignas(64) std::atomic<std::uint32_t> returned_{none};
};

} // namespace rocio::detail
