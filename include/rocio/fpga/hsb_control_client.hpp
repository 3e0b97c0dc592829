#pragma once

#include <rocio/async/control_initiation.hpp>
#include <rocio/async/default_token.hpp>
#include <rocio/fpga/detail/hsb_control_core.hpp>
#include <rocio/fpga/hsb_control.hpp>
#include <rocio/fpga/hsb_control_config.hpp>
#include <rocio/fpga/hsb_control_snapshot.hpp>
#include <rocio/fpga/hsb_error.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/ip/udp.hpp>

#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

namespace rocio::fpga {

/// Reads and writes registers of a Holoscan Sensor Bridge FPGA, or of an emulated one, over its UDP control
/// channel: a register bus of 32-bit words.
///
/// One operation at a time, as the FPGA has no room for two: another one that is begun meanwhile completes
/// with rocio::errc::invalid_state and does not disturb the first. A request that is not answered in time is
/// sent again with the same number, so a write may be carried out more than once; registers on which that
/// matters should be written by hand with `tries` of 1. Answers to earlier requests, to somebody else, or
/// from elsewhere are ignored. Memory is bounded: two datagrams, whatever is asked.
///
/// Thread safety: distinct objects: safe. Shared objects: unsafe, but for snapshot().
template <class Executor = asio::any_io_executor>
class basic_hsb_control_client {
    using step = async::control_initiation<void(error_code), Executor>;
    using read = async::control_initiation<void(error_code, std::uint32_t), Executor>;

  public:
    using executor_type = Executor;
    template <class Other>
    struct rebind_executor {
        using other = basic_hsb_control_client<Other>;
    };

    /// Opens a socket; sends nothing. Throws rocio::exception: errc::invalid_argument for a configuration
    /// that validate() refuses or a port of 0, the system's codes (network_unreachable, …).
    explicit basic_hsb_control_client(const Executor& executor, const asio::ip::udp::endpoint& peer,
                                      const hsb_control_config& config = {})
        : executor_(executor), core_(detail::make_hsb_control_core(executor, peer, config)) {}
    template <class Context>
    requires std::is_convertible_v<Context&, asio::execution_context&>
    explicit basic_hsb_control_client(Context& context, const asio::ip::udp::endpoint& peer,
                                      const hsb_control_config& config = {})
        : basic_hsb_control_client(Executor(context.get_executor()), peer, config) {}

    /// A moved-from client may only be destroyed or assigned to. Destruction ends the outstanding operation
    /// with operation_aborted.
    basic_hsb_control_client(basic_hsb_control_client&&) noexcept = default;
    basic_hsb_control_client& operator=(basic_hsb_control_client&&) noexcept = default;
    ~basic_hsb_control_client() = default;

    executor_type get_executor() const noexcept { return executor_; }

    /// Reads one register.
    ///
    /// Effect: as the class says. Preconditions: no other operation is outstanding. Completion signature:
    /// void(error_code, std::uint32_t); the value is 0 when there is an error. Executor: the handler's,
    /// default this object's; never inside this call. Cancellation: `terminal` and `total`: the request is
    /// not repeated and its answer is ignored, but what was sent may still be carried out. Errors:
    /// hsb_errc::no_answer after tries x answer_deadline, hsb_errc::bad_response, an hsb_status when the FPGA
    /// refuses, rocio::errc::invalid_state while another operation is outstanding, operation_aborted, the
    /// system's codes. Thread safety: as this object.
    template <asio::completion_token_for<void(error_code, std::uint32_t)> Token = default_token_t<Executor>>
    auto async_read(std::uint32_t address, Token&& token = default_token_t<Executor>()) {
        return asio::async_initiate<Token, void(error_code, std::uint32_t)>(
            read{executor_}, token, &detail::start_read, core_.get(), address);
    }
    /// Writes one register; complete when the FPGA has acknowledged it. Completion signature:
    /// void(error_code). All else as async_read().
    template <asio::completion_token_for<void(error_code)> Token = default_token_t<Executor>>
    auto async_write(std::uint32_t address, std::uint32_t value,
                     Token&& token = default_token_t<Executor>()) {
        return asio::async_initiate<Token, void(error_code)>(step{executor_}, token, &detail::start_write,
                                                             core_.get(), hsb_register{address, value});
    }
    /// Reads any number of registers, in the order given, registers_per_request to a datagram, and puts their
    /// values into `values`.
    ///
    /// Preconditions: `values` is as long as `addresses`, else rocio::errc::invalid_argument. Lifetimes: both
    /// must outlive the operation. Completion signature: void(error_code); with an error the values are
    /// unspecified. Deadlines hold for each datagram. All else as async_read().
    template <asio::completion_token_for<void(error_code)> Token = default_token_t<Executor>>
    auto async_read_block(std::span<const std::uint32_t> addresses, std::span<std::uint32_t> values,
                          Token&& token = default_token_t<Executor>()) {
        return asio::async_initiate<Token, void(error_code)>(
            step{executor_}, token, &detail::start_read_block, core_.get(), addresses, values);
    }
    /// Writes any number of registers, in the order given, registers_per_request to a datagram. With an error
    /// some of them may be written.
    ///
    /// Lifetimes: `registers` must outlive the operation. Completion signature: void(error_code). All else as
    /// async_read_block().
    template <asio::completion_token_for<void(error_code)> Token = default_token_t<Executor>>
    auto async_write_block(std::span<const hsb_register> registers,
                           Token&& token = default_token_t<Executor>()) {
        return asio::async_initiate<Token, void(error_code)>(
            step{executor_}, token, &detail::start_write_block, core_.get(), registers);
    }

    /// Ends the outstanding operation with operation_aborted. The client is of use afterwards.
    void cancel() { detail::cancel(core_.get()); }
    /// The sentence for the last failure: the register, the peer and what to do. To be asked from the
    /// handler, or while no operation is outstanding.
    error_info last_error() const { return detail::last_error_of(core_.get()); }
    /// Any thread.
    hsb_control_snapshot snapshot() const { return detail::snapshot_of(core_.get()); }

  private:
    Executor executor_;
    detail::hsb_control_handle core_;
};

using hsb_control_client = basic_hsb_control_client<>;

} // namespace rocio::fpga
