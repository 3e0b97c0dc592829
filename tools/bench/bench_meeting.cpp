#include "bench/bench_meeting.hpp"

#include <rocio/connect/async_connect.hpp>
#include <rocio/connect/tcp_rendezvous.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <exception>
#include <sstream>
#include <utility>

namespace rocio::tools {

namespace {

namespace asio = boost::asio;
constexpr auto as_result = asio::as_tuple(asio::use_awaitable);
constexpr auto dial_again = std::chrono::milliseconds{100};
constexpr auto look_up = std::chrono::milliseconds{50}; // for one who abandoned us

tcp_rendezvous_config rendezvous(const pair_bench_config& config) {
    tcp_rendezvous_config r;
    r.liveness_deadline = std::chrono::milliseconds{0};
    r.largest_message = is_send(config.operation) ? config.size : 0;
    return r;
}

} // namespace

/// Tells the size of the messages, so that two sides with different ones refuse each other, and keeps the
/// reason of a failure.
class bench_meeting::sized_target final : public connectable {
  public:
    sized_target(std::shared_ptr<connectable> inner, const pair_bench_config& config)
        : inner_(std::move(inner)), config_(config) {}

    const error_info& cause() const noexcept { return cause_; }

    asio::any_io_executor control_executor() override { return inner_->control_executor(); }
    error_info prepare(local_parameters& out) override {
        cause_ = {};
        auto e = inner_->prepare(out);
        if (is_send(config_.operation)) out.max_payload = config_.size;
        return e;
    }
    void connecting(std::unique_ptr<liveness> attempt) override { inner_->connecting(std::move(attempt)); }
    error_info establish(const peer_parameters& peer) override {
        const auto theirs = is_send(config_.operation) ? peer.max_payload : peer.region.length;
        if (theirs == config_.size) return inner_->establish(peer);
        return {errc::geometry_mismatch, "the other side runs another test, or one with --size " +
                                             std::to_string(theirs) + ", not " +
                                             std::to_string(config_.size)};
    }
    void connected(std::unique_ptr<liveness> watch) override { inner_->connected(std::move(watch)); }
    void disconnected(const error_info& cause) override {
        cause_ = cause;
        inner_->disconnected(cause);
    }

  private:
    std::shared_ptr<connectable> inner_;
    const pair_bench_config& config_;
    error_info cause_{};
};

namespace {

/// Of any target with a reason of failures.
template <class Target>
asio::awaitable<error_info> connect(std::shared_ptr<Target> target, any_handshake how) {
    const auto executor = co_await asio::this_coro::executor;
    auto [ec] = co_await asio::async_initiate<decltype(as_result), void(error_code)>(
        detail::initiate_connect<asio::any_io_executor>{executor}, as_result, target, std::move(how));
    if (!ec) co_return error_info{};
    co_return target->cause().code == ec ? target->cause() : error_info{ec, {}};
}

template <class Target>
asio::awaitable<error_info> accept(std::shared_ptr<Target> target, tcp_listener& listener) {
    auto [ec, peer] = co_await listener.async_accept(as_result);
    if (ec) co_return error_info{ec, {}};
    co_return co_await connect(target, std::move(peer));
}

template <class Target>
asio::awaitable<error_info> dial(std::shared_ptr<Target> target, const pair_bench_config& config) {
    const auto executor = co_await asio::this_coro::executor;
    asio::steady_timer pause(executor);
    const auto give_up = std::chrono::steady_clock::now() + config.connect_timeout;
    for (;;) {
        const auto e = co_await connect(target, tcp_connector(executor, *config.peer, rendezvous(config)));
        if (!e) co_return e;
        const bool nobody_yet = e.code == boost::system::errc::connection_refused;
        if (!nobody_yet || std::chrono::steady_clock::now() >= give_up) {
            std::ostringstream where;
            where << *config.peer;
            co_return error_info{e.code, "no connection with " + where.str() + ": " + e.message()};
        }
        pause.expires_after(dial_again);
        co_await pause.async_wait(as_result);
    }
}

} // namespace

bench_meeting::bench_meeting(const pair_bench_config& config) : config_(config) {}

bench_meeting::~bench_meeting() = default;

tcp_listener& bench_meeting::listener(asio::io_context& context) {
    if (listener_) return *listener_;
    tcp_listener_config c;
    c.endpoint = *config_.listen;
    c.handshake = rendezvous(config_);
    c.log = config_.log;
    listener_.emplace(context.get_executor(), c);
    if (config_.listening) config_.listening(listener_->local_endpoint());
    return *listener_;
}

void bench_meeting::meet(asio::io_context& context, std::shared_ptr<connectable> target) {
    std::optional<error_info> result;
    std::exception_ptr thrown;
    const auto sized = targets_.emplace_back(std::make_shared<sized_target>(std::move(target), config_));
    auto steps = config_.dials() ? dial(sized, config_) : accept(sized, listener(context));
    asio::co_spawn(context, std::move(steps), [&](std::exception_ptr e, error_info r) {
        thrown = std::move(e);
        result = std::move(r);
    });
    context.restart();
    while (!result) {
        context.run_one_for(look_up);
        if (!result && config_.abandoned && *config_.abandoned) give_up(context, result);
    }
    if (thrown) std::rethrow_exception(thrown);
    throw_if(*result);
}

/// The coroutine must end before its variables go.
void bench_meeting::give_up(asio::io_context& context, const std::optional<error_info>& result) {
    if (listener_) listener_->close();
    while (!result) context.run_one();
    throw exception({errc::peer_lost, "the other end could not be made"});
}

} // namespace rocio::tools
