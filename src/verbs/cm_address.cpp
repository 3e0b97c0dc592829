#include "verbs/cm_address.hpp"

#include <cstring>
#include <string>

namespace rocio::verbs {

namespace {

std::uint16_t swapped(std::uint16_t value) noexcept {
    return htons(value);
}

} // namespace

cm_address address_of(const cm_endpoint& endpoint) noexcept {
    cm_address out{};
    if (const auto v4 = endpoint.address.v4()) {
        out.v4.sin_family = AF_INET;
        out.v4.sin_port = swapped(endpoint.port);
        std::memcpy(&out.v4.sin_addr, v4->data(), v4->size());
        return out;
    }
    out.v6 = {};
    out.v6.sin6_family = AF_INET6;
    out.v6.sin6_port = swapped(endpoint.port);
    std::memcpy(&out.v6.sin6_addr, endpoint.address.bytes().data(), sizeof out.v6.sin6_addr);
    out.v6.sin6_scope_id = endpoint.scope;
    return out;
}

cm_endpoint endpoint_of(const sockaddr* address) noexcept {
    cm_endpoint out;
    if (address == nullptr) return out;
    if (address->sa_family == AF_INET) {
        sockaddr_in v4;
        std::memcpy(&v4, address, sizeof v4);
        gid::v4_bytes bytes{};
        std::memcpy(bytes.data(), &v4.sin_addr, bytes.size());
        out.address = gid::from_v4(bytes);
        out.port = swapped(v4.sin_port);
    } else if (address->sa_family == AF_INET6) {
        sockaddr_in6 v6;
        std::memcpy(&v6, address, sizeof v6);
        gid::bytes_type bytes{};
        std::memcpy(bytes.data(), &v6.sin6_addr, bytes.size());
        out.address = gid(bytes);
        out.port = swapped(v6.sin6_port);
        out.scope = v6.sin6_scope_id;
    }
    return out;
}

std::string text_of(const cm_endpoint& endpoint) {
    const auto host = endpoint.address.to_address_string();
    const auto port = ":" + std::to_string(endpoint.port);
    return endpoint.address.is_v4_mapped() ? host + port : "[" + host + "]" + port;
}

} // namespace rocio::verbs
