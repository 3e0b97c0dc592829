#pragma once

#include <rocio/async/default_token.hpp>
#include <rocio/connect/cm_acceptor_config.hpp>
#include <rocio/connect/cm_acceptor_snapshot.hpp>
#include <rocio/connect/cm_peer.hpp>
#include <rocio/connect/detail/cm_acceptor_core.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/execution_context.hpp>

#include <memory>
#include <type_traits>
#include <utility>

namespace rocio {

/// The listening side of rdma_cm: takes requests for connections from any program, rocio or not.
///
/// Requests are taken from the system while an async_accept() or one of its peers' operations is outstanding;
/// in between they wait there. A request that comes through another RDMA device than this one's is rejected.
///
/// Thread safety: distinct objects: safe. Shared objects: unsafe, but for snapshot() and handshake().
template <class Executor = asio::any_io_executor>
class basic_cm_acceptor {
    template <class>
    friend class basic_cm_acceptor;

  public:
    using executor_type = Executor;
    template <class Other>
    struct rebind_executor {
        using other = basic_cm_acceptor<Other>;
    };
    using peer_type = basic_cm_peer<Executor>;

    /// Listens from now on. Throws rocio::exception: errc::invalid_argument, errc::not_supported for a device
    /// without rdma_cm (soft), errc::address_not_available, the system's codes (address_in_use, …).
    explicit basic_cm_acceptor(const Executor& executor, const std::shared_ptr<device>& dev,
                               const cm_acceptor_config& config = {})
        : executor_(executor), core_(detail::make_cm_acceptor(executor, dev, config)) {}
    template <class Context>
    requires std::is_convertible_v<Context&, asio::execution_context&>
    explicit basic_cm_acceptor(Context& context, const std::shared_ptr<device>& dev,
                               const cm_acceptor_config& config = {})
        : basic_cm_acceptor(Executor(context.get_executor()), dev, config) {}

    /// A moved-from acceptor may only be destroyed or assigned to.
    basic_cm_acceptor(basic_cm_acceptor&&) noexcept = default;
    template <class Other>
    requires std::is_convertible_v<Other, Executor>
    explicit basic_cm_acceptor(basic_cm_acceptor<Other>&& other)
        : executor_(other.executor_), core_(std::move(other.core_)) {}
    basic_cm_acceptor& operator=(basic_cm_acceptor&& other) noexcept {
        if (this == &other) return *this;
        detail::abandon(std::move(core_));
        executor_ = other.executor_;
        core_ = std::move(other.core_);
        return *this;
    }
    /// As close().
    ~basic_cm_acceptor() { detail::abandon(std::move(core_)); }

    executor_type get_executor() const noexcept { return executor_; }
    /// Where it listens, with the real port.
    asio::ip::tcp::endpoint local_endpoint() const { return detail::local_endpoint_of(core_); }
    /// What it has seen. Any thread.
    cm_acceptor_snapshot snapshot() const { return detail::snapshot_of(core_); }
    /// How connections were made here, for the status. Any thread.
    handshake_snapshot handshake() const { return detail::handshake_of(core_); }

    /// Waits for the next request.
    ///
    /// Effect: requests whose program gave up meanwhile, or that waited longer than `patience`, are left out.
    /// Preconditions: none; several may be outstanding, and get requests in the order they began. Lifetimes:
    /// the peer does not need the acceptor any more. Completion signature: void(error_code,
    /// basic_cm_peer<Executor>); the peer is none when there is an error. Executor: the handler's, default
    /// this object's; never inside this call. Cancellation: `terminal` and `total`. Errors: operation_aborted
    /// after cancel() or close(), asio::error::bad_descriptor when it is closed already, errc::device_fatal.
    /// Thread safety: as this object.
    template <asio::completion_token_for<void(error_code, peer_type)> Token = default_token_t<Executor>>
    auto async_accept(Token&& token = default_token_t<Executor>()) {
        return asio::async_initiate<Token, void(error_code, peer_type)>(
            detail::initiate_accept<peer_type, detail::cm_session>{executor_}, token, core_);
    }

    /// Ends every async_accept() with operation_aborted.
    void cancel() { detail::cancel(core_); }
    /// Stops listening, rejects the requests that nobody accepted, and ends every async_accept() with
    /// operation_aborted, soon: its address is free when the context has run what close() left to it. Peers
    /// that were accepted go on.
    void close() { detail::close(core_); }

  private:
    Executor executor_;
    detail::cm_acceptor_ptr core_;
};

using cm_acceptor = basic_cm_acceptor<>;

} // namespace rocio
