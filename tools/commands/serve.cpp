#include "commands/commands.hpp"
#include "commands/rpc_support.hpp"
#include "commands/status_front.hpp"
#include "commands/stream_support.hpp"
#include "cudaq/increment.hpp"
#include "lib/human.hpp"
#include "lib/spdlog_sink.hpp"

#include <rocio/connect/cudaq_rendezvous.hpp>
#include <rocio/io/completion_engine.hpp>
#include <rocio/rpc/ring_dispatcher.hpp>

#include <CLI/CLI.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/json.hpp>

#include <iostream>
#include <memory>
#include <optional>

namespace rocio::tools {

namespace {

namespace asio = boost::asio;
using executor = asio::io_context::executor_type;
using transceiver = basic_ring_transceiver<executor>;
using dispatcher_type = rpc::ring_dispatcher<transceiver>;

struct serve_options : ring_options {
    std::string listen = default_service;
    std::optional<std::chrono::nanoseconds> seconds{};
    std::optional<options::http_address> http{};
};

rpc::function_table functions() {
    rpc::function_table f;
    f.add<std::int64_t(std::int64_t, std::int64_t)>("addThem", [](std::int64_t a, std::int64_t b) {
        return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
    });
    f.add<void()>("noop", [] {});
    f.add_raw(increment_name, increment);
    return f;
}

/// One caller after the other.
class service {
  public:
    service(asio::io_context& context, const serve_options& o) : context_(context) {
        config_ = o.ring(ring_tx_mode::send);
        where_ = listen_endpoint(o.listen);
    }

    asio::awaitable<error_info> run() {
        while (!stopping_) {
            if (const auto failed = co_await serve_one(); failed && !stopping_) co_return failed;
        }
        co_return error_info{};
    }
    void stop() {
        stopping_ = true;
        if (ring_) ring_->stop();
    }
    std::uint64_t answered() const {
        return answered_ + (dispatcher_ ? dispatcher_->snapshot().answered : 0);
    }
    std::uint64_t callers() const noexcept { return callers_; }
    void show(status_snapshot& s) const {
        show_machinery(s, context_, config_.device);
        if (ring_) s.rings.push_back(ring_->snapshot());
        if (dispatcher_) s.services.push_back({config_.name, dispatcher_->snapshot()});
    }

  private:
    asio::awaitable<error_info> serve_one() {
        ring_ = std::make_unique<transceiver>(context_, config_);
        ring_->setup();
        basic_cudaq_service<executor> door(context_, where_);
        announce(door.local_endpoint().port());
        where_ = door.local_endpoint();
        error_code ec;
        co_await ring_->async_connect(std::move(door), asio::redirect_error(asio::use_awaitable, ec));
        if (ec) {
            if (!stopping_) say("no connection: " + ring_->last_error().message());
            co_return error_info{};
        }
        ++callers_;
        dispatcher_ = std::make_unique<dispatcher_type>(ring_->get_executor(), *ring_, functions());
        while (!ec) {
            dispatcher_->poll();
            co_await ring_->async_wait(asio::redirect_error(asio::use_awaitable, ec));
        }
        answered_ += dispatcher_->snapshot().answered;
        dispatcher_.reset();
        if (!stopping_) say("connection ended: " + ring_->last_error().message());
        co_return error_info{};
    }
    /// Programs that start a service wait for this line.
    void announce(std::uint16_t port) const {
        std::cout << "CPU_ROCE_DAEMON_READY port=" << port
                  << " roce_ip=" << ring_->local().address.to_address_string() << std::endl;
    }

    asio::io_context& context_;
    ring_config config_;
    asio::ip::tcp::endpoint where_;
    std::unique_ptr<transceiver> ring_;
    std::unique_ptr<dispatcher_type> dispatcher_;
    std::uint64_t answered_ = 0, callers_ = 0;
    bool stopping_ = false;
};

int serve(const serve_options& o) {
    throw_if(place_this_thread(o.thread));
    asio::io_context context(1);
    auto& engine = completion_engine::of(context);
    engine.set_name("main");
    engine.set_policy(o.poll);
    const auto log = command_log(o.log);
    engine.set_log_sink(log);
    service served(context, o);
    std::optional<status_front> status;
    // On the context: the service's parts come and go there.
    if (o.http) status.emplace(context, o.http, "serve", log, [&](status_snapshot& s) { served.show(s); });
    live_line live(context.get_executor(),
                   [&] { return human_count(static_cast<double>(served.answered())) + " calls answered"; });
    end_of_run end(context, o.seconds, [&] { served.stop(); });
    error_info failure;
    asio::co_spawn(context, served.run(), [&](const std::exception_ptr& e, const error_info& result) {
        live.stop();
        end.cancel();
        if (status) status->stop();
        if (e) std::rethrow_exception(e);
        failure = result;
    });
    context.run();
    throw_if(failure);
    if (o.json) {
        std::cout << boost::json::serialize(
                         boost::json::object{{"callers", served.callers()}, {"answered", served.answered()}})
                  << "\n";
    } else {
        std::cout << served.answered() << " calls answered\n";
    }
    return 0;
}

} // namespace

void add_serve(CLI::App& app, int& status) {
    auto o = std::make_shared<serve_options>();
    o->device = "soft:127.0.0.4";
    auto* command = app.add_subcommand(
        "serve",
        "Answers a caller's addThem, noop and rpc_increment over a ring; UC does not tell when it is gone");
    command->add_option("--listen", o->listen, "ADDRESS:PORT of CUDA-Q's rendezvous")->capture_default_str();
    o->add_to(*command);
    options::seconds(*command, o->seconds);
    options::http(*command, o->http);
    command->callback([o, &status] { status = serve(*o); });
}

} // namespace rocio::tools
