#pragma once

#include <rocio/connect/cm_handshake.hpp>

#include <boost/asio/execution_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <memory>
#include <type_traits>
#include <utility>

namespace rocio {

/// The connecting side of rdma_cm. Serves one connection.
/// `co_await async_connect(qp, cm_connector(executor, dev, parse_endpoint("10.0.0.2:4000")))`.
///
/// The port is one of rdma_cm's (RDMA_PS_TCP), not of TCP. The connection leaves through the queue pair's
/// device, whatever the system's routes say: its address is the source.
template <class Executor = asio::any_io_executor>
class basic_cm_connector : public basic_cm_handshake<Executor> {
  public:
    template <class Other>
    struct rebind_executor {
        using other = basic_cm_connector<Other>;
    };

    /// `dev` is the queue pair's device. Throws rocio::exception: errc::invalid_argument, errc::not_supported
    /// for a device without rdma_cm (soft), the system's codes.
    explicit basic_cm_connector(const Executor& executor, const std::shared_ptr<device>& dev,
                                const asio::ip::tcp::endpoint& peer, const cm_config& config = {})
        : basic_cm_handshake<Executor>(executor, detail::make_cm_session(executor, dev, peer, config)) {}
    template <class Context>
    requires std::is_convertible_v<Context&, asio::execution_context&>
    explicit basic_cm_connector(Context& context, const std::shared_ptr<device>& dev,
                                const asio::ip::tcp::endpoint& peer, const cm_config& config = {})
        : basic_cm_connector(Executor(context.get_executor()), dev, peer, config) {}

    basic_cm_connector(basic_cm_connector&&) noexcept = default;
    template <class Other>
    requires std::is_convertible_v<Other, Executor>
    explicit basic_cm_connector(basic_cm_connector<Other>&& other)
        : basic_cm_handshake<Executor>(std::move(other)) {}
    basic_cm_connector& operator=(basic_cm_connector&&) noexcept = default;
};

using cm_connector = basic_cm_connector<>;

} // namespace rocio
