#pragma once

#include <rocio/async/control_initiation.hpp>
#include <rocio/async/default_token.hpp>
#include <rocio/fpga/detail/hsb_listener_core.hpp>
#include <rocio/fpga/hsb_announcement.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/ip/udp.hpp>

#include <type_traits>
#include <utility>

namespace rocio::fpga {

/// Hears the announcements of Holoscan Sensor Bridge FPGAs: each says once a second by broadcast that it is
/// there. The port may be shared with other listeners of this machine (SO_REUSEADDR, SO_REUSEPORT), the
/// vendor's too; broadcasts reach all of them. Gives each announcement as it comes: the same FPGA every
/// second.
///
/// Thread safety: distinct objects: safe. Shared objects: unsafe, but for snapshot().
template <class Executor = asio::any_io_executor>
class basic_hsb_listener {
  public:
    using executor_type = Executor;
    template <class Other>
    struct rebind_executor {
        using other = basic_hsb_listener<Other>;
    };

    static asio::ip::udp::endpoint everywhere() {
        return {asio::ip::address_v4::any(), hsb_announcement_port};
    }

    /// Binds; from then on the system keeps what comes until it is taken (some hundred announcements). Throws
    /// rocio::exception: the system's codes.
    explicit basic_hsb_listener(const Executor& executor, const asio::ip::udp::endpoint& where = everywhere())
        : executor_(executor), core_(detail::make_hsb_listener_core(executor, where)) {}
    template <class Context>
    requires std::is_convertible_v<Context&, asio::execution_context&>
    explicit basic_hsb_listener(Context& context, const asio::ip::udp::endpoint& where = everywhere())
        : basic_hsb_listener(Executor(context.get_executor()), where) {}

    /// A moved-from listener may only be destroyed or assigned to. Destruction ends the outstanding operation
    /// with operation_aborted.
    basic_hsb_listener(basic_hsb_listener&&) noexcept = default;
    basic_hsb_listener& operator=(basic_hsb_listener&&) noexcept = default;
    ~basic_hsb_listener() = default;

    executor_type get_executor() const noexcept { return executor_; }
    asio::ip::udp::endpoint local_endpoint() const { return detail::local_endpoint_of(core_.get()); }

    /// Takes the next announcement.
    ///
    /// Effect: waits for one; other datagrams are counted and dropped. Preconditions: no other operation is
    /// outstanding. Completion signature: void(error_code, hsb_sighting). Executor: the handler's, default
    /// this object's; never inside this call. Cancellation: `terminal` and `total`: nothing is lost.
    /// Errors: errc::invalid_state while another is outstanding, operation_aborted, the system's codes.
    /// Thread safety: as this object.
    template <asio::completion_token_for<void(error_code, hsb_sighting)> Token = default_token_t<Executor>>
    auto async_next(Token&& token = default_token_t<Executor>()) {
        return asio::async_initiate<Token, void(error_code, hsb_sighting)>(
            async::control_initiation<void(error_code, hsb_sighting), Executor>{executor_}, token,
            &detail::start_next, core_.get());
    }
    /// Ends the outstanding operation with operation_aborted. The listener is of use afterwards.
    void cancel() { detail::cancel(core_.get()); }
    /// Any thread.
    hsb_listener_snapshot snapshot() const { return detail::snapshot_of(core_.get()); }

  private:
    Executor executor_;
    detail::hsb_listener_handle core_;
};

using hsb_listener = basic_hsb_listener<>;

} // namespace rocio::fpga
