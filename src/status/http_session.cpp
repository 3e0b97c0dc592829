#include "http_session.hpp"

#include "event_feed.hpp"
#include "http_reader.hpp"

#include <rocio/status/detail/http_question_of.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
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
constexpr unsigned http_1_1 = 11;
constexpr std::string_view last_chunk = "0\r\n\r\n";
/// After a refusal the rest of the request is read and dropped for a while: closing with unread bytes makes
/// TCP send RST, and the client may lose the answer with it (RFC 9112, 9.6).
constexpr std::size_t linger_bytes = 16 * 1024 * 1024;
constexpr std::chrono::seconds linger_time{1};

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
            become_asking();
            const bool goes_on = co_await serve_request();
            if (!goes_on) break;
            become_idle();
        }
        become_idle();
        co_await linger();
    }

  private:
    void close() noexcept override {
        end_events();
        error_code ignored;
        stream_.socket().close(ignored);
        stream_.cancel();
    }

    /// So that a subscriber sees the end of a whole body, not a cut.
    void end_events() noexcept {
        if (!events_) return;
        error_code ignored;
        if (between_chunks_) {
            stream_.socket().non_blocking(true, ignored);
            stream_.socket().write_some(asio::buffer(last_chunk), ignored);
        }
        events_->cancel();
    }

    bool failed(const error_code& ec) {
        if (ec == beast::error::timeout) ++host_->timeouts;
        return static_cast<bool>(ec);
    }

    /// Waits for the first byte of the next request; false if there will be none.
    asio::awaitable<bool> await_request() {
        if (buffer_.size() > 0) co_return true;
        stream_.expires_after(host_->config.idle_timeout);
        auto [ec, n] =
            co_await stream_.async_read_some(buffer_.prepare(http_reader::buffer_limit / 4), as_result);
        if (failed(ec)) co_return false;
        buffer_.commit(n);
        co_return true;
    }

    /// Reads and answers one request; false if the connection is to end.
    asio::awaitable<bool> serve_request() {
        http_reader reader(stream_, buffer_);
        stream_.expires_after(host_->config.request_timeout);
        auto refusal = co_await reader.read();
        if (refusal) {
            become_busy();
            const http_question unknown;
            auto what = host_->front->fitted(std::move(*refusal), unknown);
            co_await send(std::move(what), false, false);
            co_return false;
        }
        if (failed(reader.error())) co_return false;
        become_busy();
        co_return co_await answer(reader);
    }

    asio::awaitable<bool> answer(const http_reader& reader) {
        const bool head = reader.request().method() == http::verb::head;
        const bool chunks = reader.request().version() >= http_1_1;
        auto question = question_of(reader.request());
        auto found = co_await host_->front->answer(std::move(question));
        if (found.events) co_return co_await stream_events(std::move(found), chunks);
        co_return co_await send(std::move(found), reader.keep_alive(), head);
    }

    /// False if the connection is to end.
    asio::awaitable<bool> send(http_answer what, bool keep_alive, bool head) {
        ++host_->requests;
        stream_.expires_after(host_->config.write_timeout);
        const auto response = response_of(std::move(what), head, http_1_1, keep_alive);
        auto [ec, n] = co_await http::async_write(stream_, response, as_result);
        (void)n;
        co_return !failed(ec) && keep_alive;
    }

    /// False: the connection is to end.
    asio::awaitable<bool> stream_events(http_answer what, bool chunks) {
        ++host_->requests;
        events_ = what.events;
        const auto head = response_of(std::move(what), false, chunks ? http_1_1 : http_1_1 - 1, false);
        http::response_serializer<http::string_body> serializer(head);
        stream_.expires_after(host_->config.write_timeout);
        auto [error, n] = co_await http::async_write_header(stream_, serializer, as_result);
        (void)n;
        bool open = !failed(error);
        while (open) {
            between_chunks_ = chunks;
            const std::string text = co_await events_->next();
            between_chunks_ = false;
            if (text.empty()) break;
            open = co_await write_event(text, chunks);
        }
        events_ = nullptr;
        co_return false;
    }

    /// A reader that is slower than its events is cut off when the buffers of both sockets are full.
    asio::awaitable<bool> write_event(std::string_view text, bool chunks) {
        stream_.expires_after(host_->config.write_timeout);
        error_code result;
        if (chunks) {
            const auto chunk = http::make_chunk(asio::buffer(text));
            auto [ec, n] = co_await asio::async_write(stream_, chunk, as_result);
            (void)n;
            result = ec;
        } else {
            auto [ec, n] = co_await asio::async_write(stream_, asio::buffer(text), as_result);
            (void)n;
            result = ec;
        }
        co_return !failed(result);
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
    beast::flat_buffer buffer_{http_reader::buffer_limit};
    std::shared_ptr<event_feed> events_; ///< While its subscriber is served.
    bool between_chunks_ = false;
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

std::string busy_response(const http_front& front) {
    auto busy = error_found(503, "all sessions are busy; try again later");
    busy.fields.emplace_back("Retry-After", "1");
    std::ostringstream text;
    const http_question unknown;
    text << response_of(front.fitted(std::move(busy), unknown), false, http_1_1, false);
    return std::move(text).str();
}

} // namespace rocio::detail
