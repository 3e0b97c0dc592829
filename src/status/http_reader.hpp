#pragma once

#include "http_answer.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/fields.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/system/error_code.hpp>

#include <cstddef>
#include <optional>

namespace rocio::detail {

/// Reads one request, whose body is dropped, within limits; its parts do not outlive the connection's.
class http_reader {
  public:
    using error_code = boost::system::error_code;
    static constexpr std::size_t buffer_limit = 16 * 1024;

    http_reader(boost::beast::tcp_stream& stream, boost::beast::flat_buffer& buffer);

    /// Why the request is refused, after which the connection must end. Nothing, with error(): the connection
    /// has ended; without it: request() is there, and its body read.
    boost::asio::awaitable<std::optional<http_found>> read();

    const error_code& error() const noexcept { return error_; }
    const boost::beast::http::request_header<>& request() const { return parser_.get(); }
    bool keep_alive() const { return parser_.keep_alive(); }

  private:
    boost::asio::awaitable<error_code> read_header();
    boost::asio::awaitable<error_code> read_body();
    std::optional<http_found> refuse_header(const error_code& ec);

    boost::beast::tcp_stream& stream_;
    boost::beast::flat_buffer& buffer_;
    /// A body within its limit is read and dropped, so the connection stays usable.
    boost::beast::http::request_parser<boost::beast::http::string_body> parser_;
    error_code error_;
};

} // namespace rocio::detail
