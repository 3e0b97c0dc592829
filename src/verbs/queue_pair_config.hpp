#pragma once

#include <rocio/device/device_queue_pair.hpp>
#include <rocio/types/error.hpp>

#include <cstdint>
#include <string>
#include <string_view>

#include <infiniband/verbs.h>

namespace rocio::verbs {

std::string_view name_of(queue_pair_state state) noexcept;

/// errc::limit_exceeded with the attribute, the value asked and the value allowed. `max_inline` is the
/// device's measured one.
error_info check_config(const device_queue_pair_config& config, const ibv_device_attr& attributes,
                        std::uint32_t max_inline, std::string_view device);
ibv_qp_init_attr wanted_queue_pair(const device_queue_pair_config& config, ibv_cq* completions) noexcept;

/// Peers that verbs cannot reach: no address, another UDP port than RoCE's, the numbers of special queue
/// pairs.
error_info check_peer(const peer_parameters& peer);

/// The port's way out, for texts.
struct port_names {
    std::string_view device;
    std::string_view netdev;
    std::uint32_t netdev_mtu = 0; ///< Bytes; 0: unknown.
};
/// errc::port_down, or errc::path_mtu_too_large with both numbers and the interface.
error_info check_path(mtu asked, const ibv_port_attr& port, const port_names& names);
/// 0..7 for both counts.
error_info check_retries(const local_parameters& local);

/// What was asked, for the text of a refusal that does not say more than EINVAL.
std::string asked_text(const device_queue_pair_config& config);
std::string asked_text(const init_attributes& attributes);
std::string asked_text(const local_parameters& local);

} // namespace rocio::verbs
