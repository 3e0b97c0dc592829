#pragma once

#include <rocio/async/control_handler.hpp>
#include <rocio/fpga/any_register_bus.hpp>
#include <rocio/fpga/hsb_channel_config.hpp>
#include <rocio/fpga/hsb_channel_snapshot.hpp>
#include <rocio/types/parameters.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <memory>
#include <utility>

namespace rocio::fpga::detail {

using hsb_exchange_completion = async::control_handler<void(error_code, peer_parameters)>;
using hsb_channel_completion = async::control_handler<void(error_code)>;

/// One connection with an FPGA; everything that does not depend on the executor's type. All of its functions
/// may be called from any thread; the operations run on a strand of its own.
class hsb_channel_session;
using hsb_channel_session_ptr = std::shared_ptr<hsb_channel_session>;

/// Throws rocio::exception(errc::invalid_argument).
hsb_channel_session_ptr make_hsb_channel_session(const asio::any_io_executor& executor,
                                                 const any_register_bus& bus,
                                                 const hsb_channel_config& config);

// A null session answers errc::invalid_state.
void start_hsb_exchange(const hsb_channel_session_ptr& session, const local_parameters& local,
                        hsb_exchange_completion handler);
void start_hsb_ready(const hsb_channel_session_ptr& session, hsb_channel_completion handler);
void start_hsb_wait_lost(const hsb_channel_session_ptr& session, hsb_channel_completion handler);
void start_hsb_release(const hsb_channel_session_ptr& session, hsb_channel_completion handler);
error_info last_error_of(const hsb_channel_session_ptr& session);
hsb_channel_snapshot snapshot_of(const hsb_channel_session_ptr& session);
/// Drops the owner's reference: ends what goes on. The FPGA is not told.
void abandon(hsb_channel_session_ptr&& session) noexcept;

/// The owner of a session.
class hsb_channel_handle {
  public:
    explicit hsb_channel_handle(hsb_channel_session_ptr session) noexcept : session_(std::move(session)) {}
    hsb_channel_handle(hsb_channel_handle&&) noexcept = default;
    hsb_channel_handle& operator=(hsb_channel_handle&& other) noexcept {
        if (this != &other) abandon(std::exchange(session_, std::move(other.session_)));
        return *this;
    }
    ~hsb_channel_handle() { abandon(std::move(session_)); }

    const hsb_channel_session_ptr& get() const noexcept { return session_; }

  private:
    hsb_channel_session_ptr session_;
};

} // namespace rocio::fpga::detail
