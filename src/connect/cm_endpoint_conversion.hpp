#pragma once

#include <rocio/device/connection_manager.hpp>

#include <boost/asio/ip/tcp.hpp>

namespace rocio::detail {

cm_endpoint to_cm(const boost::asio::ip::tcp::endpoint& endpoint);
boost::asio::ip::tcp::endpoint to_asio(const cm_endpoint& endpoint);

} // namespace rocio::detail
