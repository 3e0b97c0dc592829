#pragma once

#include "connect/control_strand.hpp"

#include <cstddef>
#include <span>
#include <string>

namespace rocio::detail {

// Sockets are made here and not by Asio, which opens them without SOCK_CLOEXEC: a program that forks would
// hand the liveness connection to its child, and the peer would never see it end.

/// A non-blocking stream socket with TCP_NODELAY.
error_code open_stream(control_socket& socket, const asio::ip::tcp& protocol);
/// A listening socket. `what` names the call that failed.
error_code open_acceptor(control_acceptor& acceptor, const asio::ip::tcp::endpoint& at, const char*& what);
/// Takes one waiting connection; would_block if there is none.
error_code accept_stream(control_acceptor& acceptor, control_socket& out);
/// Gives the connection to a socket on another strand.
error_code move_stream(control_socket& from, control_socket& to);

/// Sends a few bytes if the kernel takes them at once: a last word to a peer that will not be waited for.
void send_at_once(control_socket& socket, std::span<const std::byte> bytes);
/// Reads away what has come, so that closing does not reset the connection under the peer's unread bytes, and
/// closes.
void close_gently(control_socket& socket);

/// The other side has closed, and nothing it sent is unread.
bool has_ended(control_socket& socket);
/// A listening socket lets go of its address, whatever else goes on with it in other threads.
void stop_listening(int native_acceptor) noexcept;

/// "127.0.0.1:4000", "[::1]:4000".
std::string to_text(const asio::ip::tcp::endpoint& e);

} // namespace rocio::detail
