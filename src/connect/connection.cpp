#include "connect/connection.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>

namespace rocio::detail {

namespace {

/// Waits for one step of the handshake; `slot` cancels it.
template <class Signature, class Start>
auto step(asio::cancellation_slot slot, Start start) {
    return asio::async_initiate<decltype(as_result), Signature>(
        [slot, start = std::move(start)](auto handler) mutable {
            const asio::any_io_executor strand = asio::get_associated_executor(handler);
            start(async::control_handler<Signature>(asio::bind_cancellation_slot(slot, std::move(handler)),
                                                    strand));
        },
        as_result);
}

} // namespace

/// Held by the target for the attempt; by the next one, for the standing connection, it is replaced, so that
/// its end alone means nothing.
class connection::attempt_watch : public liveness {
  public:
    explicit attempt_watch(std::shared_ptr<connection> c) noexcept : connection_(std::move(c)) {}
    void release() noexcept override { connection_->release(); }

  private:
    std::shared_ptr<connection> connection_;
};

/// Held by the target while the connection stands; a target that drops it without a word has released it too.
class connection::standing_watch final : public attempt_watch {
  public:
    using attempt_watch::attempt_watch;
    ~standing_watch() override { release(); }
};

/// Of the coroutine: with it go the strand and every use for a cancellation.
class connection::lifetime {
  public:
    explicit lifetime(connection& c) noexcept : connection_(c) {}
    ~lifetime() {
        const std::lock_guard held(connection_.mutex_);
        connection_.strand_.reset();
    }
    lifetime(const lifetime&) = delete;
    lifetime& operator=(const lifetime&) = delete;

  private:
    connection& connection_;
};

void connection::post(void (connection::*what)()) {
    const std::lock_guard held(mutex_);
    if (strand_) asio::post(*strand_, [self = shared_from_this(), what] { ((*self).*what)(); });
}

void connection::request_cancel() {
    post(&connection::on_cancel);
}

void connection::on_cancel() {
    if (standing_) return;
    cancelled_ = true;
    interrupt();
}

void connection::release() noexcept {
    if (released_.exchange(true)) return;
    try {
        post(&connection::interrupt);
    } catch (const std::bad_alloc&) {
        // The coroutine finds released_ set when its present step ends.
    }
}

void connection::interrupt() {
    signal_.emit(asio::cancellation_type::all);
}

error_info connection::failure(const error_code& ec, const any_handshake& how) const {
    if (given_up()) return {asio::error::operation_aborted, {}};
    if (!ec) return {};
    auto last = how.last_error();
    return last.code == ec ? last : error_info{ec, {}};
}

task<error_info> connection::attempt(connectable& target, any_handshake& how, bool& began) {
    if (given_up()) co_return error_info{asio::error::operation_aborted, {}};
    local_parameters local;
    if (auto e = target.prepare(local)) co_return e;
    target.connecting(std::make_unique<attempt_watch>(shared_from_this()));
    began = true;

    auto [exchanged, peer] = co_await step<void(error_code, peer_parameters)>(
        signal_.slot(), [&how, &local](auto h) { how.async_exchange(local, std::move(h)); });
    if (auto e = failure(exchanged, how)) co_return e;
    if (auto e = validate(peer)) co_return e;
    if (auto e = target.establish(peer)) co_return e;

    auto [ready] =
        co_await step<void(error_code)>(signal_.slot(), [&how](auto h) { how.async_ready(std::move(h)); });
    co_return failure(ready, how);
}

task<void> connection::give_up(connectable& target, any_handshake& how, const error_info& why, bool began) {
    if (began) {
        // The signal is spent: the goodbye is not to be cancelled by what ended the attempt.
        co_await step<void(error_code)>({}, [&how](auto h) { how.async_release(std::move(h)); });
    } else if (why.code == errc::already_connected || why.code == asio::error::operation_aborted) {
        co_return; // The target's connection, or its end, is not ours.
    }
    // A target that was closed meanwhile may be connecting anew already.
    if (!released_) target.disconnected(why);
}

task<void> connection::keep_watch(any_handshake& how) {
    if (!released_) {
        auto [ec] = co_await step<void(error_code)>(signal_.slot(),
                                                    [&how](auto h) { how.async_wait_lost(std::move(h)); });
        const auto target = target_.lock();
        if (!released_ && target) target->disconnected(failure(ec ? ec : errc::peer_closed, how));
    }
    co_await step<void(error_code)>({}, [&how](auto h) { how.async_release(std::move(h)); });
}

task<void> connection::run(std::shared_ptr<connection> self, std::shared_ptr<connectable> target,
                           any_handshake how, async::control_handler<void(error_code)> handler) {
    const lifetime here(*self);
    bool began = false;
    error_info why{};
    try {
        why = co_await self->attempt(*target, how, began);
    } catch (...) {
        why = {async::code_of(std::current_exception()), {}};
    }
    if (why) {
        co_await self->give_up(*target, how, why, began);
        handler.post(why.code);
        co_return;
    }
    self->standing_ = true;
    self->target_ = target;
    target->connected(std::make_unique<standing_watch>(self));
    handler.post(error_code());
    target.reset();
    co_await self->keep_watch(how);
}

} // namespace rocio::detail
