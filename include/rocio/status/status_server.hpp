#pragma once

#include <rocio/status/status_server_config.hpp>
#include <rocio/status/status_source.hpp>
#include <rocio/types/error.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/execution_context.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

namespace rocio {

namespace asio = boost::asio;

namespace detail {

class status_listener;

/// Owns a listener: opens it on construction, ends it on destruction.
class status_listener_handle {
  public:
    status_listener_handle(const asio::any_io_executor& executor, const status_source& source,
                           status_server_config config);
    status_listener_handle(const asio::any_io_executor& executor, const status_source& source,
                           status_server_config config, error_info& error);
    status_listener_handle(status_listener_handle&&) noexcept = default;
    status_listener_handle& operator=(status_listener_handle&& other) noexcept;
    ~status_listener_handle();

    void stop() noexcept;
    status_server_snapshot snapshot() const;

  private:
    std::shared_ptr<status_listener> listener_;
};

} // namespace detail

/// A small HTTP server for the status of a program, inside the program's own execution context:
///
///     rocio::status_source source;
///     auto shown = source.add([&](rocio::status_snapshot& s) { s.streams.push_back(server.snapshot()); });
///     rocio::status_server http(context, source, {.port = 8080});
///
/// `GET /` gives a page that shows it all, live. `GET /status` gives the whole as JSON, `GET /status/streams`
/// one part, `GET /status/streams/0` and `GET /status/streams/NAME` what is in it; each with an ETag unless
/// it holds the time. `GET /metrics` gives Prometheus text, `GET /healthz` "ok" whenever the server answers,
/// `GET /readyz` 200 when nothing is stale, else 503 with the reasons. `GET /events` never ends: server-sent
/// events "status" (first the whole, then each second an RFC 7396 merge patch of the one before) and "device"
/// (one for each event of a device, at once when the source is notified). HEAD works too; anything else is
/// refused with a JSON body. No request changes anything or has a body. Answers of more than 1 KiB are packed
/// with gzip for who accepts it.
///
/// It has no thread, never blocks one, and bounds memory, time and number of its sessions. With every session
/// taken a new client takes the place of one that idles, or of the one whose request has been coming in for
/// longest. Twice a second it looks at the status by itself, to know rates.
///
/// It listens from construction on and keeps the context's run() alive until stop(). Destroying the context
/// with sessions open is fine. Handlers run on a strand of the given executor; any execution context with
/// sockets serves. Thread safety: stop() and snapshot() from any thread; moving and destroying as usual.
template <class Executor = asio::any_io_executor>
class basic_status_server {
  public:
    using executor_type = Executor;
    template <class Other>
    struct rebind_executor {
        using other = basic_status_server<Other>;
    };

    /// Listens. Throws rocio::exception: errc::invalid_argument, or what the system says of the address and
    /// port.
    basic_status_server(const Executor& executor, const status_source& source,
                        status_server_config config = {})
        : executor_(executor), handle_(executor, source, std::move(config)) {}
    template <class Context>
    requires std::is_convertible_v<Context&, asio::execution_context&>
    basic_status_server(Context& context, const status_source& source, status_server_config config = {})
        : basic_status_server(Executor(context.get_executor()), source, std::move(config)) {}

    /// As above, but reports in `error`; after an error the object does nothing and its port() is 0.
    basic_status_server(const Executor& executor, const status_source& source, status_server_config config,
                        error_info& error)
        : executor_(executor), handle_(executor, source, std::move(config), error) {}

    basic_status_server(basic_status_server&&) noexcept = default;
    basic_status_server& operator=(basic_status_server&&) noexcept = default;
    /// stop().
    ~basic_status_server() = default;

    executor_type get_executor() const noexcept { return executor_; }

    /// The port listened on, also when a free one was asked for.
    std::uint16_t port() const { return snapshot().port; }
    /// "http://127.0.0.1:8080/status".
    std::string url() const {
        const auto state = snapshot();
        const bool v6 = state.address.find(':') != std::string::npos;
        const auto host = v6 ? "[" + state.address + "]" : state.address;
        return "http://" + host + ":" + std::to_string(state.port) + "/status";
    }
    status_server_snapshot snapshot() const { return handle_.snapshot(); }

    /// Closes the port and all sessions, those in the middle of an answer too, at the context's next turn.
    /// Idempotent.
    void stop() noexcept { handle_.stop(); }

  private:
    Executor executor_;
    detail::status_listener_handle handle_;
};

using status_server = basic_status_server<>;

} // namespace rocio
