#pragma once

#include <rocio/fpga/register_program.hpp>

#include <coroutine>
#include <cstdint>
#include <exception>
#include <optional>
#include <utility>

namespace rocio::fpga::detail {

/// A piece of a register_script, started when it is awaited. Await it in a statement of its own.
template <class T>
class script_task {
  public:
    struct promise_type;
    using handle = std::coroutine_handle<promise_type>;

    struct at_end {
        bool await_ready() const noexcept { return false; }
        std::coroutine_handle<> await_suspend(handle ended) const noexcept {
            const auto next = ended.promise().continuation;
            return next ? next : std::noop_coroutine();
        }
        void await_resume() const noexcept {}
    };
    struct promise_type {
        std::coroutine_handle<> continuation{};
        std::exception_ptr thrown{};
        std::optional<T> value{};

        script_task get_return_object() { return script_task(handle::from_promise(*this)); }
        std::suspend_always initial_suspend() const noexcept { return {}; }
        at_end final_suspend() const noexcept { return {}; }
        void return_value(T result) { value = std::move(result); }
        void unhandled_exception() { thrown = std::current_exception(); }
    };

    script_task() noexcept = default;
    script_task(script_task&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
    script_task& operator=(script_task&& other) noexcept {
        std::swap(handle_, other.handle_);
        return *this;
    }
    ~script_task() {
        if (handle_) handle_.destroy();
    }

    bool await_ready() const noexcept { return false; }
    std::coroutine_handle<> await_suspend(std::coroutine_handle<> waits) noexcept {
        handle_.promise().continuation = waits;
        return handle_;
    }
    T await_resume() { return take(); }

    explicit operator bool() const noexcept { return static_cast<bool>(handle_); }
    std::coroutine_handle<> root() const noexcept { return handle_; }
    bool done() const noexcept { return handle_.done(); }
    T take() {
        auto& promise = handle_.promise();
        if (promise.thrown) std::rethrow_exception(promise.thrown);
        return std::move(*promise.value);
    }

  private:
    explicit script_task(handle h) noexcept : handle_(h) {}

    handle handle_{};
};

/// A register_program written as a coroutine that awaits its steps: run() is its text, from the first step to
/// the result. It can be dropped at any step.
class register_script : public register_program {
  public:
    register_script(const register_script&) = delete;
    register_script& operator=(const register_script&) = delete;

    register_step next(time_point now) final {
        now_ = now;
        if (over_) return register_step::end();
        if (!text_) {
            text_ = run();
            waiting_ = text_.root();
        }
        waiting_.resume();
        if (!text_.done()) return step_;
        over_ = true;
        result_ = text_.take();
        return register_step::end();
    }
    void on_result(const error_info& failure, std::uint32_t value, time_point now) final {
        outcome_ = {failure, value};
        now_ = now;
    }
    error_info result() const final { return result_; }

  protected:
    struct outcome {
        error_info failure{};
        std::uint32_t value = 0;
    };
    class step_awaiter {
      public:
        step_awaiter(register_script& script, const register_step& step) : script_(script), step_(step) {}
        bool await_ready() const noexcept { return false; }
        void await_suspend(std::coroutine_handle<> waits) noexcept {
            script_.waiting_ = waits;
            script_.step_ = step_;
        }
        outcome await_resume() { return std::move(script_.outcome_); }

      private:
        register_script& script_;
        register_step step_;
    };

    register_script() = default;

    virtual script_task<error_info> run() = 0;

    step_awaiter take(const register_step& step) { return {*this, step}; }
    time_point now() const noexcept { return now_; }

  private:
    time_point now_{};
    std::coroutine_handle<> waiting_{};
    register_step step_{};
    outcome outcome_{};
    error_info result_{};
    bool over_ = false;
    script_task<error_info> text_{};
};

} // namespace rocio::fpga::detail
