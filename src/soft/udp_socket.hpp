#pragma once

#include "soft/unique_fd.hpp"

#include <rocio/soft/udp_link.hpp>
#include <rocio/types/error.hpp>

#include <cstdint>

namespace rocio::soft {

/// A bound, non-blocking, close-on-exec UDP socket with the options that RoCEv2 needs.
struct udp_socket {
    unique_fd fd{};
    std::uint16_t port = 0;           ///< As bound.
    std::uint32_t receive_buffer = 0; ///< As granted.
    std::uint32_t scope = 0;          ///< Interface of a link-local address.
};

error_info open_udp_socket(const udp_link_config& config, udp_socket& out);

/// Datagrams that the kernel dropped because the socket's buffer was full; also current when nothing more
/// arrives, unlike the control message of SO_RXQ_OVFL.
std::uint64_t socket_overflows(int fd) noexcept;

} // namespace rocio::soft
