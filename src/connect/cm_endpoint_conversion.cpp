#include "connect/cm_endpoint_conversion.hpp"

#include <boost/asio/ip/address.hpp>

namespace rocio::detail {

namespace ip = boost::asio::ip;

cm_endpoint to_cm(const ip::tcp::endpoint& endpoint) {
    cm_endpoint out;
    out.port = endpoint.port();
    const auto address = endpoint.address();
    if (address.is_v4()) {
        out.address = gid::from_v4(address.to_v4().to_bytes());
        return out;
    }
    out.address = gid(address.to_v6().to_bytes());
    out.scope = static_cast<std::uint32_t>(address.to_v6().scope_id());
    return out;
}

ip::tcp::endpoint to_asio(const cm_endpoint& endpoint) {
    if (const auto v4 = endpoint.address.v4()) return {ip::address_v4(*v4), endpoint.port};
    return {ip::address_v6(endpoint.address.bytes(), endpoint.scope), endpoint.port};
}

} // namespace rocio::detail
