#pragma once

#include <rocio/async/control_handler.hpp>
#include <rocio/fpga/hsb_control.hpp>
#include <rocio/fpga/hsb_control_config.hpp>
#include <rocio/fpga/hsb_control_snapshot.hpp>
#include <rocio/types/error.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/ip/udp.hpp>

#include <cstdint>
#include <memory>
#include <span>
#include <utility>

namespace rocio::fpga::detail {

using hsb_read_completion = async::control_handler<void(error_code, std::uint32_t)>;
using hsb_step_completion = async::control_handler<void(error_code)>;

/// Everything of a client that does not depend on the executor's type.
class hsb_control_core;
using hsb_control_core_ptr = std::shared_ptr<hsb_control_core>;

/// Throws rocio::exception: errc::invalid_argument, the system's codes.
hsb_control_core_ptr make_hsb_control_core(const asio::any_io_executor& executor,
                                           const asio::ip::udp::endpoint& peer,
                                           const hsb_control_config& config);

// All may be called from any thread; a null core (a moved-from client) answers rocio::errc::invalid_state.
void start_read(const hsb_control_core_ptr& core, std::uint32_t address, hsb_read_completion handler);
void start_write(const hsb_control_core_ptr& core, hsb_register what, hsb_step_completion handler);
void start_read_block(const hsb_control_core_ptr& core, std::span<const std::uint32_t> addresses,
                      std::span<std::uint32_t> values, hsb_step_completion handler);
void start_write_block(const hsb_control_core_ptr& core, std::span<const hsb_register> registers,
                       hsb_step_completion handler);
void cancel(const hsb_control_core_ptr& core);
error_info last_error_of(const hsb_control_core_ptr& core);
hsb_control_snapshot snapshot_of(const hsb_control_core_ptr& core);
/// Drops the owner's reference: ends the outstanding operation.
void abandon(hsb_control_core_ptr&& core) noexcept;

/// The owner of a core.
class hsb_control_handle {
  public:
    explicit hsb_control_handle(hsb_control_core_ptr core) noexcept : core_(std::move(core)) {}
    hsb_control_handle(hsb_control_handle&&) noexcept = default;
    hsb_control_handle& operator=(hsb_control_handle&& other) noexcept {
        if (this != &other) abandon(std::exchange(core_, std::move(other.core_)));
        return *this;
    }
    ~hsb_control_handle() { abandon(std::move(core_)); }

    const hsb_control_core_ptr& get() const noexcept { return core_; }

  private:
    hsb_control_core_ptr core_;
};

} // namespace rocio::fpga::detail
