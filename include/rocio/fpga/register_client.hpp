#pragma once

#include <rocio/async/control_initiation.hpp>
#include <rocio/async/default_token.hpp>
#include <rocio/fpga/bus_error.hpp>
#include <rocio/fpga/detail/register_client_core.hpp>
#include <rocio/fpga/register_client_snapshot.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>

#include <cstdint>
#include <span>
#include <utility>

namespace rocio::fpga {

/// What the register buses srp_udp_bus, srp_rssi_bus and memory_bridge_bus have in common; made through them.
///
/// Any number of operations may be outstanding; each is one transaction of the board, told apart by its
/// number, so they complete in any order. Answers that fit none, or come twice or too late, are ignored and
/// counted.
///
/// Thread safety: distinct objects: safe. Shared objects: safe, but for move, destruction and last_error().
template <class Executor = asio::any_io_executor>
class basic_register_client {
    using step = async::control_initiation<void(error_code), Executor>;
    using read = async::control_initiation<void(error_code, std::uint32_t), Executor>;

  public:
    using executor_type = Executor;

    /// A moved-from bus may only be destroyed or assigned to. Destruction ends outstanding operations with
    /// operation_aborted, and the connection.
    basic_register_client(basic_register_client&&) noexcept = default;
    basic_register_client& operator=(basic_register_client&&) noexcept = default;

    executor_type get_executor() const noexcept { return executor_; }

    /// Reads one register.
    ///
    /// Effect: one read transaction of 4 bytes. Preconditions: none. Completion signature:
    /// void(error_code, std::uint32_t); the value is 0 when there is an error. Executor: the handler's,
    /// default this object's; never inside this call. Cancellation: `terminal` and `total`: the request is
    /// not repeated and its answer is ignored, but what was sent may still be carried out. Errors: what the
    /// board refuses (an srp_status, or bus_errc::refused from a memory bridge), bus_errc::no_answer,
    /// not_connected and connection_lost, errc::invalid_argument for an address that is no multiple of 4,
    /// errc::stopped after close(), operation_aborted, the system's codes. Thread safety: as this object.
    template <asio::completion_token_for<void(error_code, std::uint32_t)> Token = default_token_t<Executor>>
    auto async_read(std::uint64_t address, Token&& token = default_token_t<Executor>()) {
        return asio::async_initiate<Token, void(error_code, std::uint32_t)>(
            read{executor_}, token, &detail::start_read_word, core_.get(), address);
    }
    /// Writes one register; complete when the board has acknowledged it. Completion signature:
    /// void(error_code). All else as async_read().
    template <asio::completion_token_for<void(error_code)> Token = default_token_t<Executor>>
    auto async_write(std::uint64_t address, std::uint32_t value,
                     Token&& token = default_token_t<Executor>()) {
        return word(detail::access_kind::write, address, value, token);
    }
    /// Writes one register without an acknowledgement: complete when the request is with the network (over
    /// RSSI: on the connection, which repeats it until it has arrived). All else as async_write().
    template <asio::completion_token_for<void(error_code)> Token = default_token_t<Executor>>
    auto async_post(std::uint64_t address, std::uint32_t value, Token&& token = default_token_t<Executor>()) {
        return word(detail::access_kind::post, address, value, token);
    }
    /// Reads 1 to 1024 registers that follow one another, as one transaction, into `values`.
    ///
    /// Lifetimes: `values` must outlive the operation. Completion signature: void(error_code); with an error
    /// the values are unspecified. Errors: errc::invalid_argument for another number of words, too. All else
    /// as async_read().
    template <asio::completion_token_for<void(error_code)> Token = default_token_t<Executor>>
    auto async_read_block(std::uint64_t address, std::span<std::uint32_t> values,
                          Token&& token = default_token_t<Executor>()) {
        return access({detail::access_kind::read, address, values, {}}, token);
    }
    /// Writes 1 to 1024 registers that follow one another, as one transaction. With an error some of them may
    /// be written.
    ///
    /// Lifetimes: `values` must outlive the operation. Completion signature: void(error_code). All else as
    /// async_read_block().
    template <asio::completion_token_for<void(error_code)> Token = default_token_t<Executor>>
    auto async_write_block(std::uint64_t address, std::span<const std::uint32_t> values,
                           Token&& token = default_token_t<Executor>()) {
        return access({detail::access_kind::write, address, {}, values}, token);
    }
    /// Asks for an answer and nothing else: an SRP null request, a memory bridge's probe. Completion
    /// signature: void(error_code). All else as async_read().
    template <asio::completion_token_for<void(error_code)> Token = default_token_t<Executor>>
    auto async_null(Token&& token = default_token_t<Executor>()) {
        return access({}, token);
    }

    /// Ends all outstanding operations with operation_aborted. The bus is of use afterwards.
    void cancel() { detail::cancel(core_.get()); }
    /// Ends all outstanding operations with operation_aborted, and the connection; later ones get
    /// errc::stopped.
    void close() { detail::close(core_.get()); }
    /// The sentence for the last failure: what was asked, the peer and what to do. To be asked from the
    /// handler; with several operations outstanding it may be another one's.
    error_info last_error() const { return detail::last_error_of(core_.get()); }
    /// Any thread.
    register_client_snapshot client_snapshot() const { return detail::snapshot_of(core_.get()); }

  protected:
    basic_register_client(const Executor& executor, detail::register_client_core_ptr core)
        : executor_(executor), core_(std::move(core)) {}
    ~basic_register_client() = default;

  private:
    template <class Token>
    auto word(detail::access_kind kind, std::uint64_t address, std::uint32_t value, Token& token) {
        return asio::async_initiate<Token, void(error_code)>(step{executor_}, token, &detail::start_word,
                                                             core_.get(), kind, address, value);
    }
    template <class Token>
    auto access(const detail::register_access& what, Token& token) {
        return asio::async_initiate<Token, void(error_code)>(step{executor_}, token, &detail::start_access,
                                                             core_.get(), what);
    }

    Executor executor_;
    detail::register_client_handle core_;
};

} // namespace rocio::fpga
