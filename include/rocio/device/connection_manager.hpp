#pragma once

#include <rocio/types/error.hpp>
#include <rocio/types/gid.hpp>
#include <rocio/types/mtu.hpp>
#include <rocio/types/psn.hpp>
#include <rocio/types/qpn.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

namespace rocio {

/// A connection or a listener of a connection_manager. Never used twice in one connection_manager, so that an
/// event that comes late finds nobody; 0 is none.
enum class cm_id : std::uint64_t { none = 0 };

/// An IP address and a port of the RDMA_PS_TCP port space (which is not TCP's).
struct cm_endpoint {
    gid address{}; ///< All zero: any IPv6 address; 0.0.0.0 mapped to IPv6: any IPv4 address.
    std::uint16_t port = 0;
    std::uint32_t scope = 0; ///< Index of the interface, link-local IPv6 addresses only.
};

enum class cm_event_kind : std::uint8_t {
    address_resolved,
    address_error,
    route_resolved,
    route_error,
    connect_request,  ///< To a listener; `connection` is the new one.
    connect_response, ///< The peer accepts; connection_manager::establish() completes the connection.
    connect_error,
    unreachable,
    rejected,
    established,
    disconnected,
    device_removal,
    address_change,
    time_wait_exit, ///< The queue pair number may be used again.
};
std::string_view to_string(cm_event_kind kind) noexcept;

/// Private data of rdma_cm: at most what fits in a message of the InfiniBand connection manager. It comes
/// padded with zeros to its full size, so what is in it must tell its own length.
struct cm_private_data {
    static constexpr std::size_t most_at_connect = 56; ///< REQ: 92 bytes less 36 of the IP addressing annex.
    static constexpr std::size_t most_at_accept = 196; ///< REP.
    static constexpr std::size_t most_at_reject = 148; ///< REJ.

    std::array<std::byte, 256> bytes{};
    std::size_t size = 0;

    std::span<const std::byte> view() const noexcept { return std::span(bytes).first(size); }
};

/// An event, already acknowledged: nothing in it belongs to the system.
struct cm_event {
    cm_event_kind kind = cm_event_kind::disconnected;
    cm_id id = cm_id::none;         ///< The connection, for a connect_request the listener.
    cm_id connection = cm_id::none; ///< connect_request only.
    /// Why, for the events that tell of a failure: the system's error, whatever the sign of the event's
    /// status.
    error_code reason{};
    /// rejected only: the reason of IBA 12.6.7.2 (8: nobody listens, 28: the peer's program says so).
    std::uint32_t reject_reason = 0;
    cm_private_data data{}; ///< connect_request, connect_response, established, rejected.
};

/// What one side wants to be told to the other at connect() and accept().
struct cm_offer {
    qpn queue_pair{};
    std::uint8_t retry_count = 7;
    std::uint8_t rnr_retry = 7;
    std::span<const std::byte> data{}; ///< At most most_at_connect or most_at_accept bytes.
};

/// The numbers of a connection as both sides know them; a queue pair must be connected with exactly these.
struct cm_numbers {
    gid local_address{};
    gid peer_address{};
    std::uint8_t port = 1;
    qpn peer_queue_pair{};
    psn send_psn{};    ///< Our first; the peer chose it.
    psn receive_psn{}; ///< The peer's first; we chose it.
    mtu path_mtu = mtu::b1024;
    std::uint8_t reads_in = 0;  ///< READs the peer may have outstanding.
    std::uint8_t reads_out = 0; ///< READs we may have outstanding.
};

/// Agrees with a peer on the numbers of a connection, as rdma_cm does. No Asio in it and nothing that waits:
/// each call starts something, and what comes of it is an event.
///
/// Thread safety: one thread at a time, all of it: an event must not be fetched while its id is destroyed.
class connection_manager {
  public:
    virtual ~connection_manager() = default;

    /// Readable when next_event() has something. Non-blocking, close-on-exec.
    virtual int event_fd() const noexcept = 0;
    /// Takes and acknowledges the next event; false when there is none. Events of ids that were destroyed do
    /// not come; requests for another device than this one's are rejected and do not come either.
    virtual bool next_event(cm_event& out) = 0;

    virtual error_info create(cm_id& out) = 0;
    /// Listens at `where`; port 0 takes a free one, see local_endpoint(). `backlog` requests may wait.
    virtual error_info listen(const cm_endpoint& where, int backlog, cm_id& out) = 0;
    /// → address_resolved or address_error. `from`: the address this device is to use.
    virtual error_info resolve_address(cm_id id, const cm_endpoint& from, const cm_endpoint& to,
                                       std::chrono::milliseconds limit) = 0;
    /// → route_resolved or route_error.
    virtual error_info resolve_route(cm_id id, std::chrono::milliseconds limit) = 0;
    /// → connect_response, rejected, unreachable or connect_error.
    virtual error_info connect(cm_id id, const cm_offer& offer) = 0;
    /// After connect_response, when our queue pair can receive and send.
    virtual error_info establish(cm_id id) = 0;
    /// Of a connect_request, when our queue pair can receive and send → established or connect_error.
    virtual error_info accept(cm_id id, const cm_offer& offer) = 0;
    virtual error_info reject(cm_id id, std::span<const std::byte> data) = 0;
    /// → disconnected, later time_wait_exit.
    virtual error_info disconnect(cm_id id) = 0;
    /// From connect_request or connect_response on.
    virtual error_info numbers(cm_id id, cm_numbers& out) = 0;

    virtual cm_endpoint local_endpoint(cm_id id) const = 0;
    virtual cm_endpoint peer_endpoint(cm_id id) const = 0;
    /// Ids that were made and not yet destroyed.
    virtual std::size_t size() const noexcept = 0;
    /// Ends whatever the id was doing, without an event. An unknown id is ignored.
    virtual void destroy(cm_id id) noexcept = 0;

  protected:
    connection_manager() = default;
    connection_manager(const connection_manager&) = delete;
    connection_manager& operator=(const connection_manager&) = delete;
};

} // namespace rocio
