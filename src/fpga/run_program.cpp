#include <rocio/fpga/run_program.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/error.hpp>

namespace rocio::fpga {

namespace detail {

namespace {

using step_kind = register_step::kind;
using clock = std::chrono::steady_clock;

/// Keeps what a cancellable run needs together.
class running_program {
  public:
    using operation = async::cancellable_operation<running_program>;

    running_program(const any_register_bus& bus, std::shared_ptr<register_program> program)
        : strand_(asio::make_strand(bus.get_executor())), run_(strand_, bus), program_(std::move(program)) {}

    const async::control_strand& strand() const noexcept { return strand_; }
    void on_cancel(const operation&) { run_.cancel(); }

    static async::task<std::tuple<error_code>> run(std::shared_ptr<running_program> self,
                                                   std::shared_ptr<operation>) {
        const auto result = co_await self->run_.run(*self->program_);
        co_return std::tuple<error_code>(result.code);
    }

  private:
    async::control_strand strand_;
    program_run run_;
    std::shared_ptr<register_program> program_;
};

} // namespace

program_run::program_run(const async::control_strand& strand, any_register_bus bus)
    : bus_(std::move(bus)), timer_(strand) {}

void program_run::cancel() {
    cancelled_ = true;
    timer_.cancel();
    interrupt_.emit(asio::cancellation_type::terminal);
}

async::task<error_info> program_run::run(register_program& program) {
    while (!cancelled_) {
        const auto step = program.next(clock::now());
        if (step.what == step_kind::end) co_return program.result();
        co_await take(step, program);
    }
    co_return error_info{asio::error::operation_aborted, "cancelled"};
}

async::task<void> program_run::take(const register_step& step, register_program& program) {
    const auto token = [this] { return asio::bind_cancellation_slot(interrupt_.slot(), async::as_result); };
    error_code ec;
    std::uint32_t value = 0;
    switch (step.what) {
    case step_kind::read: {
        auto [code, read] = co_await bus_.async_read(step.address, token());
        ec = code;
        value = read;
        break;
    }
    case step_kind::write: {
        auto [code] = co_await bus_.async_write(step.address, step.value, token());
        ec = code;
        break;
    }
    default:
        timer_.expires_after(step.wait);
        co_await timer_.async_wait(async::as_result);
    }
    if (cancelled_) co_return;
    error_info failure;
    if (ec) {
        failure = bus_.last_error();
        if (failure.code != ec) failure = {ec, ec.message()};
    }
    program.on_result(failure, value, clock::now());
}

void start_program(const any_register_bus& bus, std::shared_ptr<register_program> program,
                   async::control_handler<void(error_code)> handler) {
    auto running = std::make_shared<running_program>(bus, std::move(program));
    auto op = std::make_shared<running_program::operation>(running);
    async::relay_cancellation(handler.slot(), op);
    async::run_task(running->strand(), running_program::run(running, op), std::move(handler));
}

} // namespace detail

} // namespace rocio::fpga
