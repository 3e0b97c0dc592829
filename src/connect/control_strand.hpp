#pragma once

#include <rocio/async/control_strand.hpp>

#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/ip/tcp.hpp>

namespace rocio::detail {

using async::as_result;
using async::cancellable_operation;
using async::control_strand;
using async::control_timer;
using async::relay_cancellation;
using async::run_task;
using async::steady_clock;
using async::task;

using control_socket = asio::basic_stream_socket<asio::ip::tcp, control_strand>;
using control_acceptor = asio::basic_socket_acceptor<asio::ip::tcp, control_strand>;

} // namespace rocio::detail
