#include "http_session.hpp"

#include "http_answer.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <optional>
#include <sstream>
#include <string_view>
#include <utility>

namespace rocio::detail {

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using error_code = boost::system::error_code;

constexpr auto as_result = asio::as_tuple(asio::use_awaitable);
constexpr std::size_t header_limit = 8 * 1024;
constexpr std::uint64_t body_limit = 1024;
constexpr std::size_t framed_body_limit = 8 * 1024; // with what frames its chunks, and trailers
constexpr std::size_t buffer_limit = 16 * 1024;
/// After a refusal the rest of the request is read and dropped for a while: closing with unread bytes makes
/// TCP send RST, and the client may lose the answer with it (RFC 9112, 9.6).
constexpr std::size_t linger_bytes = 16 * 1024 * 1024;
constexpr std::chrono::seconds linger_time{1};

using request_header = http::request_header<>;
/// A body within body_limit is read and dropped, so the connection stays usable.
using request_parser = http::request_parser<http::string_body>;

/// Why the request's framing is not to be trusted; null if it is. Two readers of such a request can disagree
/// where its body ends (RFC 9112, 6.1 and 11.2), and what Beast refuses by itself differs between its
/// versions.
const char* framing_fault(const request_header& request) {
    const auto codings = request.count(http::field::transfer_encoding);
    const auto lengths = request.count(http::field::content_length);
    if (lengths > 1) return "more than one Content-Length";
    if (codings == 0) return nullptr;
    if (lengths > 0) return "Transfer-Encoding and Content-Length together";
    if (request.version() < 11) return "Transfer-Encoding in HTTP/1.0";
    if (codings > 1 || !beast::iequals(request[http::field::transfer_encoding], "chunked")) {
        return "a Transfer-Encoding other than chunked";
    }
    return nullptr;
}

const char* request_fault(const request_header& request) {
    if (const auto* fault = framing_fault(request)) return fault;
    const auto hosts = request.count(http::field::host); // RFC 9112, 3.2
    if (hosts > 1) return "more than one Host";
    if (hosts == 0 && request.version() == 11) return "no Host";
    return nullptr;
}

http_answer answer_read_error(const error_code& ec) {
    if (ec == http::error::body_limit) return error_answer(413, "this server takes no request bodies");
    if (ec == http::error::header_limit || ec == http::error::buffer_overflow) {
        return error_answer(431, "the request header is longer than 8 KiB");
    }
    return error_answer(400, "not an HTTP request: " + ec.message());
}

bool is_protocol_error(const error_code& ec) {
    static const auto& category = make_error_code(http::error::end_of_stream).category();
    return ec.category() == category && ec != http::error::end_of_stream &&
           ec != http::error::partial_message;
}

template <class Body>
void set_header(http::response<Body>& response, const http_answer& answer, bool keep_alive) {
    response.result(answer.status);
    response.set(http::field::server, "rocio/" ROCIO_VERSION);
    response.set(http::field::content_type, boost::core::string_view(answer.content_type));
    response.set(http::field::cache_control, "no-store");
    response.set("X-Content-Type-Options", "nosniff");
    if (answer.status == 405) response.set(http::field::allow, "GET, HEAD");
    response.keep_alive(keep_alive);
    response.content_length(answer.body.size());
}

class http_session final : private session_table::entry {
  public:
    http_session(asio::ip::tcp::socket socket, std::shared_ptr<session_host> host)
        : entry({host, &host->sessions}), host_(std::move(host)), stream_(std::move(socket)) {
        ++host_->open;
    }
    ~http_session() override { --host_->open; }

    // g++ 12 destroys what co_await made twice where it stands in a loop's condition: each result has a name
    // here.
    asio::awaitable<void> run() {
        for (;;) {
            const bool asked = co_await await_request();
            if (!asked) break;
            become_busy();
            const bool goes_on = co_await serve_request();
            if (!goes_on) break;
            become_idle();
        }
        become_idle();
        co_await linger();
    }

  private:
    void close() noexcept override {
        error_code ignored;
        stream_.socket().close(ignored);
        stream_.cancel();
    }

    bool failed(const error_code& ec) {
        if (ec == beast::error::timeout) ++host_->timeouts;
        return static_cast<bool>(ec);
    }

    /// Waits for the first byte of the next request; false if there will be none.
    asio::awaitable<bool> await_request() {
        if (buffer_.size() > 0) co_return true;
        stream_.expires_after(host_->config.idle_timeout);
        auto [ec, n] = co_await stream_.async_read_some(buffer_.prepare(buffer_limit / 4), as_result);
        if (failed(ec)) co_return false;
        buffer_.commit(n);
        co_return true;
    }

    /// Reads and answers one request; false if the connection is to end.
    asio::awaitable<bool> serve_request() {
        request_parser parser;
        parser.header_limit(header_limit);
        parser.body_limit(body_limit);
        stream_.expires_after(host_->config.request_timeout);
        const error_code header_error = co_await read_header(parser);
        if (auto refusal = refuse_header(parser, header_error)) co_return co_await answer_and_close(*refusal);
        if (header_error) co_return false;

        const error_code body_error = co_await read_body(parser);
        if (is_protocol_error(body_error)) {
            const auto refusal = answer_read_error(body_error);
            co_return co_await answer_and_close(refusal);
        }
        if (failed(body_error)) co_return false;
        co_return co_await answer(parser);
    }

    /// Beast's own header limit holds for one line at a time, so the whole is counted here.
    asio::awaitable<error_code> read_header(request_parser& parser) {
        for (std::size_t total = 0; !parser.is_header_done();) {
            auto [ec, n] = co_await http::async_read_some(stream_, buffer_, parser, as_result);
            total += n;
            if (ec) co_return ec;
            if (total > header_limit) co_return error_code(http::error::header_limit);
        }
        co_return error_code();
    }

    asio::awaitable<error_code> read_body(request_parser& parser) {
        for (std::size_t total = 0; !parser.is_done();) {
            auto [ec, n] = co_await http::async_read_some(stream_, buffer_, parser, as_result);
            total += n;
            if (ec) co_return ec;
            if (total > framed_body_limit) co_return error_code(http::error::body_limit);
        }
        co_return error_code();
    }

    std::optional<http_answer> refuse_header(const request_parser& parser, const error_code& ec) {
        if (ec && !is_protocol_error(ec)) {
            failed(ec);
            return std::nullopt;
        }
        const request_header& request = parser.get();
        // Even a header that the parser gave up: a limit must not hide a framing fault before it.
        if (const auto* fault = framing_fault(request)) return error_answer(400, fault);
        if (ec) return answer_read_error(ec);
        if (const auto* fault = request_fault(request)) return error_answer(400, fault);
        if (request.count(http::field::expect) > 0) {
            return error_answer(417, "this server takes no request bodies, so it expects nothing");
        }
        return std::nullopt;
    }

    asio::awaitable<bool> answer(const request_parser& parser) {
        const request_header& request = parser.get();
        const bool keep_alive = parser.keep_alive();
        const bool head = request.method() == http::verb::head;
        if (!head && request.method() != http::verb::get) {
            const auto refusal = error_answer(405, "only GET and HEAD are served");
            co_return co_await send(refusal, keep_alive, false);
        }
        const auto target = request.target();
        const auto found = answer_get({target.data(), target.size()}, host_->source);
        co_return co_await send(found, keep_alive, head);
    }

    asio::awaitable<bool> answer_and_close(const http_answer& refusal) {
        co_await send(refusal, false, false);
        co_return false;
    }

    /// False if the connection is to end.
    asio::awaitable<bool> send(const http_answer& what, bool keep_alive, bool head) {
        ++host_->requests;
        stream_.expires_after(host_->config.write_timeout);
        error_code result;
        if (head) {
            http::response<http::empty_body> response;
            set_header(response, what, keep_alive);
            auto [ec, n] = co_await http::async_write(stream_, response, as_result);
            (void)n;
            result = ec;
        } else {
            http::response<http::string_body> response;
            response.body() = what.body;
            set_header(response, what, keep_alive);
            auto [ec, n] = co_await http::async_write(stream_, response, as_result);
            (void)n;
            result = ec;
        }
        co_return !failed(result) && keep_alive;
    }

    asio::awaitable<void> linger() {
        error_code ec;
        stream_.socket().shutdown(asio::ip::tcp::socket::shutdown_send, ec);
        if (ec) co_return;
        buffer_.clear();
        std::array<std::byte, 4096> scratch{};
        stream_.expires_after(linger_time);
        // The stream's deadline ends a wait only; a client that always has more to read never makes it wait.
        const auto end = std::chrono::steady_clock::now() + linger_time;
        for (std::size_t dropped = 0; dropped < linger_bytes && std::chrono::steady_clock::now() < end;) {
            auto [error, n] = co_await stream_.async_read_some(asio::buffer(scratch), as_result);
            if (error) co_return;
            dropped += n;
        }
    }

    std::shared_ptr<session_host> host_;
    beast::tcp_stream stream_;
    beast::flat_buffer buffer_{buffer_limit};
};

asio::awaitable<void> run(std::unique_ptr<http_session> session) {
    co_await session->run();
}

} // namespace

void start_http_session(asio::ip::tcp::socket socket, std::shared_ptr<session_host> host) {
    const auto executor = socket.get_executor();
    auto session = std::make_unique<http_session>(std::move(socket), std::move(host));
    asio::co_spawn(executor, run(std::move(session)), asio::detached);
}

std::string busy_response() {
    http::response<http::string_body> response;
    const auto busy = error_answer(503, "all sessions are busy; try again later");
    response.body() = busy.body;
    set_header(response, busy, false);
    response.set(http::field::retry_after, "1");
    std::ostringstream text;
    text << response;
    return std::move(text).str();
}

} // namespace rocio::detail
