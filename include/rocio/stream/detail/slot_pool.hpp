#pragma once

#include <rocio/io/detail/mapped_memory.hpp>
#include <rocio/io/detail/upcall_round.hpp>
#include <rocio/io/sweep_call.hpp>

#include <algorithm>
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

    std::uint32_t immediate = 0;
    std::uint32_t size = 0; ///< Bytes of the frame.
    std::atomic<clock::rep> received{0};

    void note(std::uint32_t imm, std::uint32_t bytes, clock::rep now) noexcept {
        immediate = imm;
        // In between, or GCC 12 joins the other two by way of vector registers, which costs thrice as much.
        received.store(now, std::memory_order_relaxed);
        size = bytes;
    }
};

/// Whose a slot is. Apart from its record: with each frame these go to the thread that has the lease and
/// back, eight to a cache line.
struct slot_tenure {
    static constexpr std::uint32_t free = 0;
    static constexpr std::uint32_t posted = 0x80000000; ///< The device's.

    std::atomic<std::uint32_t> leases{free}; ///< Or what is above.
    bool is_posted() const noexcept { return leases.load(std::memory_order_relaxed) == posted; }
    void post() noexcept { leases.store(posted, std::memory_order_relaxed); }
    /// The slot goes out with `n` leases.
    void lend(std::uint32_t n) noexcept { leases.store(n, std::memory_order_release); }
    std::atomic<std::uint32_t> next{0}; ///< While it is on the stack of returned slots.
};

/// Gets the slots that come back from a round of handlers, together.
class slot_owner {
  public:
    /// In whose rounds of handlers slots are gathered.
    virtual const void* round_engine() const noexcept = 0;
    /// Under that engine's lock.
    virtual void on_returned(std::span<const std::uint32_t> slots) noexcept = 0;

  protected:
    ~slot_owner() = default;
};

/// The control block shared by server, views and leases: slab, lease count per slot, stack of returned slots.
/// A lease touches no device object: it pushes its slot here, and the engine takes the whole stack and
/// re-posts it in one chain. Outlives the server while leases do: see abandon().
class slot_pool final : public lender {
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
    std::span<slot_record> records() noexcept { return {records_.get(), depth_}; }
    /// Whose the slots are, for who looks at many.
    std::span<slot_tenure> tenures() noexcept { return {tenures_.get(), depth_}; }

    /// Engine only.
    bool is_posted(std::uint32_t index) const noexcept { return tenures_[index].is_posted(); }
    void set_free(std::uint32_t index) noexcept {
        tenures_[index].leases.store(slot_tenure::free, std::memory_order_relaxed);
    }
    /// Engine only: the slot goes out with `n` leases.
    void lend(std::uint32_t index, std::uint32_t n) noexcept { tenures_[index].lend(n); }
    /// Any thread. When it is, what was written before lend() can be read.
    bool is_lent(std::uint32_t index) const noexcept {
        const auto n = tenures_[index].leases.load(std::memory_order_acquire);
        return n != slot_tenure::free && n != slot_tenure::posted;
    }
    void add_lease(std::uint32_t index) noexcept {
        tenures_[index].leases.fetch_add(1, std::memory_order_relaxed);
    }
    /// Any thread. With the last lease the slot goes onto the stack of returned ones; if the engine waits in
    /// the kernel it is woken, once. From a handler that our engine calls it goes there with the others that
    /// come back in that round.
    [[gnu::noinline]] void drop_lease(std::uint32_t index) noexcept {
        auto& round = upcall_round::current();
        auto& leases = tenures_[index].leases;
        // Whoever has the only lease is alone: nobody else could make a second one.
        if (leases.load(std::memory_order_acquire) != 1 || round.engine() != engine_) [[unlikely]]
            return drop_lease_slowly(index);
        leases.store(slot_tenure::free, std::memory_order_relaxed);
        if (gathered_count_ == 0) round.add(this);
        gathered_[gathered_count_++] = index;
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
                chain_.first = index;
            else
                pool_.tenures_[chain_.last].next.store(index, std::memory_order_relaxed);
            chain_.last = index;
        }

      private:
        friend class slot_pool;
        /// Linked from `first` to `last`.
        struct chain {
            std::uint32_t first = 0, last = 0, count = 0;
        };

        slot_pool& pool_;
        chain chain_{};
    };

    /// Engine only: slots whose leases are replaced by others. As drop_lease(), but without an atomic
    /// instruction, and it does not call; they are marked as posted, since that is what comes next.
    class recycling {
      public:
        explicit recycling(slot_pool& pool) noexcept
            : pool_(pool), tenures_(pool.tenures_.get()), end_(&pool.recycled_[pool.recycled_count_]) {}
        recycling(const recycling&) = delete;
        recycling& operator=(const recycling&) = delete;
        ~recycling() { pool_.recycled_count_ = static_cast<std::uint32_t>(end_ - pool_.recycled_.get()); }

        slot_pool& pool() const noexcept { return pool_; }
        void drop_lease(std::uint32_t index) noexcept {
            auto& leases = tenures_[index].leases;
            if (leases.load(std::memory_order_acquire) != 1) [[unlikely]]
                return pool_.drop_lease(index);
            leases.store(slot_tenure::posted, std::memory_order_relaxed);
            *end_++ = index;
        }

      private:
        slot_pool& pool_;
        slot_tenure* tenures_;
        std::uint32_t* end_; ///< A slot is there once at most: there is room for all.
    };
    bool has_recycled() const noexcept { return recycled_count_ != 0; }
    /// Engine only: those, to be used before the next is replaced.
    std::span<const std::uint32_t> take_recycled() noexcept {
        return {recycled_.get(), std::exchange(recycled_count_, 0)};
    }

    /// Engine only: takes every returned slot, at most depth() of them, into `out`; gives how many. Those
    /// that one thread returned together come in the order of their return, those that came one by one newest
    /// first.
    std::uint32_t take_returned(std::uint32_t* out) noexcept {
        const auto n = std::exchange(recycled_count_, 0);
        std::copy_n(recycled_.get(), n, out);
        if (returned_.load(std::memory_order_relaxed) > last_index) return n;
        const auto* const tenures = tenures_.get();
        auto* to = out + n;
        for (auto at = returned_.exchange(none, std::memory_order_acquire); at <= last_index;) {
            *to++ = at;
            at = tenures[at].next.load(std::memory_order_relaxed);
        }
        return static_cast<std::uint32_t>(to - out);
    }

    /// Engine only: from now on a return wakes. False if something was returned meanwhile: take it first.
    bool arm() noexcept;
    /// Engine only: it is awake, returns need not wake it.
    void disarm() noexcept {
        if (returned_.load(std::memory_order_relaxed) == armed) [[unlikely]]
            leave_armed();
    }
    /// `wake` is called by whoever returns a slot to an armed pool, until close(); `first` by whoever returns
    /// the first slot since the last take_returned(). `owner` gets those that come back from handlers of its
    /// engine. Throws std::bad_alloc.
    void open(std::function<void()> wake, sweep_call first = {}, slot_owner* owner = nullptr);
    /// After this no return calls wake any more.
    void close() noexcept;

    /// The slots whose last leases ended in handlers of a round.
    void take_back() noexcept override;

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
    void drop_lease_slowly(std::uint32_t index) noexcept;
    void leave_armed() noexcept;
    void leave(std::uint32_t count) noexcept;

    mapped_memory memory_; // first, so that what is in use all the time lies together
    std::uint32_t depth_;
    std::uint32_t slot_size_;
    std::byte* slab_;
    std::unique_ptr<slot_record[]> records_;
    std::unique_ptr<slot_tenure[]> tenures_;
    std::unique_ptr<std::uint32_t[]> recycled_;
    std::uint32_t recycled_count_ = 0;
    std::unique_ptr<std::uint32_t[]> gathered_; ///< Touched in our engine's rounds only.
    std::uint32_t gathered_count_ = 0;
    const void* engine_ = this;   ///< Its owner's, be that gone; without one nobody's.
    slot_owner* owner_ = nullptr; ///< Used under its engine's lock.
    std::shared_ptr<caller> caller_;
    /// After abandon(): how many slots came back, less those that are to come back; the pool goes at 0.
    std::atomic<std::int64_t> balance_{0};
    /// Of both sides: on a line of its own.
    alignas(64) std::atomic<std::uint32_t> returned_{none};
};

} // namespace rocio::detail
