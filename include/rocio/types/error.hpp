#pragma once

#include <boost/system/error_category.hpp>
#include <boost/system/error_code.hpp>
#include <boost/system/error_condition.hpp>
#include <boost/system/system_error.hpp>

#include <stdexcept>
#include <string>
#include <type_traits>

namespace rocio {

using error_code = boost::system::error_code;
using error_condition = boost::system::error_condition;

/// Everything that can go wrong in rocio, the same value on every device: a verbs status and a soft-device
/// status for one cause compare equal.
enum class errc : int {
    success = 0,

    // Work completions (the InfiniBand completion statuses, IBA 11.6.2).
    local_length_error,     ///< Message longer than the posted buffer, or longer than the path allows.
    local_operation_error,  ///< The queue pair could not carry the work request out.
    local_protection_error, ///< The posted buffer is not inside a region with the needed rights.
    work_request_flushed,   ///< The queue pair went to the error state before this work request was done.
    bad_response,           ///< The peer answered with something that does not fit the request.
    remote_invalid_request, ///< The peer calls the request invalid (NAK 0x61).
    remote_access_error,    ///< The peer refuses the key, range or right (NAK 0x62).
    remote_operation_error, ///< The peer could not carry the request out (NAK 0x63).
    retry_exceeded,         ///< No acknowledgement after all retries.
    rnr_retry_exceeded,     ///< The peer had no receive posted after all RNR retries.

    // Queue pairs and memory.
    invalid_state,       ///< The object is in a state that does not allow the call.
    queue_full,          ///< The work queue has no free place; wait for a completion.
    message_too_long,    ///< Longer than the device's or the region's limit.
    inline_too_long,     ///< Longer than the queue pair's inline limit.
    not_in_region,       ///< The bytes do not lie inside the registered region.
    invalid_argument,    ///< A value outside its documented range.
    limit_exceeded,      ///< More than the device has; the text names attribute, asked and allowed value.
    registration_failed, ///< Memory could not be registered (often RLIMIT_MEMLOCK).
    region_too_large,    ///< depth x payload does not fit 32 bits.

    // Devices.
    not_supported,            ///< This device does not implement the operation.
    no_devices,               ///< No RDMA device at all.
    device_not_found,         ///< No device of that name.
    invalid_device_name,      ///< The name cannot be parsed.
    address_in_use,           ///< Another process holds the UDP port on this address.
    address_in_use_by_kernel, ///< The kernel's rdma_rxe holds the UDP port.
    address_not_available,    ///< The address is on no interface of this machine.
    device_bound,             ///< The device already belongs to another execution context.
    device_fatal,             ///< The device is gone.
    port_down,                ///< The port has no link.
    verbs_not_built,          ///< Built with -DROCIO_VERBS=OFF.

    // Addressing.
    no_usable_gid,      ///< No entry of the GID table serves; the text shows the table.
    invalid_gid_index,  ///< The index is outside the table or its entry is empty.
    path_mtu_too_large, ///< The port does not carry this path MTU.

    // Execution contexts.
    unsupported_context, ///< The execution context is not an io_context.

    // Handshakes.
    handshake_timed_out,     ///< The other side did not take its step in time.
    handshake_malformed,     ///< Not a rocio rendezvous, or a damaged one.
    version_mismatch,        ///< The peer speaks another version of the rendezvous.
    geometry_mismatch,       ///< Payload or depth of the two sides do not fit.
    path_mtu_mismatch,       ///< The two sides ask for different path MTUs.
    invalid_peer_parameters, ///< The peer's numbers are outside their ranges.
    refused_by_peer,         ///< The peer refused the connection; its reason is in the text.
    peer_lost,               ///< The liveness connection ended without a goodbye.
    peer_closed,             ///< The peer ended the connection in good order.

    // Streams.
    not_connected,     ///< Needs a connection.
    already_connected, ///< Has a connection.
    stopped,           ///< stop() was called.

    // Rings.
    unified_mode, ///< A ring in unified mode has no asynchronous operations: rx_poll() and tx_publish().
};

/// Broad classes to branch on: `if (ec == condition::connection_failed) reconnect();`. A code may belong to
/// several (errc::retry_exceeded: connection_failed and timed_out) or to none. The system's codes of a
/// rendezvous connection belong too: connection_reset, connection_aborted and broken_pipe to
/// connection_failed, timed_out to timed_out, connection_refused to refused.
enum class condition : int {
    connection_failed = 1, ///< The queue pair or its peer is gone; connect again.
    timed_out,             ///< A deadline or a retry limit ran out.
    bad_configuration,     ///< The caller asked for something impossible; trying again does not help.
    refused,               ///< The peer, or this side, refused the other's parameters.
};

/// The category of errc; name() is "rocio". Thread-safe, lives for ever.
const boost::system::error_category& error_category() noexcept;
/// The category of condition; name() is "rocio.condition".
const boost::system::error_category& condition_category() noexcept;

error_code make_error_code(errc e) noexcept;
error_condition make_error_condition(condition c) noexcept;

/// True when the object that reported `ec` is of no further use (reconnect): all of connection_failed,
/// timed_out and refused, errc::handshake_malformed, errc::stopped. False when one may carry on (a full
/// queue, a cancelled wait, a refused argument).
bool is_fatal(const error_code& ec) noexcept;

/// An error and the sentence a person needs: which attribute, the value asked for, the value allowed, what to
/// do.
struct error_info {
    error_code code;
    std::string text; ///< Empty when code.message() says it all.

    explicit operator bool() const noexcept { return static_cast<bool>(code); }
    /// text if there is one, else code.message().
    std::string message() const;
};

/// Thrown by the throwing forms; what() is the sentence of error_info.
class exception : public boost::system::system_error {
  public:
    explicit exception(const error_info& info);
    const char* what() const noexcept override;

  private:
    std::runtime_error sentence_; // copies without throwing, as an exception must
};

/// Throws exception(info) if info holds an error.
void throw_if(const error_info& info);

} // namespace rocio

namespace boost::system {
template <>
struct is_error_code_enum<rocio::errc> : std::true_type {};
template <>
struct is_error_condition_enum<rocio::condition> : std::true_type {};
} // namespace boost::system
