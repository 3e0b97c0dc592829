#pragma once

#include <rocio/types/error.hpp>

#include <boost/asio/ip/tcp.hpp>

#include <string_view>

namespace rocio {

/// "10.0.0.2:4000" or "[fd00::2]:4000" to an endpoint. Names are not resolved: that would take a hidden
/// thread, so resolve one yourself with asio::ip::tcp::resolver. On failure `out` is left alone:
/// errc::invalid_argument with a sentence. Pure.
error_info parse_endpoint(std::string_view text, boost::asio::ip::tcp::endpoint& out);
/// The same; throws rocio::exception.
boost::asio::ip::tcp::endpoint parse_endpoint(std::string_view text);

} // namespace rocio
