#pragma once

#include <rocio/async/control_initiation.hpp>
#include <rocio/async/default_token.hpp>
#include <rocio/fpga/any_register_bus.hpp>
#include <rocio/fpga/detail/slac_engine_core.hpp>
#include <rocio/fpga/slac_engine_config.hpp>
#include <rocio/fpga/slac_engine_snapshot.hpp>
#include <rocio/fpga/slac_programs.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/execution_context.hpp>

#include <memory>
#include <type_traits>
#include <utility>

namespace rocio::fpga {

/// The RoCEv2 engine of a SLAC FPGA (surf's RoCEv2AxiStreamRdma), reached over any register bus: a handshake
/// (rocio/types/handshake.hpp), so that async_connect() and receive_server connect to the board as to any
/// other peer; and the procedures it is made of, for those who bring their own connection up.
///
/// The FPGA only sends: its first frame has the PSN that our queue pair expects, its receiver gets our send
/// PSN, though nothing is ever sent there. With one PSN for both directions, as queue_pair draws it, the
/// contradicting readings of the original's variable names come to the same.
///
/// At most one operation may be outstanding, another one ends with errc::invalid_state; async_read_counters()
/// may come at any time and waits for the bus, and async_release() ends what is outstanding. Programs run one
/// after the other, so the bus needs to carry one access at a time; nobody else should use it meanwhile.
/// Every operation ends within the deadlines of the configuration plus those of the bus. The object can be
/// used again after async_release().
///
/// Thread safety: distinct objects: safe. Shared objects: unsafe, but for snapshot().
template <class Executor = asio::any_io_executor>
class basic_slac_engine {
    template <class>
    friend class basic_slac_engine;
    template <class... Args>
    using initiation = async::control_initiation<void(Args...), Executor>;

  public:
    using executor_type = Executor;
    template <class Other>
    struct rebind_executor {
        using other = basic_slac_engine<Other>;
    };

    /// Does not touch the board. `fpga` is the address that the FPGA's frames come from (its IPv4 address,
    /// mapped). Throws rocio::exception(errc::invalid_argument) for what validate() refuses and a zero
    /// address.
    basic_slac_engine(const Executor& executor, any_register_bus bus, const gid& fpga,
                      const slac_engine_config& config = {}, const slac_transport& transport = {})
        : executor_(executor),
          core_(detail::make_slac_engine_core(executor, std::move(bus), fpga, config, transport)) {}
    template <class Context>
    requires std::is_convertible_v<Context&, asio::execution_context&>
    basic_slac_engine(Context& context, any_register_bus bus, const gid& fpga,
                      const slac_engine_config& config = {}, const slac_transport& transport = {})
        : basic_slac_engine(Executor(context.get_executor()), std::move(bus), fpga, config, transport) {}

    /// A moved-from engine may only be destroyed or assigned to. Destruction ends what is outstanding with
    /// operation_aborted and leaves the board as it is: async_release() first.
    basic_slac_engine(basic_slac_engine&&) noexcept = default;
    template <class Other>
    requires std::is_convertible_v<Other, Executor>
    explicit basic_slac_engine(basic_slac_engine<Other>&& other)
        : executor_(other.executor_), core_(std::move(other.core_)) {}
    basic_slac_engine& operator=(basic_slac_engine&& other) noexcept {
        executor_ = other.executor_;
        core_ = std::move(other.core_);
        return *this;
    }
    ~basic_slac_engine() = default;

    executor_type get_executor() const noexcept { return executor_; }

    /// Adds a program that the next async_exchange() runs before its own, in the order given: what the board
    /// needs first, such as the host's address in the UDP engine. Each is run once, then dropped. Any thread.
    void before(std::shared_ptr<register_program> program) {
        detail::run_before(core_.get(), std::move(program));
    }

    /// Makes the FPGA's end of the connection.
    ///
    /// Effect: runs the programs of before(), then slac_setup with our numbers. A failure is rolled back.
    /// Preconditions: no connection stands. Lifetimes: `local` is copied. Completion signature:
    /// void(error_code, peer_parameters): the FPGA's address, queue pair number, PSNs and path MTU; the key
    /// of its region is the lkey that the FPGA's own work requests use. Executor: the handler's, default this
    /// object's; never inside this call. Cancellation: `terminal` and `total`; async_release() then frees
    /// what there is. Errors: errc::path_mtu_mismatch when our queue pair and the transport differ, those of
    /// slac_setup and of the programs given; last_error() names the stage. Thread safety: as this object.
    template <asio::completion_token_for<void(error_code, peer_parameters)> Token = default_token_t<Executor>>
    auto async_exchange(const local_parameters& local, Token&& token = default_token_t<Executor>()) {
        return asio::async_initiate<Token, void(error_code, peer_parameters)>(
            initiation<error_code, peer_parameters>{executor_}, token, &detail::start_slac_exchange,
            core_.get(), local);
    }
    /// Starts the data path (slac_arm) for the host of async_exchange().
    ///
    /// Preconditions: async_exchange() succeeded and our queue pair can receive. Completion signature:
    /// void(error_code). Executor and cancellation as async_exchange(). Errors: those of slac_arm. Thread
    /// safety: as this object.
    template <asio::completion_token_for<void(error_code)> Token = default_token_t<Executor>>
    auto async_ready(Token&& token = default_token_t<Executor>()) {
        return step(&detail::start_slac_ready, std::forward<Token>(token));
    }
    /// Reads DispatchEnable every liveness_interval until the board is lost.
    ///
    /// Preconditions: async_ready() succeeded. Completion signature: void(error_code), never success.
    /// Executor: the handler's, default this object's; never inside this call. Cancellation: `terminal` and
    /// `total`; may be called again. Errors: errc::peer_lost when register_link_tries reads in a row failed,
    /// or when the register reads 0: the board restarted or was switched off by somebody else.
    /// operation_aborted after async_release(). Thread safety: as this object.
    template <asio::completion_token_for<void(error_code)> Token = default_token_t<Executor>>
    auto async_wait_lost(Token&& token = default_token_t<Executor>()) {
        return step(&detail::start_slac_wait_lost, std::forward<Token>(token));
    }
    /// Ends what is outstanding, switches the data path off, frees what the board has for us and pulses
    /// SoftReset; also after a failure or a cancellation half way. Without anything to undo it sends nothing.
    ///
    /// Completion signature: void(error_code). Executor: the handler's, default this object's; never inside
    /// this call. Cancellation: none; the deadlines bound it. Errors: the bus's when the board cannot be
    /// reached, which then keeps what it has. Thread safety: as this object.
    template <asio::completion_token_for<void(error_code)> Token = default_token_t<Executor>>
    auto async_release(Token&& token = default_token_t<Executor>()) {
        return step(&detail::start_slac_release, std::forward<Token>(token));
    }

    /// slac_setup alone. Completion signature: void(error_code, slac_connection). All else as
    /// async_exchange(), without the programs of before().
    template <asio::completion_token_for<void(error_code, slac_connection)> Token = default_token_t<Executor>>
    auto async_setup_connection(const slac_host& host, Token&& token = default_token_t<Executor>()) {
        return asio::async_initiate<Token, void(error_code, slac_connection)>(
            initiation<error_code, slac_connection>{executor_}, token, &detail::start_slac_setup, core_.get(),
            host);
    }
    /// slac_teardown alone: disarm first. Completion signature: void(error_code). Executor and cancellation
    /// as async_exchange(); async_release() then goes on with it. Errors: those of slac_teardown.
    template <asio::completion_token_for<void(error_code)> Token = default_token_t<Executor>>
    auto async_teardown_connection(Token&& token = default_token_t<Executor>()) {
        return step(&detail::start_slac_teardown, std::forward<Token>(token));
    }
    /// slac_arm alone, after async_setup_connection(). Completion signature: void(error_code). Executor and
    /// cancellation as async_exchange(). Errors: those of slac_arm.
    template <asio::completion_token_for<void(error_code)> Token = default_token_t<Executor>>
    auto async_arm(const slac_data_path& path, Token&& token = default_token_t<Executor>()) {
        return asio::async_initiate<Token, void(error_code)>(initiation<error_code>{executor_}, token,
                                                             &detail::start_slac_arm, core_.get(), path);
    }
    /// slac_disarm alone. Completion signature: void(error_code). Executor and cancellation as
    /// async_exchange(). Errors: those of slac_disarm.
    template <asio::completion_token_for<void(error_code)> Token = default_token_t<Executor>>
    auto async_disarm(Token&& token = default_token_t<Executor>()) {
        return step(&detail::start_slac_disarm, std::forward<Token>(token));
    }
    /// Reads the Core's counters and monitors. May be outstanding beside one other operation: it waits until
    /// that one does not use the bus. Completion signature: void(error_code, slac_engine_counters). Executor
    /// and cancellation as async_exchange(). Errors: the bus's.
    template <
        asio::completion_token_for<void(error_code, slac_engine_counters)> Token = default_token_t<Executor>>
    auto async_read_counters(Token&& token = default_token_t<Executor>()) {
        return asio::async_initiate<Token, void(error_code, slac_engine_counters)>(
            initiation<error_code, slac_engine_counters>{executor_}, token, &detail::start_slac_counters,
            core_.get());
    }

    /// The last failure with its sentence. Any thread.
    error_info last_error() const { return detail::last_error_of(core_.get()); }
    /// Any thread.
    slac_engine_snapshot snapshot() const { return detail::snapshot_of(core_.get()); }

  private:
    template <class Start, class Token>
    auto step(Start start, Token&& token) {
        return asio::async_initiate<Token, void(error_code)>(initiation<error_code>{executor_}, token, start,
                                                             core_.get());
    }

    Executor executor_;
    detail::slac_engine_handle core_;
};

using slac_engine = basic_slac_engine<>;

} // namespace rocio::fpga
