#pragma once

#include <rocio/types/error.hpp>
#include <rocio/types/parameters.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <memory>

namespace rocio {

/// What keeps watch over the peer while a connection stands. Installed by async_connect(); release() begins
/// the goodbye (disarm, "bye", disconnect) and is called once, before the queue pair goes to the error state.
/// It may be called and destroyed with the engine's lock held: it must only post work, never call back.
class liveness {
  public:
    virtual ~liveness() = default;
    virtual void release() noexcept = 0;
};

/// A thing that async_connect() can connect: a queue_pair, a receive_server. All members may be called from
/// any thread.
class connectable {
  public:
    virtual ~connectable() = default;

    /// The context's own executor, on which the steps run.
    virtual boost::asio::any_io_executor control_executor() = 0;
    /// Queue pair to INIT, receives posted; gives our side's numbers.
    virtual error_info prepare(local_parameters& out) = 0;
    /// Called after prepare(): `attempt` is kept until connected() replaces it, and released when the object
    /// is closed or destroyed before, so that the attempt ends at once.
    virtual void connecting(std::unique_ptr<liveness> attempt) { attempt.reset(); }
    /// Queue pair to RTR and RTS with the peer's (already validated) numbers.
    virtual error_info establish(const peer_parameters& peer) = 0;
    /// The handshake is through: the connection stands, and `watch` is kept until it ends.
    virtual void connected(std::unique_ptr<liveness> watch) = 0;
    /// The handshake failed or the peer is gone: queue pair to the error state, waiting operations end with
    /// `cause.code`; the sentence is kept for last_error(). Not called after the liveness was released.
    virtual void disconnected(const error_info& cause) = 0;
};

} // namespace rocio
