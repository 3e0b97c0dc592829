#include "verbs/queue_pair_config.hpp"

#include "verbs/failure.hpp"

#include <algorithm>

namespace rocio::verbs {

namespace {

constexpr std::uint16_t roce_udp_port = 4791;

std::string text(std::uint64_t value) {
    return std::to_string(value);
}

mtu active_mtu_of(const ibv_port_attr& port) noexcept {
    return mtu_from_code(static_cast<std::uint32_t>(port.active_mtu)).value_or(mtu::b256);
}

} // namespace

std::string_view name_of(queue_pair_state state) noexcept {
    switch (state) {
    case queue_pair_state::reset:
        return "RESET";
    case queue_pair_state::init:
        return "INIT";
    case queue_pair_state::ready_to_receive:
        return "RTR";
    case queue_pair_state::ready_to_send:
        return "RTS";
    case queue_pair_state::error:
        return "ERROR";
    }
    return "unknown";
}

error_info check_config(const device_queue_pair_config& config, const ibv_device_attr& attributes,
                        std::uint32_t max_inline, std::string_view device) {
    const auto most = static_cast<std::uint32_t>(std::max(attributes.max_qp_wr, 0));
    if (config.send_depth < 1 || config.send_depth > most)
        return outside(errc::limit_exceeded, "send_depth", device, config.send_depth, 1, most);
    if (config.receive_depth < 1 || config.receive_depth > most)
        return outside(errc::limit_exceeded, "receive_depth", device, config.receive_depth, 1, most);
    if (config.max_inline > max_inline)
        return outside(errc::limit_exceeded, "max_inline", device, config.max_inline, 0, max_inline);
    return {};
}

ibv_qp_init_attr wanted_queue_pair(const device_queue_pair_config& config, ibv_cq* completions) noexcept {
    ibv_qp_init_attr out{};
    out.send_cq = out.recv_cq = completions;
    out.cap = {.max_send_wr = config.send_depth,
               .max_recv_wr = config.receive_depth,
               .max_send_sge = 1,
               .max_recv_sge = 1,
               .max_inline_data = config.max_inline};
    out.qp_type = config.type == queue_pair_type::uc ? IBV_QPT_UC : IBV_QPT_RC;
    out.sq_sig_all = 0; // send_request::signalled decides
    return out;
}

error_info check_peer(const peer_parameters& peer) {
    if (peer.address.is_zero())
        return {errc::invalid_peer_parameters,
                "peer address " + peer.address.to_address_string() + "; an IPv4 or IPv6 address is needed"};
    if (peer.udp_port != roce_udp_port)
        return {errc::invalid_peer_parameters, "peer UDP port " + text(peer.udp_port) +
                                                   " asked, 4791 allowed: system devices send to no other"};
    if (peer.queue_pair.value() < 2)
        return {errc::invalid_peer_parameters,
                "peer queue pair " + text(peer.queue_pair.value()) + "; 2 to 16777215 allowed"};
    return {};
}

error_info check_path(mtu asked, const ibv_port_attr& port, const port_names& names) {
    const std::string where =
        std::string(names.device) + (names.netdev.empty() ? "" : " (" + std::string(names.netdev) + ")");
    if (port.state != IBV_PORT_ACTIVE)
        return {errc::port_down, "the port of " + where + " has no link; check cable, switch and `ip link`"};
    const mtu carried = active_mtu_of(port);
    if (bytes(asked) <= bytes(carried)) return {};
    return {errc::path_mtu_too_large,
            "path MTU " + to_string(asked) + " asked, but " + where +
                (names.netdev_mtu == 0 ? "" : " with MTU " + text(names.netdev_mtu)) + " carries at most " +
                to_string(carried) + "; raise the interface's MTU to " + text(bytes(asked) + 80) +
                " or more, or ask for less"};
}

error_info check_retries(const local_parameters& local) {
    if (local.retry_count <= 7 && local.rnr_retry <= 7) return {};
    return {errc::invalid_argument, "retry_count " + text(local.retry_count) + " and rnr_retry " +
                                        text(local.rnr_retry) + " asked; 0 to 7 allowed for each"};
}

std::string asked_text(const device_queue_pair_config& config) {
    return std::string("asked ") + (config.type == queue_pair_type::uc ? "UC" : "RC") + ", send_depth " +
           text(config.send_depth) + ", receive_depth " + text(config.receive_depth) + ", max_inline " +
           text(config.max_inline) +
           "; the device may allow less of one when much of another is asked: lower max_inline or the depths";
}

std::string asked_text(const init_attributes& attributes) {
    return "asked port " + text(attributes.port) + ", GID index " + text(attributes.gid_index);
}

std::string asked_text(const local_parameters& local) {
    return "asked timeout " + text(local.timeout.code()) + ", retry_count " + text(local.retry_count) +
           ", rnr_retry " + text(local.rnr_retry);
}

} // namespace rocio::verbs
