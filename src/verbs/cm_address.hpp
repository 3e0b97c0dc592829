#pragma once

#include <rocio/device/connection_manager.hpp>

#include <netinet/in.h>

namespace rocio::verbs {

/// A socket address as rdma_cm takes it.
union cm_address {
    sockaddr any;
    sockaddr_in v4;
    sockaddr_in6 v6;
};

cm_address address_of(const cm_endpoint& endpoint) noexcept;
/// All zero for null and for other families than IPv4 and IPv6.
cm_endpoint endpoint_of(const sockaddr* address) noexcept;
/// "10.0.0.1:4000", "[fd00::1]:4000".
std::string text_of(const cm_endpoint& endpoint);

} // namespace rocio::verbs
