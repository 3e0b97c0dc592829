#include "http_reader.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/read.hpp>

#include <cstdint>

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

using request_header = http::request_header<>;

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

http_found answer_read_error(const error_code& ec) {
    if (ec == http::error::body_limit) return error_found(413, "this server takes no request bodies");
    if (ec == http::error::header_limit || ec == http::error::buffer_overflow) {
        return error_found(431, "the request header is longer than 8 KiB");
    }
    return error_found(400, "not an HTTP request: " + ec.message());
}

bool is_protocol_error(const error_code& ec) {
    static const auto& category = make_error_code(http::error::end_of_stream).category();
    return ec.category() == category && ec != http::error::end_of_stream &&
           ec != http::error::partial_message;
}

} // namespace

http_reader::http_reader(beast::tcp_stream& stream, beast::flat_buffer& buffer)
    : stream_(stream), buffer_(buffer) {
    parser_.header_limit(header_limit);
    parser_.body_limit(body_limit);
}

asio::awaitable<std::optional<http_found>> http_reader::read() {
    const error_code header_error = co_await read_header();
    if (auto refusal = refuse_header(header_error)) co_return refusal;
    error_ = header_error;
    if (error_) co_return std::nullopt;
    const error_code body_error = co_await read_body();
    if (is_protocol_error(body_error)) co_return answer_read_error(body_error);
    error_ = body_error;
    co_return std::nullopt;
}

/// Beast's own header limit holds for one line at a time, so the whole is counted here.
asio::awaitable<error_code> http_reader::read_header() {
    for (std::size_t total = 0; !parser_.is_header_done();) {
        auto [ec, n] = co_await http::async_read_some(stream_, buffer_, parser_, as_result);
        total += n;
        if (ec) co_return ec;
        if (total > header_limit) co_return error_code(http::error::header_limit);
    }
    co_return error_code();
}

asio::awaitable<error_code> http_reader::read_body() {
    for (std::size_t total = 0; !parser_.is_done();) {
        auto [ec, n] = co_await http::async_read_some(stream_, buffer_, parser_, as_result);
        total += n;
        if (ec) co_return ec;
        if (total > framed_body_limit) co_return error_code(http::error::body_limit);
    }
    co_return error_code();
}

std::optional<http_found> http_reader::refuse_header(const error_code& ec) {
    if (ec && !is_protocol_error(ec)) return std::nullopt;
    // Even a header that the parser gave up: a limit must not hide a framing fault before it.
    if (const auto* fault = framing_fault(request())) return error_found(400, fault);
    if (ec) return answer_read_error(ec);
    if (const auto* fault = request_fault(request())) return error_found(400, fault);
    if (request().count(http::field::expect) > 0) {
        return error_found(417, "this server takes no request bodies, so it expects nothing");
    }
    return std::nullopt;
}

} // namespace rocio::detail
