#pragma once

#include <rocio/io/detail/mapped_memory.hpp>
#include <rocio/io/detail/upcall_round.hpp>
#include <rocio/io/sweep_call.hpp>
#include <rocio/stream/detail/lent_slots.hpp>
#include <rocio/stream/detail/return_stack.hpp>
#include <rocio/stream/detail/slot_runs.hpp>

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

/// Gets the slots that come back from a round of handlers, together.
class slot_owner {
  public:
    /// In whose rounds of handlers slots are gathered.
    virtual const void* round_engine() const noexcept = 0;
    /// Under that engine's lock; takes them all.
    virtual void on_returned(slot_runs& slots) noexcept = 0;
    /// The same of slots whose leases were replaced.
    virtual void on_recycled(slot_runs& slots) noexcept = 0;

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

    /// Engine only: the slot goes out with `n` leases.
    void lend(std::uint32_t index, std::uint32_t n) noexcept {
        leases_[index].store(n, std::memory_order_relaxed);
        lend({index, index + 1});
    }
    /// Engine only: they go out with one lease each.
    void lend(const slot_range& slots) noexcept { lent_.insert(slots); }
    /// Engine only: they are back.
    void end_loan(const slot_range& slots) noexcept { lent_.erase(slots); }
    /// Any thread: it is until the engine has taken it back. When it is, what was written before lend() can
    /// be read.
    bool is_lent(std::uint32_t index) const noexcept { return lent_.has(index); }
    /// Engine only, of a lent slot. When it is 1, whoever had others has read what it wanted.
    std::uint32_t leases(std::uint32_t index) const noexcept {
        return leases_[index].load(std::memory_order_acquire);
    }
    void add_lease(std::uint32_t index) noexcept { leases_[index].fetch_add(1, std::memory_order_relaxed); }
    /// Any thread. With the last lease the slot goes onto the stack of returned ones; if the engine waits in
    /// the kernel it is woken, once. From a handler that our engine calls it goes there with the others that
    /// come back in that round.
    [[gnu::noinline]] void drop_lease(std::uint32_t index) noexcept {
        auto& round = upcall_round::current();
        // Whoever has the only lease is alone: nobody else could make a second one.
        if (leases_[index].load(std::memory_order_acquire) != 1 || round.engine() != engine_) [[unlikely]]
            return drop_lease_slowly(index);
        gather({index, index + 1}, round);
    }

    /// Any thread. As drop_lease() of `count` slots side by side that have one lease each; no slot is
    /// touched.
    void drop_run(std::uint32_t first, std::uint32_t count) noexcept {
        auto& round = upcall_round::current();
        const slot_range slots{first, first + count};
        if (round.engine() == engine_) return gather(slots, round);
        give_back(slots);
    }

    /// Slots on their way back together: pushed at once. Of one pool.
    class returning {
      public:
        explicit returning(slot_pool& pool) noexcept : pool_(pool) {}
        returning(const returning&) = delete;
        returning& operator=(const returning&) = delete;
        ~returning() {
            if (run_.empty()) return;
            pool_.returned_.add(chain_, run_);
            pool_.give_back(chain_);
        }
        /// As drop_lease().
        void drop_lease(std::uint32_t index) noexcept {
            if (!pool_.was_last(index)) return;
            if (!run_.empty() && index == run_.end) {
                ++run_.end;
                return;
            }
            if (!run_.empty()) pool_.returned_.add(chain_, run_);
            run_ = {index, index + 1};
        }

      private:
        slot_pool& pool_;
        slot_range run_{};
        return_stack::chain chain_{};
    };

    /// Engine only: slots whose leases are replaced by others. As drop_lease(), but without an atomic
    /// instruction, and it does not call.
    class recycling {
      public:
        explicit recycling(slot_pool& pool) noexcept : pool_(pool), leases_(pool.leases_.get()) {}
        recycling(const recycling&) = delete;
        recycling& operator=(const recycling&) = delete;
        ~recycling() {
            if (run_.size() != 0) pool_.recycled_.push(run_);
        }

        void drop_lease(std::uint32_t index) noexcept {
            if (leases_[index].load(std::memory_order_acquire) != 1) [[unlikely]]
                return pool_.drop_lease(index);
            if (index != run_.end) [[unlikely]]
                run_ = pool_.begin_recycled(run_, index);
            ++run_.end;
        }

      private:
        slot_pool& pool_;
        std::atomic<std::uint32_t>* leases_;
        slot_range run_{}; ///< Not in the pool's list yet.
    };
    /// Engine only: those, to be taken before the next sweep.
    slot_runs& recycled() noexcept { return recycled_; }
    /// Engine only: at the end of the round of handlers that runs the owner gets them; false: in no round of
    /// our engine.
    bool gather_recycled() noexcept {
        if (recycled_.empty() || recycled_lender_.in_round) return true;
        auto& round = upcall_round::current();
        if (round.engine() != engine_) return false;
        recycled_lender_.in_round = true;
        round.add(&recycled_lender_);
        return true;
    }

    /// Engine only: adds every returned slot to `out`, in the order of their return; gives how many.
    std::uint32_t take_returned(slot_runs& out) noexcept {
        std::uint32_t n = 0;
        for (const auto& run : recycled_.all()) n += pass_on(run, out);
        recycled_.clear();
        returned_.take([&](const slot_range& run) { n += pass_on(run, out); });
        return n;
    }

    /// Engine only: from now on a return wakes. False if something was returned meanwhile: take it first.
    bool arm() noexcept;
    /// Engine only: it is awake, returns need not wake it.
    void disarm() noexcept {
        if (returned_.is_armed()) [[unlikely]]
            returned_.disarm();
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
    struct caller;
    /// Touched under the engine's lock only, other than what leases do.
    struct recycled_lender final : lender {
        explicit recycled_lender(slot_pool& p) noexcept : pool(p) {}
        void take_back() noexcept override { pool.take_back_recycled(); }

        slot_pool& pool;
        bool in_round = false;
    };

    /// Ends a lease; true for the last one.
    bool was_last(std::uint32_t index) noexcept {
        auto& leases = leases_[index];
        // Whoever has the only lease is alone: nobody else could make a second one.
        if (leases.load(std::memory_order_acquire) == 1) return true;
        if (leases.fetch_sub(1, std::memory_order_acq_rel) != 1) return false;
        leases.store(1, std::memory_order_relaxed);
        return true;
    }
    void give_back(const slot_range& slots) noexcept {
        return_stack::chain chain;
        returned_.add(chain, slots);
        give_back(chain);
    }
    void give_back(const return_stack::chain& chain) noexcept;
    slot_range begin_recycled(slot_range done, std::uint32_t index) noexcept;
    std::uint32_t pass_on(const slot_range& run, slot_runs& out) noexcept {
        lent_.erase(run);
        out.push(run);
        return run.size();
    }
    void gather(const slot_range& slots, upcall_round& round) noexcept {
        if (gathered_.extend(slots)) return;
        if (gathered_.empty()) round.add(this);
        gathered_.append(slots);
    }
    void take_back_recycled() noexcept;
    void drop_lease_slowly(std::uint32_t index) noexcept;
    void leave(std::uint32_t count) noexcept;

    mapped_memory memory_; // first, so that what is in use all the time lies together
    std::uint32_t depth_;
    std::uint32_t slot_size_;
    std::byte* slab_;
    std::unique_ptr<slot_record[]> records_;
    /// By slot. 1 also while there is none: a slot that goes to one taker and comes back leaves it untouched.
    std::unique_ptr<std::atomic<std::uint32_t>[]> leases_;
    const void* engine_ = this; ///< Its owner's, be that gone; without one nobody's.
    std::shared_ptr<caller> caller_;
    /// After abandon(): how many slots came back, less those that are to come back; the pool goes at 0.
    std::atomic<std::int64_t> balance_{0};

    return_stack returned_;
    // The engine's from here on: on other lines than what whoever has a lease reads.
    alignas(64) slot_owner* owner_ = nullptr; ///< Used under its engine's lock.
    lent_slots lent_;
    slot_runs recycled_;
    recycled_lender recycled_lender_{*this};
    slot_runs gathered_; ///< Touched in our engine's rounds only.
};

} // namespace rocio::detail
