#pragma once

#include <rocio/io/completion_engine.hpp>

#include <boost/asio/io_context.hpp>

namespace rocio {

/// An io_context whose engine spins while anything is outstanding: the dedicated strand of the data plane.
/// Run it on one thread of your own, or use busy_poll_thread. Sockets, timers and coroutines work on it and
/// get their turn every 5 microseconds, or after ten times as long as they take, at most 50.
class busy_poll_context : public boost::asio::io_context {
  public:
    explicit busy_poll_context(polling_policy policy = polling_policy::spin());

    /// The policy may be changed at any time, from any thread.
    void set_policy(polling_policy policy);
};

} // namespace rocio
