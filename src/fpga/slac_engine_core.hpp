#pragma once

#include <rocio/async/control_strand.hpp>
#include <rocio/fpga/detail/slac_engine_core.hpp>
#include <rocio/fpga/run_program.hpp>

#include <memory>
#include <mutex>
#include <tuple>
#include <vector>

namespace rocio::fpga::detail {

/// One host's dealings with one engine, a program at a time. All of it runs on a strand of its own, whatever
/// executor the user's object has; before(), last_error() and snapshot() excepted.
class slac_engine_core : public std::enable_shared_from_this<slac_engine_core> {
  public:
    using operation = async::cancellable_operation<slac_engine_core>;
    using operation_ptr = std::shared_ptr<operation>;
    template <class T>
    using task = async::task<T>;
    using step_result = std::tuple<error_code>;
    using exchange_result = std::tuple<error_code, peer_parameters>;
    using setup_result = std::tuple<error_code, slac_connection>;
    using counters_result = std::tuple<error_code, slac_engine_counters>;

    slac_engine_core(const asio::any_io_executor& executor, any_register_bus bus, const gid& fpga,
                     const slac_engine_config& config, const slac_transport& transport);

    const async::control_strand& strand() const noexcept { return strand_; }
    void on_cancel(const operation& op);
    /// The owner is gone: whatever goes on ends soon.
    void interrupt();

    void before(std::shared_ptr<register_program> program);
    error_info last_error() const;
    slac_engine_snapshot snapshot() const { return session_->snapshot(); }

    static task<exchange_result> exchange(slac_engine_core_ptr self, operation_ptr op,
                                          local_parameters local);
    static task<step_result> ready(slac_engine_core_ptr self, operation_ptr op);
    static task<step_result> wait_lost(slac_engine_core_ptr self, operation_ptr op);
    static task<step_result> release(slac_engine_core_ptr self, operation_ptr op);
    static task<setup_result> setup(slac_engine_core_ptr self, operation_ptr op, slac_host host);
    static task<step_result> teardown(slac_engine_core_ptr self, operation_ptr op);
    static task<step_result> arm(slac_engine_core_ptr self, operation_ptr op, slac_data_path path);
    static task<step_result> disarm(slac_engine_core_ptr self, operation_ptr op);
    static task<counters_result> counters(slac_engine_core_ptr self, operation_ptr op);

  private:
    class place;
    class bus_turn;

    error_info remember(error_info e);
    error_info busy(const char* what);
    error_info judge(const local_parameters& local) const;
    task<error_info> negotiate(const operation& op, const local_parameters& local);
    /// Runs a program when the bus is free.
    task<error_info> run(const operation& op, register_program& program);
    task<error_info> watch(const operation& op);
    task<error_info> undo_all(const operation& op);
    slac_connection connection() const;

    async::control_strand strand_;
    any_register_bus bus_;
    gid fpga_;
    slac_engine_config config_;
    slac_transport transport_;
    std::shared_ptr<slac_session> session_ = std::make_shared<slac_session>();
    slac_data_path path_{};

    operation* current_ = nullptr; ///< All but counters have this one place.
    const operation* on_bus_ = nullptr;
    program_run* running_ = nullptr;
    bool link_lost_ = false, closed_ = false;
    async::control_timer changed_; ///< Cancelled when current_ or on_bus_ gets free, and by a cancellation.
    async::control_timer pause_;   ///< Between two looks.

    mutable std::mutex mutex_; ///< Guards the following.
    error_info last_error_{};
    std::vector<std::shared_ptr<register_program>> before_{};
};

} // namespace rocio::fpga::detail
