#pragma once

#include <rocio/async/operation.hpp>

#include <utility>

namespace rocio::detail {

/// Who lends things to handlers, and gathers what they give back in a round.
class lender {
  public:
    /// After the last handler of the round, under the engine's lock: all of it is back.
    virtual void take_back() noexcept = 0;

    lender* next_in_round = nullptr; ///< For the round.

  protected:
    ~lender() = default;
};

/// The handlers that an engine calls between two sweeps, on one thread. What they do on that thread for that
/// engine is cheaper for it: an operation that they start and that is complete at once is called next,
/// without a way through the engine; what they give back is gathered without an atomic instruction until the
/// last of them returned (the engine would not look before).
class upcall_round {
  public:
    /// The one that this thread is in; outside of any, one that is no engine's.
    static upcall_round& current() noexcept { return *current_; }
    const void* engine() const noexcept { return engine_; } ///< Null: none.

    /// The operations to be called, in this order. They belong to who runs the round.
    void push(async::operation_base* op) noexcept {
        op->next = nullptr;
        (first_ ? last_->next : first_) = op;
        last_ = op;
    }
    async::operation_base* front() const noexcept { return first_; }
    async::operation_base* back() const noexcept { return last_; }
    void pop_front() noexcept { first_ = first_->next; }

    /// This one has gathered something. It must live until it has taken that back.
    void add(lender* whose) noexcept { whose->next_in_round = std::exchange(lenders_, whose); }

  private:
    friend class upcall_scope;
    constexpr upcall_round() noexcept = default;
    void give_back() noexcept {
        while (auto* whose = lenders_) {
            lenders_ = whose->next_in_round;
            whose->take_back();
        }
    }

    static upcall_round none_; // never destroyed: static objects may end later
    // The model that needs no call, which would cost more than all the rest.
    [[gnu::tls_model("initial-exec")]] static thread_local constinit upcall_round* current_;

    const void* engine_ = nullptr;
    async::operation_base* first_ = nullptr;
    async::operation_base* last_ = nullptr; ///< Where there is a first one.
    lender* lenders_ = nullptr;
};

inline constinit upcall_round upcall_round::none_;
[[gnu::tls_model("initial-exec")]] inline thread_local constinit upcall_round* upcall_round::current_ =
    &none_;

/// Makes a round of handlers the thread's current one; at its end lenders get what was given back.
class upcall_scope {
  public:
    /// Takes what is ready.
    upcall_scope(const void* engine, async::operation_queue<>& ready) noexcept {
        round_.engine_ = engine;
        outer_ = std::exchange(upcall_round::current_, &round_);
        round_.last_ = ready.back();
        round_.first_ = ready.take_all();
    }
    upcall_scope(const upcall_scope&) = delete;
    upcall_scope& operator=(const upcall_scope&) = delete;
    /// Under the engine's lock.
    ~upcall_scope() {
        round_.give_back();
        upcall_round::current_ = outer_;
    }

    upcall_round& round() noexcept { return round_; }

  private:
    upcall_round round_;
    upcall_round* outer_;
};

} // namespace rocio::detail
