#include "soft/soft_queue_pair.hpp"

#include "soft/device_core.hpp"
#include "soft/socket_cost.hpp"
#include "soft/soft_completion_queue.hpp"

#include <rocio/transport/rc_queue_pair.hpp>
#include <rocio/transport/uc_queue_pair.hpp>

#include <algorithm>
#include <string>
#include <utility>

namespace rocio::soft {

namespace {

transport::queue_pair_config transport_config(const device_queue_pair_config& config, qpn number) {
    transport::queue_pair_config out;
    out.number = number;
    out.send_depth = config.send_depth;
    out.receive_depth = config.receive_depth;
    out.max_inline = config.max_inline;
    return out;
}

bool is_loopback(const gid& address) noexcept {
    if (const auto v4 = address.v4()) return (*v4)[0] == 127;
    gid::bytes_type one{};
    one.back() = 1;
    return address == gid{one};
}

/// The longest train, at most `most`, of which three fill what the peer's socket holds.
std::uint32_t train_for(const transport::flow_window& window, mtu path_mtu, std::uint32_t most) noexcept {
    if (window.capacity == 0) return most;
    const auto longest =
        static_cast<std::uint32_t>(wire::max_header_size + bytes(path_mtu) + wire::icrc_size);
    const std::uint32_t third = window.capacity / 3;
    if (third <= window.cost(longest)) return 1;
    return std::min(most, 1 + (third - window.cost(longest)) / window.train_cost(longest));
}

/// What the peer's socket holds. A peer that promises IP id 0 is a rocio, which has at least the system's
/// default. So has whatever is on loopback; but who tells nothing may listen to a second sender as well. Of
/// another one nothing is known but that NICs and rxe keep 128 packets.
transport::flow_window window_towards(const peer_parameters& peer) {
    const auto& told = peer.capabilities;
    transport::flow_window window;
    if (told.receive_buffer != 0)
        window.capacity = told.receive_buffer;
    else if (told.exact_icrc)
        window.capacity = default_receive_buffer;
    else if (is_loopback(peer.address))
        window.capacity = default_receive_buffer / 2;
    window.cost = socket_cost;
    window.train_cost = train_cost;
    return window;
}

/// 0 means the default, as rxe takes it (capture rc_hoplimit0).
std::uint8_t hop_limit_of(const connect_attributes& attributes) {
    return attributes.hop_limit != 0 ? attributes.hop_limit : destination{}.hop_limit;
}

std::string_view name_of(transport::queue_pair_state state) noexcept {
    switch (state) {
    case transport::queue_pair_state::reset:
        return "RESET";
    case transport::queue_pair_state::init:
        return "INIT";
    case transport::queue_pair_state::ready_to_receive:
        return "RTR";
    case transport::queue_pair_state::ready_to_send:
        return "RTS";
    case transport::queue_pair_state::error:
        return "ERROR";
    }
    return "unknown";
}

error_info check_peer(const peer_parameters& peer, const gid& own) {
    if (peer.address.is_zero() || peer.address.is_v4_mapped() != own.is_v4_mapped())
        return {errc::invalid_peer_parameters, "peer address " + peer.address.to_address_string() +
                                                   " cannot be reached from " + own.to_address_string() +
                                                   "; both must be IPv4 addresses, or both IPv6"};
    if (peer.udp_port == 0) return {errc::invalid_peer_parameters, "peer UDP port 0; 1 to 65535 allowed"};
    if (peer.queue_pair.value() < 2)
        return {errc::invalid_peer_parameters,
                "peer queue pair " + std::to_string(peer.queue_pair.value()) + "; 2 to 16777215 allowed"};
    return {};
}

error_info check_path_mtu(mtu asked, const link_interface& port) {
    const auto carried = mtu_of_netdev(port.mtu);
    if (port.mtu == 0 || (carried && bytes(asked) <= bytes(*carried))) return {};
    return {errc::path_mtu_too_large, "path MTU " + to_string(asked) + " asked, but " + port.netdev +
                                          " (MTU " + std::to_string(port.mtu) + ") carries at most " +
                                          (carried ? to_string(*carried) : "none") +
                                          "; raise the interface's MTU or ask for less"};
}

} // namespace

soft_queue_pair::soft_queue_pair(std::shared_ptr<device_core> core, const device_queue_pair_config& config,
                                 soft_completion_queue& completions)
    : core_(std::move(core)), completions_(completions), type_(config.type), number_(core_->add(*this)) {
    try {
        const auto make = config.type == queue_pair_type::uc ? &transport::make_uc_queue_pair
                                                             : &transport::make_rc_queue_pair;
        transport_ = make(transport_config(config, number_), core_->regions());
    } catch (...) {
        core_->remove(*this);
        throw;
    }
}

soft_queue_pair::~soft_queue_pair() {
    core_->remove(*this);
}

rocio::queue_pair_state soft_queue_pair::state() const noexcept {
    return static_cast<rocio::queue_pair_state>(transport_->state());
}

error_info soft_queue_pair::refuse_state(const char* step, const char* needed) const {
    return {errc::invalid_state, std::string(step) + " of queue pair " + std::to_string(number_.value()) +
                                     " needs state " + needed + "; it is in " +
                                     std::string(name_of(transport_->state()))};
}

error_info soft_queue_pair::to_init(const init_attributes& attributes) {
    if (attributes.port != 1)
        return {errc::invalid_argument,
                "port " + std::to_string(attributes.port) + " asked; a soft device has port 1"};
    if (attributes.gid_index != 0)
        return {errc::invalid_gid_index, "GID index " + std::to_string(attributes.gid_index) +
                                             " asked; a soft device has entry 0, its address"};
    if (transport_->to_init(attributes.remote_access) != errc::success) return refuse_state("INIT", "RESET");
    return {};
}

error_info soft_queue_pair::to_ready_to_receive(const connect_attributes& attributes) {
    const peer_parameters& peer = attributes.peer;
    const link& wire = core_->wire();
    if (auto bad = check_peer(peer, wire.address())) return bad;
    if (auto bad = check_path_mtu(attributes.local.path_mtu, wire.interface())) return bad;

    const errc result = transport_->to_rtr(
        {peer.queue_pair, attributes.local.path_mtu, peer.send_psn, attributes.local.min_rnr_timer});
    if (result == errc::invalid_state) return refuse_state("RTR", "INIT");
    if (result != errc::success) return {result, {}};

    path_.emplace(peer_path{
        .to = {peer.address, peer.udp_port, hop_limit_of(attributes), attributes.traffic_class,
               agreed_train(peer) > 1},
        .outgoing = wire::icrc_engine({wire.address(), peer.address, wire.port(), peer.udp_port}),
        .incoming = wire::icrc_engine({peer.address, wire.address(), peer.udp_port, wire.port()}),
        .incoming_port = peer.udp_port,
        .exact_id = peer.capabilities.exact_icrc,
        .last_id = static_cast<std::uint16_t>(accepted_train(peer) - 1),
    });
    return {};
}

error_info soft_queue_pair::to_ready_to_send(const connect_attributes& attributes) {
    transport::send_path path;
    path.first = attributes.local.send_psn;
    path.timeout = attributes.local.timeout;
    path.retry_count = attributes.local.retry_count;
    path.rnr_retry = attributes.local.rnr_retry;
    path.window = window_towards(attributes.peer);
    path.window.longest_train =
        train_for(path.window, attributes.local.path_mtu, agreed_train(attributes.peer));
    path.response_window = {core_->wire().receive_buffer(), socket_cost};
    const errc result = transport_->to_rts(path);
    if (result == errc::invalid_state) return refuse_state("RTS", "RTR");
    if (result != errc::success)
        return {result, "retry_count " + std::to_string(path.retry_count) + " and rnr_retry " +
                            std::to_string(path.rnr_retry) + " asked; 0 to 7 allowed for each"};
    return {};
}

error_info soft_queue_pair::to_error() {
    error_known_ = true;
    transport_->to_error();
    core_->touched_by_owner(*this);
    return {};
}

post_outcome soft_queue_pair::post_send(std::span<const send_request> requests) noexcept {
    const auto result = transport_->post_send(requests);
    core_->touched_by_owner(*this);
    return {result.accepted, result.reason};
}

post_outcome soft_queue_pair::post_receive(std::span<const receive_request> requests) noexcept {
    const auto result = transport_->post_receive(requests);
    if (transport_->has_completions()) core_->touched_by_owner(*this);
    return {result.accepted, result.reason};
}

bool soft_queue_pair::counters(device_queue_pair_counters& out) const noexcept {
    const auto& c = transport_->counters();
    out = {.messages_sent = c.messages_sent,
           .messages_received = c.messages_received,
           .bytes_sent = c.bytes_sent,
           .bytes_received = c.bytes_received,
           .packets_sent = c.packets_sent,
           .packets_received = c.packets_received,
           .retransmits = c.retransmitted_packets,
           .timeouts = c.timeouts,
           .duplicates = c.duplicates_received,
           .out_of_sequence = c.out_of_sequence_received,
           .rnr_naks_sent = c.rnr_naks_sent,
           .rnr_naks_received = c.rnr_naks_received,
           .sequence_naks_sent = c.sequence_naks_sent,
           .sequence_naks_received = c.sequence_naks_received,
           .other_naks_sent = c.other_naks_sent,
           .other_naks_received = c.other_naks_received,
           .psn_gaps = c.psn_gaps,
           .psns_missed = c.psns_missed,
           .interrupted_messages = c.interrupted_messages,
           .dropped_out_of_message = c.dropped_out_of_message,
           .dropped_without_receive = c.dropped_without_receive,
           .dropped_without_access = c.dropped_without_access,
           .dropped_bad_length = c.dropped_bad_length};
    return true;
}

/// Loopback counts as an agreement: whoever is there has this kernel, and looks at it with a solved ICRC, or
/// is a rocio.
bool soft_queue_pair::takes_trains(const peer_parameters& peer) const noexcept {
    return peer.capabilities.segment_train > 1 ||
           (is_loopback(peer.address) && is_loopback(core_->wire().address()));
}

/// Datagrams of the longest train that we send to the peer.
std::uint32_t soft_queue_pair::agreed_train(const peer_parameters& peer) const noexcept {
    const std::uint32_t ours = core_->wire().longest_train();
    if (!takes_trains(peer)) return 1;
    const std::uint32_t theirs = peer.capabilities.segment_train;
    return std::max(1U, theirs > 1 ? std::min(ours, theirs) : ours);
}

/// Of those that may come from it.
std::uint32_t soft_queue_pair::accepted_train(const peer_parameters& peer) const noexcept {
    return takes_trains(peer) ? longest_segment_train : 1;
}

/// Somebody else's packet is judged by its own addresses: with a good ICRC it is foreign, not damaged.
bool soft_queue_pair::icrc_fits(const received_datagram& d) {
    const auto fits = [&](const wire::icrc_engine& engine) {
        if (path_->exact_id && path_->last_id == 0) return engine.check_exact(d.bytes);
        const auto id = engine.solve_id(d.bytes);
        return id && (!path_->exact_id || *id <= path_->last_id);
    };
    const link& wire = core_->wire();
    if (!is_from_peer(d))
        return fits(wire::icrc_engine({d.source, wire.address(), d.source_port, wire.port()}));
    if (d.source_port != path_->incoming_port) {
        path_->incoming = wire::icrc_engine({d.source, wire.address(), d.source_port, wire.port()});
        path_->incoming_port = d.source_port;
    }
    return fits(path_->incoming);
}

bool soft_queue_pair::take_failure() noexcept {
    if (error_known_ || transport_->state() != transport::queue_pair_state::error) return false;
    return error_known_ = true;
}

} // namespace rocio::soft
