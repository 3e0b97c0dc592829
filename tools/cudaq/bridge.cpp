#include "cudaq/bridge.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <chrono>
#include <limits>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace rocio::tools {

namespace {

namespace asio = boost::asio;
using clock = std::chrono::steady_clock;

constexpr std::uint32_t header_size = 24;

/// As the original's transceiver, the first address that may be ours; but where one port has the addresses of
/// both ends, never the peer's own.
std::optional<gid> our_address(const bridge_config& c) {
    std::vector<gid_table_entry> table;
    if (c.gid_index || c.device->gid_table(c.port, table)) return std::nullopt;
    std::erase_if(table, [&](const gid_table_entry& e) { return e.value == c.peer_address; });
    const auto choice = choose_gid(table, {std::nullopt, c.peer_address});
    return choice.chosen ? std::optional(choice.chosen->value) : std::nullopt;
}

ring_config ring_of(const bridge_config& c) {
    ring_config r;
    r.name = "bridge";
    r.device = c.device;
    r.port = c.port;
    r.gid_index = c.gid_index;
    r.peer_address = c.peer_address;
    if (c.device) r.local_address = our_address(c);
    r.slots = c.pages;
    r.memory = c.memory;
    r.slot_size = c.page_size;
    if (c.payload_size > std::numeric_limits<std::uint32_t>::max() - header_size)
        throw exception({errc::invalid_argument, "payload size is " + std::to_string(c.payload_size) +
                                                     ", allowed is page size - 24, " +
                                                     std::to_string(c.page_size)});
    if (c.peer_queue_pair > qpn::max)
        throw exception({errc::invalid_argument, "remote QP is " + std::to_string(c.peer_queue_pair) +
                                                     ", allowed are 2 to " + std::to_string(qpn::max)});
    r.frame_size = header_size + c.payload_size;
    if (c.mode == bridge_mode::unified) r.mode = ring_mode::unified;
    if (c.mode == bridge_mode::forward) r.mode = ring_mode::forward;
    throw_if(validate(r));
    return r;
}

std::unique_ptr<asio::io_context> idle_context(const bridge_config& c) {
    return c.mode == bridge_mode::unified ? std::make_unique<asio::io_context>(1) : nullptr;
}

asio::io_context& logging_to(asio::io_context& context, const std::shared_ptr<log_sink>& log) {
    if (log) completion_engine::of(context).set_log_sink(log);
    return context;
}

/// Requests that are wrong get no answer; what leaves behind a short answer is zeros.
rpc::dispatcher_config dispatching() {
    rpc::dispatcher_config c;
    c.on_refusal = rpc::refusals::silent;
    c.clear_tail = true;
    return c;
}

/// Gives the CPU away when there has been nothing to do for the policy's budget.
class idle_watch {
  public:
    explicit idle_watch(polling_policy policy) : policy_(policy) {}
    void worked() noexcept { idle_rounds_ = 0; }
    void idle() {
        if (policy_.budget == polling_policy::endless) return;
        if (idle_rounds_++ == 0) since_ = clock::now();
        if (clock::now() - since_ >= policy_.budget) std::this_thread::sleep_for(nap);
    }

  private:
    static constexpr std::chrono::microseconds nap{50};

    polling_policy policy_;
    std::uint64_t idle_rounds_ = 0;
    clock::time_point since_{};
};

} // namespace

const char* to_string(bridge_mode mode) noexcept {
    switch (mode) {
    case bridge_mode::unified:
        return "UNIFIED";
    case bridge_mode::forward:
        return "FORWARD";
    default:
        return "3-thread";
    }
}

bridge::bridge(asio::io_context& context, const bridge_config& config, rpc::function_table functions)
    : context_(context),
      config_(config),
      idle_context_(idle_context(config)),
      ring_(logging_to(idle_context_ ? *idle_context_ : context, config.log), ring_of(config)),
      frames_(ring_) {
    if (config_.mode == bridge_mode::three_thread)
        dispatcher_.emplace(asio::any_io_executor(context.get_executor()), frames_, std::move(functions),
                            dispatching());
    else if (config_.mode == bridge_mode::unified)
        unified_.emplace(std::move(functions), dispatching());
}

bridge::~bridge() {
    stop();
    thread_.reset();
}

void bridge::start() {
    ring_.setup();
    if (config_.bring_up) return;
    peer_parameters peer;
    peer.address = config_.peer_address;
    peer.udp_port = config_.peer_udp_port;
    peer.queue_pair = qpn(config_.peer_queue_pair);
    peer.path_mtu = ring_.local().path_mtu;
    ring_.connect(peer);
}

void bridge::stop() {
    stopping_ = true;
    // Of the unified thread, which sweeps the ring, run() stops it when that is over.
    if (config_.mode != bridge_mode::unified) ring_.stop();
}

asio::awaitable<error_info> bridge::bring_up() {
    error_code ec;
    co_await ring_.async_connect(config_.bring_up(context_), asio::redirect_error(asio::use_awaitable, ec));
    if (!ec || stopping_) co_return error_info{};
    co_return error_info{ec, ring_.last_error().message()};
}

asio::awaitable<error_info> bridge::run() {
    if (config_.bring_up) {
        auto failure = co_await bring_up();
        if (failure) co_return failure;
    }
    if (config_.mode == bridge_mode::three_thread) co_await answer();
    if (config_.mode == bridge_mode::forward) co_await wait_for_end();
    if (config_.mode == bridge_mode::unified) co_await run_unified();
    if (stopping_) co_return error_info{};
    co_return ring_.last_error();
}

asio::awaitable<void> bridge::answer() {
    error_code ended;
    while (!ended) {
        dispatcher_->poll();
        co_await ring_.async_wait(asio::redirect_error(asio::use_awaitable, ended));
    }
}

asio::awaitable<void> bridge::wait_for_end() {
    error_code ended;
    while (!ended)
        co_await ring_.async_wait(ring_wait::received, asio::redirect_error(asio::use_awaitable, ended));
}

asio::awaitable<void> bridge::run_unified() {
    busy_poll_thread_config how;
    how.name = "bridge";
    how.cpu = config_.thread.cpu;
    how.realtime_priority = config_.thread.realtime_priority;
    how.policy = polling_policy::park(); // its engine has nothing to do
    asio::steady_timer over(context_, clock::time_point::max());
    thread_ = std::make_unique<busy_poll_thread>(how);
    const auto work = asio::make_work_guard(context_);
    asio::post(thread_->get_executor(), [this, &over] {
        unified_loop();
        asio::post(context_, [&over] { over.cancel(); });
    });
    error_code ignored;
    co_await over.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
    thread_->join();
    thread_.reset();
    if (stopping_) ring_.stop();
}

void bridge::unified_loop() {
    idle_watch watch(config_.poll);
    while (!stopping_) {
        std::uint32_t slot = 0;
        if (!ring_.rx_poll(slot)) {
            if (!ring_.is_connected()) return;
            watch.idle();
            continue;
        }
        watch.worked();
        const auto result = unified_->dispatch(ring_.rx_slot(slot), ring_.tx_slot(slot));
        if (result.answered()) (void)ring_.tx_publish(slot, frames_.on_wire(result.length));
    }
}

bridge::counts bridge::progress() const {
    const auto s = ring_.snapshot();
    return {s.received, s.sent};
}

bridge_report bridge::report() const {
    bridge_report r;
    r.mode = config_.mode;
    r.ring = ring_.snapshot();
    r.received = r.ring.received;
    r.sent = r.ring.sent;
    if (dispatcher_) r.calls = dispatcher_->snapshot();
    if (unified_) r.calls = unified_->snapshot();
    r.dispatched = r.calls.answered;
    r.silent = r.calls.silent;
    return r;
}

} // namespace rocio::tools
