#pragma once

#include <rocio/async/control_handler.hpp>
#include <rocio/fpga/any_register_bus.hpp>
#include <rocio/fpga/slac_engine_config.hpp>
#include <rocio/fpga/slac_engine_snapshot.hpp>
#include <rocio/fpga/slac_programs.hpp>
#include <rocio/types/error.hpp>
#include <rocio/types/gid.hpp>
#include <rocio/types/parameters.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <cstdint>
#include <memory>
#include <utility>

namespace rocio::fpga {

namespace detail {

using slac_step_completion = async::control_handler<void(error_code)>;
using slac_exchange_completion = async::control_handler<void(error_code, peer_parameters)>;
using slac_setup_completion = async::control_handler<void(error_code, slac_connection)>;
using slac_counters_completion = async::control_handler<void(error_code, slac_engine_counters)>;

/// Everything of an engine that does not depend on the executor's type.
class slac_engine_core;
using slac_engine_core_ptr = std::shared_ptr<slac_engine_core>;

/// Throws rocio::exception(errc::invalid_argument).
slac_engine_core_ptr make_slac_engine_core(const asio::any_io_executor& executor, any_register_bus bus,
                                           const gid& fpga, const slac_engine_config& config,
                                           const slac_transport& transport);

// All may be called from any thread; a null core (a moved-from engine) answers errc::invalid_state.
void run_before(const slac_engine_core_ptr& core, std::shared_ptr<register_program> program);
void start_slac_exchange(const slac_engine_core_ptr& core, const local_parameters& local,
                         slac_exchange_completion handler);
void start_slac_ready(const slac_engine_core_ptr& core, slac_step_completion handler);
void start_slac_wait_lost(const slac_engine_core_ptr& core, slac_step_completion handler);
void start_slac_release(const slac_engine_core_ptr& core, slac_step_completion handler);
void start_slac_setup(const slac_engine_core_ptr& core, const slac_host& host, slac_setup_completion handler);
void start_slac_teardown(const slac_engine_core_ptr& core, slac_step_completion handler);
void start_slac_arm(const slac_engine_core_ptr& core, const slac_data_path& path,
                    slac_step_completion handler);
void start_slac_disarm(const slac_engine_core_ptr& core, slac_step_completion handler);
void start_slac_counters(const slac_engine_core_ptr& core, slac_counters_completion handler);
error_info last_error_of(const slac_engine_core_ptr& core);
slac_engine_snapshot snapshot_of(const slac_engine_core_ptr& core);
/// Drops the owner's reference: ends what is outstanding.
void abandon(slac_engine_core_ptr&& core) noexcept;

/// The owner of a core.
class slac_engine_handle {
  public:
    explicit slac_engine_handle(slac_engine_core_ptr core) noexcept : core_(std::move(core)) {}
    slac_engine_handle(slac_engine_handle&&) noexcept = default;
    slac_engine_handle& operator=(slac_engine_handle&& other) noexcept {
        if (this != &other) abandon(std::exchange(core_, std::move(other.core_)));
        return *this;
    }
    ~slac_engine_handle() { abandon(std::move(core_)); }

    const slac_engine_core_ptr& get() const noexcept { return core_; }

  private:
    slac_engine_core_ptr core_;
};

} // namespace detail

} // namespace rocio::fpga
