#pragma once

#include "cudaq/playback_config.hpp"

#include <boost/asio/ip/udp.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace rocio::tools {

/// "10.0.0.2" or "10.0.0.2:12267", the port `port` if none is given, and possibly 0. Throws rocio::exception
/// with the option's name.
boost::asio::ip::udp::endpoint parse_udp_endpoint(const std::string& option, const std::string& text,
                                                  std::uint16_t port);

/// The Ethernet address of a network interface of this machine, as the kernel tells it; nothing for one that
/// has none.
std::optional<std::array<std::uint8_t, 6>> mac_of_interface(const std::string& name);

} // namespace rocio::tools
