#pragma once

#include <rocio/async/io_context_of.hpp>
#include <rocio/async/operation_memory.hpp>
#include <rocio/types/error.hpp>

#include <boost/asio/associated_allocator.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

#include <cstddef>
#include <memory>
#include <new>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

namespace rocio::async {

/// A pending operation without its handler's type: one function pointer, one link.
class operation_base {
  public:
    /// Frees the operation's memory, then calls its handler with the result set before.
    void complete() { function_(this, true); }
    /// Frees the operation and its handler without calling it.
    void destroy() noexcept { function_(this, false); }

    operation_base* next = nullptr; ///< For whoever owns the operation.
    /// Names the operation to its cancellation handler (see cancellation.hpp); null: it cannot be cancelled.
    const void* cancellation_key = nullptr;

  protected:
    using function = void (*)(operation_base*, bool invoke);
    explicit operation_base(function f) noexcept : function_(f) {}
    ~operation_base() = default;

  private:
    function function_;
};

/// An operation that ends with (error_code, Results...).
template <class... Results>
class operation : public operation_base {
  public:
    using results = std::tuple<error_code, Results...>;

    /// What the handler will be called with.
    void set(const error_code& ec, Results... r) { result_ = results(ec, std::move(r)...); }
    /// As set() with no error, of an operation that was never set before.
    template <class Value>
    void succeed(Value&& value) {
        std::get<1>(result_) = std::forward<Value>(value);
    }

  protected:
    explicit operation(function f) noexcept : operation_base(f) {}
    ~operation() = default;

    results result_{};
};

/// A first-in first-out list of operations; owns them.
template <class Operation = operation_base>
class operation_queue {
  public:
    operation_queue() = default;
    operation_queue(operation_queue&& other) noexcept
        : head_(std::exchange(other.head_, nullptr)), tail_(std::exchange(other.tail_, nullptr)) {}
    operation_queue& operator=(operation_queue&& other) noexcept {
        operation_queue taken(std::move(other));
        std::swap(head_, taken.head_);
        std::swap(tail_, taken.tail_);
        return *this;
    }
    ~operation_queue() {
        while (Operation* op = pop()) op->destroy();
    }

    bool empty() const noexcept { return head_ == nullptr; }
    Operation* front() const noexcept { return static_cast<Operation*>(head_); }
    Operation* back() const noexcept { return static_cast<Operation*>(tail_); }

    void push(Operation* op) noexcept {
        op->next = nullptr;
        (tail_ ? tail_->next : head_) = op;
        tail_ = op;
    }
    Operation* pop() noexcept {
        operation_base* op = head_;
        if (!op) return nullptr;
        head_ = op->next;
        if (!head_) tail_ = nullptr;
        return static_cast<Operation*>(op);
    }
    /// Puts operations that are linked by `next`, first to last, behind this queue's own.
    void append(Operation* first, Operation* last) noexcept {
        last->next = nullptr;
        (tail_ ? tail_->next : head_) = first;
        tail_ = last;
    }
    /// Puts all of `other` in front of this queue's own.
    void prepend(operation_queue& other) noexcept {
        if (other.empty()) return;
        other.tail_->next = head_;
        if (!tail_) tail_ = other.tail_;
        head_ = std::exchange(other.head_, nullptr);
        other.tail_ = nullptr;
    }
    /// Takes everything; the caller owns it, linked by `next`.
    Operation* take_all() noexcept {
        tail_ = nullptr;
        return static_cast<Operation*>(std::exchange(head_, nullptr));
    }
    /// Puts what take_all() gave in front again. Linear.
    void put_back(Operation* first) noexcept {
        if (!first) return;
        operation_base* last = first;
        while (last->next) last = last->next;
        last->next = head_;
        if (!tail_) tail_ = last;
        head_ = first;
    }
    /// Takes `op` out; false if it is not in the queue. Linear.
    bool remove(const Operation* op) noexcept {
        return take([op](const operation_base* at) { return at == op; }) != nullptr;
    }
    /// Takes out the operation with this cancellation key; null if there is none. Linear.
    Operation* take_by_key(const void* key) noexcept {
        return take([key](const operation_base* at) { return at->cancellation_key == key; });
    }

  private:
    template <class Match>
    Operation* take(Match matches) noexcept {
        operation_base* before = nullptr;
        for (operation_base* at = head_; at; before = at, at = at->next) {
            if (!matches(at)) continue;
            (before ? before->next : head_) = at->next;
            if (tail_ == at) tail_ = before;
            return static_cast<Operation*>(at);
        }
        return nullptr;
    }

    operation_base* head_ = nullptr;
    operation_base* tail_ = nullptr;
};

/// A handler and the values it is to be called with, for a trip through another executor. Keeps the handler's
/// allocator.
template <class Handler, class Results>
struct bound_completion {
    using allocator_type = asio::associated_allocator_t<Handler>;

    Handler handler;
    Results results;

    allocator_type get_allocator() const noexcept { return asio::get_associated_allocator(handler); }
    void operator()() {
        clear_cancellation_slot(handler);
        std::apply(std::move(handler), std::move(results));
    }

    static void clear_cancellation_slot(Handler& h) {
        auto slot = asio::get_associated_cancellation_slot(h);
        if (slot.is_connected()) slot.clear();
    }
};

/// The operation with its handler. `Base` is an `operation<…>`, perhaps with data of its own and with a
/// `before_upcall()` that completes its results just before the handler is called (without the engine's
/// lock). Built in the initiating template, where the handler's executor and allocator still have their
/// types: asking an erased handler for its executor costs an allocation on Boost 1.81.
template <class Base, class Handler, class IoExecutor>
class handler_operation final : public Base {
    using handler_executor = asio::associated_executor_t<Handler, IoExecutor>;
    using handler_allocator = asio::associated_allocator_t<Handler>;
    using block_allocator =
        typename std::allocator_traits<handler_allocator>::template rebind_alloc<handler_operation>;
    static constexpr bool has_no_allocator = std::is_same_v<handler_allocator, std::allocator<void>>;

  public:
    /// `context` is where the operation completes; `memory` must outlive it. Throws what the handler's move
    /// and the allocation throw; nothing is left behind then.
    template <class... BaseArgs>
    static Base* make(Handler&& handler, const IoExecutor& io_executor, asio::io_context& context,
                      operation_memory& memory, BaseArgs&&... args) {
        // The move below may be refused half way, so the block's allocator is taken first.
        block_allocator allocator(asio::get_associated_allocator(handler));
        void* block = allocate(allocator, memory);
        try {
            return new (block) handler_operation(std::move(handler), io_executor, context, memory,
                                                 std::forward<BaseArgs>(args)...);
        } catch (...) {
            deallocate(block, allocator, memory);
            throw;
        }
    }

  private:
    template <class... BaseArgs>
    handler_operation(Handler&& handler, const IoExecutor& io_executor, asio::io_context& context,
                      operation_memory& memory, BaseArgs&&... args)
        : Base(&handler_operation::finish, std::forward<BaseArgs>(args)...),
          handler_(std::move(handler)),
          memory_(memory) {
        auto executor = asio::get_associated_executor(handler_, io_executor);
        if (!is_executor_of(executor, context)) elsewhere_.emplace(std::move(executor));
    }
    ~handler_operation() = default;

    // Pooled, but for over-aligned operations, which the pool cannot hold.
    static constexpr bool pooled() noexcept {
        return has_no_allocator && alignof(handler_operation) <= alignof(std::max_align_t);
    }
    static void* allocate(block_allocator& allocator, operation_memory& memory) {
        if constexpr (pooled()) return memory.allocate(sizeof(handler_operation));
        return std::allocator_traits<block_allocator>::allocate(allocator, 1);
    }
    static void deallocate(void* block, block_allocator& allocator, operation_memory& memory) noexcept {
        if constexpr (pooled()) return memory.deallocate(block, sizeof(handler_operation));
        std::allocator_traits<block_allocator>::deallocate(allocator, static_cast<handler_operation*>(block),
                                                           1);
    }

    using completion = bound_completion<Handler, typename Base::results>;

    static void finish(operation_base* base, bool invoke) {
        auto* self = static_cast<handler_operation*>(base);
        if (!invoke || self->elsewhere_) [[unlikely]]
            return finish_elsewhere(self, invoke);
        prepare(*self);
        Handler handler(std::move(self->handler_));
        auto results(std::move(self->result_));
        self->free(handler);
        completion::clear_cancellation_slot(handler);
        std::apply(std::move(handler), std::move(results));
    }
    /// On another executor, or not at all.
    [[gnu::noinline]] static void finish_elsewhere(handler_operation* self, bool invoke) {
        if (invoke) prepare(*self);
        Handler handler(std::move(self->handler_));
        auto results(std::move(self->result_));
        auto elsewhere(std::move(self->elsewhere_));
        self->free(handler);
        if (!invoke) return;
        auto executor = elsewhere->get_executor();
        asio::dispatch(executor, completion{std::move(handler), std::move(results)});
    }
    static void prepare(handler_operation& self) {
        if constexpr (requires { self.before_upcall(); }) self.before_upcall();
    }
    /// The block too.
    void free(const Handler& handler) noexcept {
        block_allocator allocator(asio::get_associated_allocator(handler));
        operation_memory& memory = memory_;
        this->~handler_operation();
        deallocate(this, allocator, memory);
    }

    Handler handler_;
    std::optional<asio::executor_work_guard<handler_executor>> elsewhere_;
    operation_memory& memory_;
};

} // namespace rocio::async
