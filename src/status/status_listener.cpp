#include "status_listener.hpp"

#include <rocio/status/status_server.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace rocio::detail {

namespace {

constexpr auto as_result = asio::as_tuple(asio::use_awaitable);
constexpr std::chrono::milliseconds first_pause{50};
constexpr std::chrono::milliseconds longest_pause{400};

error_info bad_setting(const char* name, const std::string& asked, const char* allowed) {
    return {errc::invalid_argument,
            std::string("status server: ") + name + " is " + asked + ", allowed is " + allowed};
}

error_info check(const status_server_config& config) {
    if (config.max_sessions == 0) return bad_setting("max_sessions", "0", "1 and more");
    const std::array<std::pair<const char*, std::chrono::milliseconds>, 3> deadlines = {
        {{"request_timeout", config.request_timeout},
         {"write_timeout", config.write_timeout},
         {"idle_timeout", config.idle_timeout}}};
    for (const auto& [name, value] : deadlines) {
        if (value.count() <= 0)
            return bad_setting(name, std::to_string(value.count()) + " ms", "1 ms and more");
    }
    return http_front::check(config.routes);
}

std::string place(const status_server_config& config) {
    return config.address + " port " + std::to_string(config.port);
}

error_info cannot_listen(const status_server_config& config, const error_code& why) {
    const char* advice = "";
    if (why == asio::error::address_in_use) advice = "; choose another port, or 0 for a free one";
    if (why == asio::error::access_denied) advice = "; ports below 1024 need a privilege";
    if (why.value() == EADDRNOTAVAIL) advice = "; the address is on no interface of this machine";
    return {why, "status server: cannot listen on " + place(config) + ": " + why.message() + advice};
}

/// A web page can reach a loopback address of its visitor's machine by a name of its own.
status_routes_config routes_of(const status_server_config& config) {
    auto routes = config.routes;
    error_code ec;
    const auto address = asio::ip::make_address(config.address, ec);
    if (!ec && address.is_loopback()) routes.only_known_hosts = true;
    return routes;
}

} // namespace

status_listener::status_listener(const asio::any_io_executor& executor, const status_source& source,
                                 status_server_config config)
    : strand_(asio::make_strand(executor)),
      host_(std::make_shared<session_host>(std::make_shared<http_front>(source, routes_of(config)),
                                           std::move(config))),
      acceptor_(strand_),
      timer_(strand_),
      pause_(first_pause) {}

error_info status_listener::open() {
    if (auto error = check(host_->config)) return error;
    error_code ec;
    const auto address = asio::ip::make_address(host_->config.address, ec);
    if (ec)
        return bad_setting("address", "\"" + host_->config.address + "\"", "a numeric IPv4 or IPv6 address");
    const tcp::endpoint endpoint(address, host_->config.port);
    acceptor_.open(endpoint.protocol(), ec);
    if (!ec) acceptor_.set_option(tcp::acceptor::reuse_address(true), ec); // a restart meets TIME_WAIT
    if (!ec) acceptor_.bind(endpoint, ec);
    if (!ec) acceptor_.listen(asio::socket_base::max_listen_connections, ec);
    if (!ec) port_ = acceptor_.local_endpoint(ec).port();
    if (ec) return cannot_listen(host_->config, ec);
    return {};
}

void status_listener::start() {
    asio::co_spawn(
        strand_, [self = shared_from_this()] { return self->accept_loop(); }, asio::detached);
    host_->front->start_sampling(strand_);
}

void status_listener::stop() {
    asio::dispatch(strand_, [self = shared_from_this()] {
        error_code ignored;
        self->acceptor_.close(ignored);
        self->timer_.cancel();
        self->host_->sessions.close_all();
        self->host_->front->stop();
    });
}

asio::awaitable<void> status_listener::accept_loop() {
    while (acceptor_.is_open()) {
        auto [ec, socket] = co_await acceptor_.async_accept(strand_, as_result);
        if (!acceptor_.is_open()) break;
        if (ec == asio::error::connection_aborted) continue; // that client is gone, the next one is not
        if (ec) {
            co_await back_off(ec);
            continue;
        }
        pause_ = first_pause;
        take(std::move(socket));
    }
}

/// An accept that failed for want of descriptors or memory leaves the connection in the backlog: trying again
/// at once would spin, giving up would end the server.
asio::awaitable<void> status_listener::back_off(const error_code& why) {
    if (++accept_failures_ == 1)
        log("accepting on " + place(host_->config) + " fails, will try on: " + why.message());
    if (host_->sessions.make_room()) ++evicted_;
    timer_.expires_after(pause_);
    pause_ = std::min(2 * pause_, longest_pause);
    auto [ignored] = co_await timer_.async_wait(as_result);
    (void)ignored;
}

void status_listener::take(tcp::socket socket) {
    ++accepted_;
    auto& sessions = host_->sessions;
    if (sessions.open() >= host_->config.max_sessions) {
        if (!sessions.make_room()) return refuse(socket);
        ++evicted_;
    }
    start_http_session(std::move(socket), host_);
}

/// Neither call below can block: the socket is non-blocking and its send buffer empty.
void status_listener::refuse(tcp::socket& socket) {
    ++refused_;
    error_code ignored;
    socket.non_blocking(true, ignored);
    socket.write_some(asio::buffer(busy_response(*host_->front)), ignored);
    socket.shutdown(tcp::socket::shutdown_send, ignored);
    std::array<char, 4096> request{}; // left unread, it would turn the close into a reset
    socket.read_some(asio::buffer(request), ignored);
}

void status_listener::log(const std::string& text) const {
    if (host_->config.log) host_->config.log->write(log_level::warning, "status", text);
}

status_server_snapshot status_listener::snapshot() const {
    return {.address = host_->config.address,
            .port = port_,
            .sessions = host_->open,
            .subscribers = host_->front->subscribers(),
            .accepted = accepted_,
            .requests = host_->requests,
            .timeouts = host_->timeouts,
            .evicted = evicted_,
            .refused = refused_,
            .accept_failures = accept_failures_};
}

status_listener_handle::status_listener_handle(const asio::any_io_executor& executor,
                                               const status_source& source, status_server_config config,
                                               error_info& error) {
    auto listener = std::make_shared<status_listener>(executor, source, std::move(config));
    error = listener->open();
    if (error) return;
    listener->start();
    listener_ = std::move(listener);
}

status_listener_handle::status_listener_handle(const asio::any_io_executor& executor,
                                               const status_source& source, status_server_config config) {
    error_info error;
    *this = status_listener_handle(executor, source, std::move(config), error);
    throw_if(error);
}

status_listener_handle& status_listener_handle::operator=(status_listener_handle&& other) noexcept {
    if (this == &other) return *this;
    stop();
    listener_ = std::move(other.listener_);
    return *this;
}

status_listener_handle::~status_listener_handle() {
    stop();
}

void status_listener_handle::stop() noexcept {
    if (listener_) listener_->stop();
}

status_server_snapshot status_listener_handle::snapshot() const {
    return listener_ ? listener_->snapshot() : status_server_snapshot{};
}

} // namespace rocio::detail
