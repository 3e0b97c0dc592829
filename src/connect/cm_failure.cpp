#include "connect/cm_failure.hpp"

#include "connect/cm_greeting.hpp"

#include <boost/asio/error.hpp>
#include <boost/system/errc.hpp>

namespace rocio::detail {

namespace {

// Reasons of a REJ message, IBA 12.6.7.2.
constexpr std::uint32_t no_resources = 3;
constexpr std::uint32_t invalid_service_id = 8;
constexpr std::uint32_t stale_connection = 10;
constexpr std::uint32_t consumer_reject = 28;

std::string reason_text(std::uint32_t reason) {
    const auto number = " (reject reason " + std::to_string(reason) + ")";
    switch (reason) {
    case no_resources:
        return "it has no resources left" + number;
    case stale_connection:
        return "a former connection of our queue pair's number is not over there yet; try again" + number;
    case consumer_reject:
        return "its program turned us away" + number;
    default:
        return "its connection manager turned us away" + number;
    }
}

error_info rejection(const cm_event& event, const std::string& peer) {
    if (event.reject_reason == invalid_service_id) {
        return {boost::asio::error::connection_refused,
                "nobody listens for rdma_cm at " + peer +
                    " (reject reason 8): start the other side first; a TCP listener is not one"};
    }
    if (event.reject_reason == consumer_reject) {
        if (const auto why = cm_greeting::decode_refusal(event.data.view()))
            return {rendezvous::error_of(why->reason), peer + " refuses: " + why->text};
    }
    return {errc::refused_by_peer, peer + " refuses: " + reason_text(event.reject_reason)};
}

const char* step_of(cm_stage stage) noexcept {
    switch (stage) {
    case cm_stage::resolving_address:
        return "resolve its address";
    case cm_stage::resolving_route:
        return "resolve the route to it";
    default:
        return "connect";
    }
}

/// `code` is what the system says; a time that ran out is one error whoever noticed it.
error_info trouble(cm_stage stage, const error_code& code, const std::string& peer) {
    const bool timed_out = code == boost::system::errc::timed_out;
    return {timed_out ? error_code(errc::handshake_timed_out) : code,
            peer + ": could not " + step_of(stage) + ": " + code.message()};
}

} // namespace

error_info failure_of(cm_stage stage, const cm_event& event, const std::string& peer) {
    switch (event.kind) {
    case cm_event_kind::device_removal:
        return {errc::device_fatal, "the device of the connection with " + peer + " was removed"};
    case cm_event_kind::disconnected:
        if (stage == cm_stage::established) return {errc::peer_closed, peer + " ended the connection"};
        return {errc::peer_closed, peer + " gave the handshake up"};
    case cm_event_kind::rejected:
        if (stage == cm_stage::established)
            return {errc::peer_lost, peer + " says that it never took the connection up"};
        return rejection(event, peer);
    default:
        break;
    }
    const auto code = event.reason ? event.reason : error_code(boost::asio::error::host_unreachable);
    if (stage == cm_stage::established) return {errc::peer_lost, peer + ": " + code.message()};
    return trouble(stage, code, peer);
}

} // namespace rocio::detail
