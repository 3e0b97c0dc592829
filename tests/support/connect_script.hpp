#pragma once

#include <rocio/connect/any_handshake.hpp>
#include <rocio/connect/async_connect.hpp>
#include <rocio/io/connectable.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace rocio::test {

/// What happened, in order.
using event_log = std::vector<std::string>;

inline peer_parameters good_peer() {
    peer_parameters p;
    p.address = *gid::parse("10.0.0.9");
    p.queue_pair = qpn(77);
    return p;
}

/// What a scripted_handshake does in each of its operations, "exchange", "ready", "wait_lost" and "release":
/// ends at once with success unless told to end otherwise or to hold. Shared by the test and the handshake.
class handshake_script : public std::enable_shared_from_this<handshake_script> {
  public:
    handshake_script(asio::io_context& context, event_log& events) : context_(context), events_(events) {
        holds("wait_lost");
    }

    void ends(const std::string& step, const error_code& ec, const std::string& text = {}) {
        held_[step] = false;
        result_[step] = {ec, text};
    }
    void holds(const std::string& step) { held_[step] = true; }
    /// Ends the operation that is held.
    void finish(const std::string& step, const error_code& ec = {}, const std::string& text = {}) {
        ends(step, ec, text);
        pending_->cancel();
    }

    peer_parameters peer = good_peer();
    local_parameters local{}; ///< As async_exchange() saw them.
    error_info last_error{};

    template <class Handler, class Complete>
    void begin(const std::string& step, Handler handler, Complete complete) {
        events_.push_back(step);
        pending_ = std::make_shared<asio::steady_timer>(context_, asio::steady_timer::time_point::max());
        const auto executor = asio::get_associated_executor(handler, context_.get_executor());
        const auto slot = asio::get_associated_cancellation_slot(handler);
        pending_->async_wait(asio::bind_executor(
            executor, asio::bind_cancellation_slot(slot, [s = this->shared_from_this(), step, complete,
                                                          h = std::move(handler)](const error_code&) mutable {
                s->end(step, h, complete);
            })));
        if (!held_[step]) pending_->cancel();
    }

  private:
    template <class Handler, class Complete>
    void end(const std::string& step, Handler& handler, Complete complete) {
        // Held still: it was the cancellation that ended it.
        const auto result = held_[step] ? error_info{asio::error::operation_aborted, {}} : result_[step];
        if (result) {
            last_error = result;
            events_.push_back(step + " failed");
        }
        complete(std::move(handler), result.code);
    }

    asio::io_context& context_;
    event_log& events_;
    std::map<std::string, bool> held_;
    std::map<std::string, error_info> result_;
    std::shared_ptr<asio::steady_timer> pending_;
};

/// A handshake that follows a script.
class scripted_handshake {
  public:
    explicit scripted_handshake(std::shared_ptr<handshake_script> script) : script_(std::move(script)) {}
    scripted_handshake(scripted_handshake&&) = default;

    template <asio::completion_token_for<void(error_code, peer_parameters)> Token>
    auto async_exchange(const local_parameters& local, Token&& token) {
        script_->local = local;
        return asio::async_initiate<Token, void(error_code, peer_parameters)>(
            [s = script_](auto handler) {
                s->begin("exchange", std::move(handler), [s](auto h, const error_code& ec) {
                    std::move(h)(ec, ec ? peer_parameters{} : s->peer);
                });
            },
            token);
    }
    template <asio::completion_token_for<void(error_code)> Token>
    auto async_ready(Token&& token) {
        return step("ready", std::forward<Token>(token));
    }
    template <asio::completion_token_for<void(error_code)> Token>
    auto async_wait_lost(Token&& token) {
        return step("wait_lost", std::forward<Token>(token));
    }
    template <asio::completion_token_for<void(error_code)> Token>
    auto async_release(Token&& token) {
        return step("release", std::forward<Token>(token));
    }
    error_info last_error() const { return script_->last_error; }

  private:
    template <class Token>
    auto step(const char* name, Token&& token) {
        return asio::async_initiate<Token, void(error_code)>(
            [s = script_, name](auto handler) {
                s->begin(name, std::move(handler), [](auto h, const error_code& ec) { std::move(h)(ec); });
            },
            token);
    }

    std::shared_ptr<handshake_script> script_;
};

/// A connectable that only writes down what is done to it. Behaves as queue_pair: refuses a second
/// connection, releases its watch when it is closed, takes its lock in every member.
class scripted_target final : public connectable {
  public:
    scripted_target(asio::io_context& context, event_log& events) : context_(context), events_(events) {}
    ~scripted_target() override { close(); }

    asio::any_io_executor control_executor() override { return context_.get_executor(); }
    error_info prepare(local_parameters& out) override {
        const std::lock_guard held(mutex_);
        events_.push_back("prepare");
        if (fails_to_prepare) return fails_to_prepare;
        if (state_ == state::busy) return {errc::already_connected, "close it first"};
        state_ = state::busy;
        out = local;
        return {};
    }
    void connecting(std::unique_ptr<liveness> attempt) override { keep(std::move(attempt)); }
    error_info establish(const peer_parameters& peer) override {
        const std::lock_guard held(mutex_);
        events_.push_back("establish");
        established_with = peer;
        if (when_established) when_established();
        return fails_to_establish;
    }
    void connected(std::unique_ptr<liveness> watch) override {
        {
            const std::lock_guard held(mutex_);
            events_.push_back("connected");
        }
        keep(std::move(watch));
    }
    void disconnected(const error_info& cause) override {
        const std::lock_guard held(mutex_);
        events_.push_back("disconnected");
        last_error = cause;
        end();
    }

    /// As the owner does it.
    void close() {
        const std::lock_guard held(mutex_);
        end();
    }
    /// Forgets the watch without a word.
    void forget_watch() { watch_.reset(); }
    bool has_watch() const { return watch_ != nullptr; }

    local_parameters local = numbered(1234);
    error_info fails_to_prepare{};
    error_info fails_to_establish{};
    std::function<void()> when_established{};
    peer_parameters established_with{};
    error_info last_error{};

  private:
    enum class state { idle, busy };

    static local_parameters numbered(std::uint32_t number) {
        local_parameters p;
        p.queue_pair = qpn(number);
        return p;
    }

    void keep(std::unique_ptr<liveness> watch) {
        const std::lock_guard held(mutex_);
        if (state_ == state::idle) return watch->release();
        watch_ = std::move(watch);
    }
    void end() {
        state_ = state::idle;
        if (const auto watch = std::move(watch_)) watch->release();
    }

    asio::io_context& context_;
    event_log& events_;
    std::mutex mutex_;
    state state_ = state::idle;
    std::unique_ptr<liveness> watch_;
};

/// The user's side of an async_connect().
struct connect_outcome {
    bool done = false;
    error_code ec{};
};

} // namespace rocio::test
