#include <rocio/types/error.hpp>

#include <boost/system/errc.hpp>

#include <cstddef>
#include <iterator>
#include <string>

namespace rocio {

namespace {

struct sentence {
    errc code;
    const char* text;
};

/// By value; what is wrong and what to do about it.
constexpr sentence sentences[] = {
    {errc::success, "success"},
    {errc::local_length_error,
     "the message is longer than the posted buffer or than the path allows; post larger buffers"},
    {errc::local_operation_error, "the queue pair could not carry the work request out; connect again"},
    {errc::local_protection_error,
     "the posted buffer is not inside a registered region with the needed rights; check its key and access"},
    {errc::work_request_flushed,
     "the queue pair went to the error state before this work request was done; connect again"},
    {errc::bad_response,
     "the peer's answer does not fit the request; check that both sides speak the same protocol"},
    {errc::remote_invalid_request,
     "the peer calls the request invalid (NAK 0x61); check its buffer sizes and the path MTU of both sides"},
    {errc::remote_access_error, "the peer refuses the remote key, address range or access right (NAK 0x62); "
                                "check key, address and length"},
    {errc::remote_operation_error,
     "the peer could not carry the request out (NAK 0x63); look for the cause in the peer's log"},
    {errc::retry_exceeded, "no acknowledgement after all retries; check that the peer runs, its address, the "
                           "path MTU and the firewall for UDP port 4791"},
    {errc::rnr_retry_exceeded, "the peer had no receive posted after all RNR retries; let it post more "
                               "receives, or raise rnr_retry or its min_rnr_timer"},
    {errc::invalid_state, "the object is in a state that does not allow the call"},
    {errc::queue_full, "the work queue is full; wait for a completion, or make the queue deeper"},
    {errc::message_too_long, "the message is longer than the device or the region allows; send it in parts"},
    {errc::inline_too_long,
     "the inline message is longer than the queue pair's inline limit; send it from a registered region"},
    {errc::not_in_region, "the bytes do not lie inside the registered memory region"},
    {errc::invalid_argument, "an argument is outside its documented range"},
    {errc::limit_exceeded, "more was asked for than the device has; ask for less"},
    {errc::registration_failed,
     "the memory could not be registered; raise RLIMIT_MEMLOCK (ulimit -l) or register less"},
    {errc::region_too_large,
     "queue depth times payload does not fit 32 bits; lower rx_queue_depth or max_payload"},
    {errc::not_supported, "this device does not support the operation"},
    {errc::no_devices, "there is no RDMA device; load a driver, add a SoftRoCE link, or use a soft: device"},
    {errc::device_not_found, "there is no RDMA device of that name; list them with `rocio devices`"},
    {errc::invalid_device_name,
     "the device name cannot be parsed; use a verbs name such as mlx5_0, or soft:ADDRESS[:PORT]"},
    {errc::address_in_use,
     "another process holds the UDP port on this address; stop it or use another address"},
    {errc::address_in_use_by_kernel,
     "the kernel's rdma_rxe holds the UDP port; unload the module or use another port"},
    {errc::address_not_available, "the address is on no interface of this machine; check `ip address`"},
    {errc::device_bound,
     "the device already belongs to another execution context; open one address for each context"},
    {errc::device_fatal, "the device is gone; open it again when it is back"},
    {errc::port_down, "the port has no link; check cable, switch and interface state"},
    {errc::verbs_not_built,
     "this build has no verbs support (-DROCIO_VERBS=OFF); rebuild with it or use a soft: device"},
    {errc::no_usable_gid, "no entry of the GID table serves; give the interface an address in the peer's "
                          "subnet or choose a GID index"},
    {errc::invalid_gid_index, "the GID index is outside the table or its entry is empty"},
    {errc::path_mtu_too_large,
     "the port does not carry this path MTU; lower it or raise the MTU of the network interface"},
    {errc::unsupported_context, "the execution context is not an io_context; use one of its executors"},
    {errc::handshake_timed_out,
     "the other side did not take its step of the handshake in time; check that it runs and can be reached"},
    {errc::handshake_malformed,
     "what the other side sent is no rendezvous message, or a damaged one; check address and port"},
    {errc::version_mismatch, "the peer speaks another version of the rendezvous; update the older side"},
    {errc::geometry_mismatch,
     "payload size or queue depth of the two sides do not fit; configure both alike"},
    {errc::path_mtu_mismatch, "the two sides ask for different path MTUs; configure both alike"},
    {errc::invalid_peer_parameters, "a number that the peer sent is outside its range"},
    {errc::refused_by_peer, "the peer refused the connection; its log tells why"},
    {errc::peer_lost, "the connection to the peer broke without a goodbye; connect again"},
    {errc::peer_closed, "the peer closed the connection"},
    {errc::not_connected, "the operation needs a connection; connect first"},
    {errc::already_connected, "there is a connection already; close it first"},
    {errc::stopped, "the object was stopped; make a new one"},
    {errc::unified_mode,
     "a ring in unified mode has no asynchronous operations; use rx_poll() and tx_publish()"},
};

constexpr bool in_order() noexcept {
    for (std::size_t i = 0; i < std::size(sentences); ++i) {
        if (static_cast<std::size_t>(sentences[i].code) != i) return false;
    }
    return true;
}
static_assert(in_order() && std::size(sentences) == static_cast<std::size_t>(errc::unified_mode) + 1);

/// The queue pair that reported it is in the error state, or its peer is gone.
bool ends_connection(errc e) noexcept {
    switch (e) {
    case errc::local_length_error:
    case errc::local_operation_error:
    case errc::local_protection_error:
    case errc::work_request_flushed:
    case errc::bad_response:
    case errc::remote_invalid_request:
    case errc::remote_access_error:
    case errc::remote_operation_error:
    case errc::retry_exceeded:
    case errc::rnr_retry_exceeded:
    case errc::device_fatal:
    case errc::peer_lost:
    case errc::peer_closed:
        return true;
    default:
        return false;
    }
}

bool is_timeout(errc e) noexcept {
    return e == errc::retry_exceeded || e == errc::rnr_retry_exceeded || e == errc::handshake_timed_out;
}

bool is_configuration(errc e) noexcept {
    switch (e) {
    case errc::message_too_long:
    case errc::inline_too_long:
    case errc::not_in_region:
    case errc::invalid_argument:
    case errc::limit_exceeded:
    case errc::registration_failed:
    case errc::region_too_large:
    case errc::not_supported:
    case errc::no_devices:
    case errc::device_not_found:
    case errc::invalid_device_name:
    case errc::address_in_use:
    case errc::address_in_use_by_kernel:
    case errc::address_not_available:
    case errc::device_bound:
    case errc::verbs_not_built:
    case errc::no_usable_gid:
    case errc::invalid_gid_index:
    case errc::path_mtu_too_large:
    case errc::unsupported_context:
        return true;
    default:
        return false;
    }
}

bool is_refusal(errc e) noexcept {
    switch (e) {
    case errc::version_mismatch:
    case errc::geometry_mismatch:
    case errc::path_mtu_mismatch:
    case errc::invalid_peer_parameters:
    case errc::refused_by_peer:
        return true;
    default:
        return false;
    }
}

bool belongs(errc e, condition c) noexcept {
    switch (c) {
    case condition::connection_failed:
        return ends_connection(e);
    case condition::timed_out:
        return is_timeout(e);
    case condition::bad_configuration:
        return is_configuration(e);
    case condition::refused:
        return is_refusal(e);
    }
    return false;
}

/// The liveness and rendezvous connections report the system's codes.
bool belongs(const error_code& system_code, condition c) noexcept {
    using boost::system::errc::errc_t;
    const auto is = [&](errc_t e) { return system_code == e; };
    switch (c) {
    case condition::connection_failed:
        return is(errc_t::connection_reset) || is(errc_t::connection_aborted) || is(errc_t::broken_pipe);
    case condition::timed_out:
        return is(errc_t::timed_out);
    case condition::refused:
        return is(errc_t::connection_refused);
    case condition::bad_configuration:
        return false;
    }
    return false;
}

// Boost's category base is never deleted through a pointer; Boost silences the same warning for its own
// categories.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnon-virtual-dtor"

class rocio_category final : public boost::system::error_category {
  public:
    constexpr rocio_category() noexcept : error_category(0x3A7D52C1E8F04B96) {}

    const char* name() const noexcept override { return "rocio"; }
    std::string message(int value) const override {
        const auto place = static_cast<std::size_t>(value); // a negative value becomes a large one
        return place < std::size(sentences) ? sentences[place].text
                                            : "unknown rocio error " + std::to_string(value);
    }
};

class rocio_condition_category final : public boost::system::error_category {
  public:
    constexpr rocio_condition_category() noexcept : error_category(0x91C46E0FB35D28A7) {}

    const char* name() const noexcept override { return "rocio.condition"; }
    std::string message(int value) const override {
        switch (static_cast<condition>(value)) {
        case condition::connection_failed:
            return "the connection failed";
        case condition::timed_out:
            return "timed out";
        case condition::bad_configuration:
            return "the configuration cannot work";
        case condition::refused:
            return "refused";
        }
        return "unknown rocio condition " + std::to_string(value);
    }
    bool equivalent(const error_code& code, int value) const noexcept override {
        const auto c = static_cast<condition>(value);
        if (code.category() == rocio::error_category()) return belongs(static_cast<errc>(code.value()), c);
        return belongs(code, c);
    }
};

#pragma GCC diagnostic pop

constexpr rocio_category the_category;
constexpr rocio_condition_category the_condition_category;

} // namespace

const boost::system::error_category& error_category() noexcept {
    return the_category;
}
const boost::system::error_category& condition_category() noexcept {
    return the_condition_category;
}

error_code make_error_code(errc e) noexcept {
    return {static_cast<int>(e), the_category};
}
error_condition make_error_condition(condition c) noexcept {
    return {static_cast<int>(c), the_condition_category};
}

bool is_fatal(const error_code& ec) noexcept {
    return ec == condition::connection_failed || ec == condition::refused || ec == condition::timed_out ||
           ec == errc::handshake_malformed || ec == errc::stopped;
}

std::string error_info::message() const {
    return text.empty() ? code.message() : text;
}

exception::exception(const error_info& info) : system_error(info.code), sentence_(info.message()) {}

const char* exception::what() const noexcept {
    return sentence_.what();
}

void throw_if(const error_info& info) {
    if (info) throw exception(info);
}

} // namespace rocio
