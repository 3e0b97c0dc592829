#pragma once

#include <rocio/async/control_initiation.hpp>
#include <rocio/async/control_strand.hpp>
#include <rocio/async/default_token.hpp>
#include <rocio/fpga/any_register_bus.hpp>
#include <rocio/fpga/register_program.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/cancellation_signal.hpp>

#include <memory>
#include <tuple>
#include <utility>

namespace rocio::fpga {

namespace detail {

/// One run of a program, for those that run it as a step of their own on a control strand.
class program_run {
  public:
    program_run(const async::control_strand& strand, any_register_bus bus);

    /// Runs the program to its end and gives its result, or operation_aborted after cancel(). The program
    /// must outlive the task. One at a time.
    async::task<error_info> run(register_program& program);
    /// On the strand: the current run, and each later one, ends as soon as it can.
    void cancel();

  private:
    async::task<void> take(const register_step& step, register_program& program);

    any_register_bus bus_;
    async::control_timer timer_;
    asio::cancellation_signal interrupt_;
    bool cancelled_ = false;
};

void start_program(const any_register_bus& bus, std::shared_ptr<register_program> program,
                   async::control_handler<void(error_code)> handler);

} // namespace detail

/// Drives a program over a register bus to its end.
///
/// Effect: takes the program's steps one after the other. Preconditions: nothing else uses the bus
/// meanwhile. Lifetimes: the operation holds the bus and the program. Completion signature:
/// void(error_code): the code of the program's result(), which has the sentence. Executor: the handler's,
/// default the bus's; never inside this call. Cancellation: `terminal` and `total`: no further step is taken,
/// the last one may still be carried out, and the program is not rolled back. Errors: the program's;
/// operation_aborted. Thread safety: as the bus.
template <asio::completion_token_for<void(error_code)> Token = default_token_t<asio::any_io_executor>>
auto async_run(const any_register_bus& bus, std::shared_ptr<register_program> program,
               Token&& token = default_token_t<asio::any_io_executor>()) {
    return asio::async_initiate<Token, void(error_code)>(
        async::control_initiation<void(error_code), asio::any_io_executor>{bus.get_executor()}, token,
        &detail::start_program, bus, std::move(program));
}

} // namespace rocio::fpga
