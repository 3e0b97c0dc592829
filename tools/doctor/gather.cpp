#include "doctor/gather.hpp"

#include <rocio/open/open_device.hpp>

#include <algorithm>
#include <fstream>
#include <sstream>

namespace rocio::tools {

namespace {

std::uint64_t number_in(const std::string& file) {
    std::ifstream in(file);
    std::uint64_t value = 0;
    in >> value;
    return value;
}

port_facts facts_of(const device_description& d) {
    port_facts out;
    out.device = d.name;
    out.kind = d.kind;
    out.port = d.port;
    out.active = d.state == port_state::active;
    out.active_mtu = d.active_mtu;
    out.netdev = d.netdev;
    out.netdev_mtu = d.netdev_mtu;
    if (d.kind != "verbs") return out;
    std::shared_ptr<device> opened;
    if (const auto e = open_device(d.name, opened)) {
        out.refusal = e.message();
    } else if (const auto no_table = opened->gid_table(d.port, out.gids)) {
        out.refusal = no_table.message();
    }
    return out;
}

/// Opens and closes a soft device on each address; the refusal says by whom the port is held.
void find_port_holder(system_facts& out) {
    for (const auto& p : out.ports) {
        if (p.kind != "soft" || !p.active) continue;
        std::shared_ptr<device> opened;
        const auto e = open_device(p.device, opened);
        if (e.code != errc::address_in_use && e.code != errc::address_in_use_by_kernel) continue;
        out.held_by_kernel = e.code == errc::address_in_use_by_kernel;
        out.udp_4791_holder = e.text;
        return;
    }
}

} // namespace

system_facts gather(const std::optional<gid>& peer) {
    system_facts out;
    for (const auto& d : list_devices()) out.ports.push_back(facts_of(d));
    out.no_system_devices = why_no_verbs_devices();
    out.limits = read_machine_limits();
    out.receive_buffer_default = number_in("/proc/sys/net/core/rmem_default");
    out.receive_buffer_most = number_in("/proc/sys/net/core/rmem_max");
    find_port_holder(out);
    if (peer) out.peer = probe_peer(*peer);
    return out;
}

} // namespace rocio::tools
