#pragma once

#include <rocio/async/control_initiation.hpp>
#include <rocio/async/default_token.hpp>
#include <rocio/connect/detail/cm_session.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>

#include <utility>
#include <vector>

namespace rocio {

/// What both sides of a connection by rdma_cm have in common: a handshake (see rocio/types/handshake.hpp) for
/// one connection, used once. The queue pair is an ordinary one: rdma_cm only carries its number, and it goes
/// through its states by itself, so that all its settings hold (rdma_cm alone leaves min_rnr_timer at 0,
/// which means 655 ms). PSNs and path MTU are rdma_cm's. Made as a cm_connector or taken from a cm_acceptor
/// as a cm_peer.
///
/// At most one of async_exchange(), async_ready() and async_wait_lost() may be outstanding; another one ends
/// with errc::invalid_state. The destructor ends what is outstanding with operation_aborted and disconnects.
///
/// Thread safety: distinct objects: safe. Shared objects: unsafe.
template <class Executor>
class basic_cm_handshake {
    template <class>
    friend class basic_cm_handshake;
    template <class Signature>
    using initiation = async::control_initiation<Signature, Executor>;

  public:
    using executor_type = Executor;
    executor_type get_executor() const noexcept { return executor_; }

    /// Learns the other side's numbers.
    ///
    /// Effect: the connecting side resolves address and route, asks for the connection with our numbers and
    /// waits for the answer; the listening side has the other's numbers already. Preconditions: the first
    /// operation of this object. Lifetimes: `local` is copied. Completion signature: void(error_code,
    /// peer_parameters); peer_parameters::imposed holds what rdma_cm settled for our own side. Executor: the
    /// handler's, default this object's; never inside this call. Cancellation: `terminal` and `total`, at
    /// every step; async_release() then gives everything up. Errors: errc::handshake_timed_out (last_error()
    /// names the step), errc::address_not_available when no RDMA device leads there or another one than ours,
    /// connection_refused when nobody listens there, errc::refused_by_peer, errc::geometry_mismatch,
    /// errc::handshake_malformed, errc::invalid_peer_parameters, errc::device_fatal, those of the system
    /// (host_unreachable, …). Thread safety: as this object.
    template <asio::completion_token_for<void(error_code, peer_parameters)> Token = default_token_t<Executor>>
    auto async_exchange(const local_parameters& local, Token&& token = default_token_t<Executor>()) {
        return asio::async_initiate<Token, void(error_code, peer_parameters)>(
            initiation<void(error_code, peer_parameters)>{executor_}, token, &detail::start_cm_exchange,
            session_.get(), local);
    }

    /// Tells the other side that our queue pair can receive; the listening side accepts the connection with
    /// it and waits until it stands.
    ///
    /// Preconditions: async_exchange() succeeded and our queue pair can receive and send. Data of the peer
    /// may arrive before this ends. Completion signature: void(error_code). Executor: the handler's, default
    /// this object's; never inside this call. Cancellation: `terminal` and `total`. Errors:
    /// errc::handshake_timed_out, errc::refused_by_peer, errc::peer_lost, errc::device_fatal, the system's.
    /// Thread safety: as this object.
    template <asio::completion_token_for<void(error_code)> Token = default_token_t<Executor>>
    auto async_ready(Token&& token = default_token_t<Executor>()) {
        return initiate(&detail::start_cm_ready, std::forward<Token>(token));
    }

    /// Waits until the other side has ended the connection.
    ///
    /// Preconditions: async_ready() succeeded. Completion signature: void(error_code), never success.
    /// Executor: the handler's, default this object's; never inside this call. Cancellation: `terminal` and
    /// `total`; may be called again. Errors: errc::peer_closed when the other side disconnected, in good
    /// order or because its program ended (the system says goodbye for it: rdma_cm does not tell the two
    /// apart); errc::peer_lost, errc::device_fatal; operation_aborted after async_release(). A machine that
    /// is gone without a word is not noticed here: rdma_cm has no signs of life; what is sent to it ends with
    /// errc::retry_exceeded. Thread safety: as this object.
    template <asio::completion_token_for<void(error_code)> Token = default_token_t<Executor>>
    auto async_wait_lost(Token&& token = default_token_t<Executor>()) {
        return initiate(&detail::start_cm_wait_lost, std::forward<Token>(token));
    }

    /// Disconnects, or turns the other side away when the connection does not stand yet; within
    /// release_deadline. Ends whatever else is outstanding with operation_aborted. Nothing of the connection
    /// is left in the system afterwards, but for its own time-wait. May be called at any time and again.
    ///
    /// Completion signature: void(error_code): always success.
    /// Executor: the handler's, default this object's; never inside this call.
    /// Cancellation: none; it is short.
    /// Errors: none.
    /// Thread safety: as this object.
    template <asio::completion_token_for<void(error_code)> Token = default_token_t<Executor>>
    auto async_release(Token&& token = default_token_t<Executor>()) {
        return initiate(&detail::start_cm_release, std::forward<Token>(token));
    }

    /// The last failure with its sentence.
    error_info last_error() const { return detail::last_error_of(session_.get()); }
    /// The other side's address and rdma_cm port.
    asio::ip::tcp::endpoint remote_endpoint() const { return detail::remote_endpoint_of(session_.get()); }
    /// What the other side sent along: of its request at once on the listening side, of its answer after
    /// async_exchange() on the connecting side. rdma_cm pads it with zeros to its full size.
    std::vector<std::byte> private_data() const { return detail::private_data_of(session_.get()); }

  protected:
    basic_cm_handshake(const Executor& executor, detail::cm_session_ptr session)
        : executor_(executor), session_(std::move(session)) {}
    template <class Other>
    explicit basic_cm_handshake(basic_cm_handshake<Other>&& other)
        : executor_(other.executor_), session_(std::move(other.session_)) {}
    basic_cm_handshake(basic_cm_handshake&&) noexcept = default;
    basic_cm_handshake& operator=(basic_cm_handshake&& other) noexcept {
        executor_ = other.executor_;
        session_ = std::move(other.session_);
        return *this;
    }
    ~basic_cm_handshake() = default;

    const detail::cm_session_ptr& session() const noexcept { return session_.get(); }

    template <class Start, class Token>
    auto initiate(Start start, Token&& token) {
        return asio::async_initiate<Token, void(error_code)>(initiation<void(error_code)>{executor_}, token,
                                                             start, session_.get());
    }

  private:
    Executor executor_;
    detail::cm_session_handle session_;
};

} // namespace rocio
