#pragma once

#include <rocio/async/control_initiation.hpp>
#include <rocio/async/default_token.hpp>
#include <rocio/status/detail/http_question_of.hpp>
#include <rocio/status/status_routes_config.hpp>
#include <rocio/status/status_source.hpp>
#include <rocio/types/error.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/rfc7230.hpp>
#include <boost/beast/http/string_body.hpp>

#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace rocio {

namespace detail {
class http_front;
}

/// The endless body of an answer to `/events`; counts among the subscribers for as long as it lives.
/// Move-only. Thread safety: distinct objects: safe. Shared objects: unsafe, but cancel() from any thread.
class status_events {
  public:
    using executor_type = asio::any_io_executor;

    status_events(status_events&&) noexcept = default;
    status_events& operator=(status_events&& other) noexcept;
    /// cancel().
    ~status_events();

    executor_type get_executor() const noexcept;

    /// Waits for the next piece of the body.
    ///
    /// Effect: completes with text to be written as it is, as one chunk where the body is chunked; "" when
    /// cancelled, the end of the body. Preconditions: no other is under way. Lifetimes: the object may be
    /// moved or destroyed before, which cancels. Completion signature: void(std::exception_ptr, std::string).
    /// Executor: the handler's, default get_executor(); never inside this call. Cancellation: cancel() only.
    /// Errors: std::bad_alloc. Thread safety: as the object.
    template <asio::completion_token_for<void(std::exception_ptr, std::string)> Token =
                  default_token_t<asio::any_io_executor>>
    auto async_next(Token&& token = default_token_t<asio::any_io_executor>()) {
        return asio::async_initiate<Token, signature>(
            async::control_initiation<signature, asio::any_io_executor>{get_executor()}, token, &start_next,
            feed_);
    }
    void cancel() noexcept;

  private:
    friend class status_routes;
    using signature = void(std::exception_ptr, std::string);

    explicit status_events(std::shared_ptr<detail::event_feed> feed) noexcept;
    static void start_next(const std::shared_ptr<detail::event_feed>& feed,
                           async::control_handler<signature> handler);

    std::shared_ptr<detail::event_feed> feed_;
};

/// What status_routes answers.
struct status_response {
    /// Ready to be written. With `events`: its header, to be written with async_write_header().
    boost::beast::http::response<boost::beast::http::string_body> message{};
    /// The body, piece by piece, of an answer to `/events`; chunked in HTTP/1.1, else it ends with the
    /// connection. Who does not want to serve it writes `message` alone.
    std::optional<status_events> events{};
};

/// The answers of a status_server without the server, for a program that has an HTTP server of its own:
///
///     rocio::status_routes routes(context, source);
///     if (routes.serves(request)) {
///         auto answer = co_await routes.async_answer(request, use_awaitable);
///         co_await http::async_write(stream, answer.message, use_awaitable);
///     }
///
/// Limits on requests, sessions and time are the server's. Keeps the context's run() alive until stop() or
/// its destruction, because rates need a look at the status twice a second. Thread-safe.
class status_routes {
  public:
    using executor_type = asio::any_io_executor;

    /// Throws rocio::exception (errc::invalid_argument) of a setting that cannot work.
    status_routes(const asio::any_io_executor& executor, const status_source& source,
                  status_routes_config config = {});
    template <class Context>
    requires std::is_convertible_v<Context&, asio::execution_context&>
    status_routes(Context& context, const status_source& source, status_routes_config config = {})
        : status_routes(asio::any_io_executor(context.get_executor()), source, std::move(config)) {}
    status_routes(status_routes&&) noexcept = default;
    status_routes& operator=(status_routes&& other) noexcept;
    /// stop().
    ~status_routes();

    executor_type get_executor() const noexcept { return executor_; }

    /// Whether the request's path is one of those that a status_server has: "/status" and what is below it,
    /// "/metrics", "/events", "/healthz", "/readyz", and "/", the page, which asks for "status" and "events"
    /// beside it.
    template <class Fields>
    bool serves(const boost::beast::http::request_header<Fields>& request) const {
        return serves(std::string_view(request.target().data(), request.target().size()));
    }
    bool serves(std::string_view target) const;

    /// Answers a request as a status_server does, all checks of the configuration included.
    ///
    /// Effect: see above; the response has the version and the Connection field that go with the request.
    /// Preconditions: the request's header is read whole. Lifetimes: the request is not looked at after this
    /// call; the object may be moved or destroyed before the end. Completion signature:
    /// void(std::exception_ptr, status_response). Executor: the handler's, default this object's; never
    /// inside this call. Cancellation: none, the snapshot's deadline ends it. Errors: std::bad_alloc; other
    /// failures are answers with status 500. Thread safety: any thread.
    template <class Fields, asio::completion_token_for<void(std::exception_ptr, status_response)> Token =
                                default_token_t<asio::any_io_executor>>
    auto async_answer(const boost::beast::http::request_header<Fields>& request,
                      Token&& token = default_token_t<asio::any_io_executor>()) const {
        return asio::async_initiate<Token, signature>(
            async::control_initiation<signature, asio::any_io_executor>{executor_}, token, &start_answer,
            front_, executor_, detail::question_of(request), connection_of(request));
    }

    /// Subscribers to `/events`, now.
    std::size_t subscribers() const noexcept;
    /// Lets the context's run() end: no more looks at the status between requests. Answers go on. Idempotent.
    void stop() noexcept;

  private:
    using signature = void(std::exception_ptr, status_response);
    struct connection {
        unsigned version = 11;
        bool keep_alive = true;
    };

    template <class Fields>
    static connection connection_of(const boost::beast::http::request_header<Fields>& request) {
        const bool wished = boost::beast::http::token_list(request[boost::beast::http::field::connection])
                                .exists("keep-alive");
        const bool closing =
            boost::beast::http::token_list(request[boost::beast::http::field::connection]).exists("close");
        return {request.version(), request.version() >= 11 ? !closing : wished};
    }
    static asio::awaitable<status_response> answer(std::shared_ptr<detail::http_front> front,
                                                   detail::http_question question, connection from);
    static void start_answer(std::shared_ptr<detail::http_front> front, const asio::any_io_executor& executor,
                             detail::http_question question, connection from,
                             async::control_handler<signature> handler);

    asio::any_io_executor executor_;
    std::shared_ptr<detail::http_front> front_;
};

} // namespace rocio
