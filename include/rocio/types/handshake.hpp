#pragma once

#include <rocio/types/error.hpp>
#include <rocio/types/parameters.hpp>

#include <concepts>

namespace rocio {

namespace archetype {

struct exchange_handler {
    void operator()(error_code, peer_parameters) {}
};
struct step_handler {
    void operator()(error_code) {}
};

} // namespace archetype

/// Agrees on a peer. Four operations, each with its own deadline and each taking any completion token:
///
/// - `async_exchange(local)` → `void(error_code, peer_parameters)`: our queue pair is in INIT with its
/// receives
///   posted; learns the peer's numbers.
/// - `async_ready()` → `void(error_code)`: called when our queue pair can receive and send; only here may the
/// other
///   side be told to start.
/// - `async_wait_lost()` → `void(error_code)`: completes when the peer is gone (errc::peer_closed,
/// errc::peer_lost);
///   never completes by itself for a peer that has no liveness. Supports `total` cancellation.
/// - `async_release()` → `void(error_code)`: before our queue pair goes to the error state; says goodbye.
/// Comes once
///   async_exchange() has begun, also after a failure, and never while another operation is outstanding.
///
/// `last_error()` gives the sentence for the last failure.
template <class H>
concept handshake = requires(H& h, const local_parameters& local) {
    h.async_exchange(local, archetype::exchange_handler{});
    h.async_ready(archetype::step_handler{});
    h.async_wait_lost(archetype::step_handler{});
    h.async_release(archetype::step_handler{});
    { h.last_error() } -> std::convertible_to<error_info>;
};

} // namespace rocio
