#pragma once

#include <boost/asio/ip/address.hpp>

#include <cstdint>
#include <string>

namespace rocio::fpga::detail {

inline std::string endpoint_text(const boost::asio::ip::address& address, std::uint16_t port) {
    const auto text = address.to_string();
    return (address.is_v6() ? "[" + text + "]" : text) + ":" + std::to_string(port);
}

} // namespace rocio::fpga::detail
