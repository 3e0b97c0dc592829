#pragma once

#include <rocio/async/control_handler.hpp>
#include <rocio/fpga/hsb_announcement.hpp>
#include <rocio/types/error.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/udp.hpp>

#include <cstdint>
#include <memory>
#include <utility>

namespace rocio::fpga {

/// An announcement and who sent it; that address is the one to talk to.
struct hsb_sighting {
    hsb_announcement board{};
    boost::asio::ip::address from{};
};

/// What a listener has heard, as values.
struct hsb_listener_snapshot {
    std::uint64_t announcements = 0;
    std::uint64_t ignored = 0; ///< Other datagrams.
};

namespace detail {

using hsb_sighting_completion = async::control_handler<void(error_code, hsb_sighting)>;

/// Everything of a listener that does not depend on the executor's type.
class hsb_listener_core;
using hsb_listener_core_ptr = std::shared_ptr<hsb_listener_core>;

/// Throws rocio::exception: the system's codes.
hsb_listener_core_ptr make_hsb_listener_core(const asio::any_io_executor& executor,
                                             const asio::ip::udp::endpoint& where);

// All may be called from any thread; a null core answers errc::invalid_state.
void start_next(const hsb_listener_core_ptr& core, hsb_sighting_completion handler);
void cancel(const hsb_listener_core_ptr& core);
asio::ip::udp::endpoint local_endpoint_of(const hsb_listener_core_ptr& core);
hsb_listener_snapshot snapshot_of(const hsb_listener_core_ptr& core);
/// Drops the owner's reference: ends the outstanding operation and closes.
void abandon(hsb_listener_core_ptr&& core) noexcept;

/// The owner of a core.
class hsb_listener_handle {
  public:
    explicit hsb_listener_handle(hsb_listener_core_ptr core) noexcept : core_(std::move(core)) {}
    hsb_listener_handle(hsb_listener_handle&&) noexcept = default;
    hsb_listener_handle& operator=(hsb_listener_handle&& other) noexcept {
        if (this != &other) abandon(std::exchange(core_, std::move(other.core_)));
        return *this;
    }
    ~hsb_listener_handle() { abandon(std::move(core_)); }

    const hsb_listener_core_ptr& get() const noexcept { return core_; }

  private:
    hsb_listener_core_ptr core_;
};

} // namespace detail
} // namespace rocio::fpga
