#include "bench/bench_meeting.hpp"

#include <rocio/connect/async_connect.hpp>
#include <rocio/connect/tcp_rendezvous.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <optional>
#include <utility>

namespace rocio::tools {

namespace {

namespace asio = boost::asio;
constexpr auto as_result = asio::as_tuple(asio::use_awaitable);
constexpr auto dial_again = std::chrono::milliseconds{100};

tcp_rendezvous_config rendezvous(const pair_bench_config& config) {
    tcp_rendezvous_config r;
    r.liveness_deadline = std::chrono::milliseconds{0};
    r.largest_message = config.test == pair_test::write ? 0 : config.size;
    return r;
}

std::string text(const asio::ip::tcp::endpoint& where) {
    const auto address = where.address();
    return (address.is_v6() ? "[" + address.to_string() + "]" : address.to_string()) + ":" +
           std::to_string(where.port());
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
        if (config_.test != pair_test::write) out.max_payload = config_.size;
        return e;
    }
    void connecting(std::unique_ptr<liveness> attempt) override { inner_->connecting(std::move(attempt)); }
    error_info establish(const peer_parameters& peer) override {
        const bool writes = config_.test == pair_test::write;
        const auto theirs = writes ? peer.region.length : peer.max_payload;
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
asio::awaitable<error_info> listen(std::shared_ptr<Target> target, const pair_bench_config& config) {
    tcp_listener_config c;
    c.endpoint = *config.listen;
    c.handshake = rendezvous(config);
    c.log = config.log;
    tcp_listener listener(co_await asio::this_coro::executor, c);
    if (config.say)
        config.say("waiting for the other side at " + text(listener.local_endpoint()) + " on " +
                   config.device);
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
        if (!nobody_yet || std::chrono::steady_clock::now() >= give_up)
            co_return error_info{e.code, "no connection with " + text(*config.peer) + ": " + e.message()};
        pause.expires_after(dial_again);
        co_await pause.async_wait(as_result);
    }
}

} // namespace

bench_meeting::bench_meeting(std::shared_ptr<connectable> target, const pair_bench_config& config)
    : target_(std::make_shared<sized_target>(std::move(target), config)), config_(config) {}

bench_meeting::~bench_meeting() = default;

void bench_meeting::meet(asio::io_context& context) {
    std::optional<error_info> result;
    std::exception_ptr thrown;
    auto steps = config_.dials() ? dial(target_, config_) : listen(target_, config_);
    asio::co_spawn(context, std::move(steps), [&](std::exception_ptr e, error_info r) {
        thrown = std::move(e);
        result = std::move(r);
    });
    context.restart();
    while (!result) context.run_one();
    if (thrown) std::rethrow_exception(thrown);
    throw_if(*result);
}

} // namespace rocio::tools
