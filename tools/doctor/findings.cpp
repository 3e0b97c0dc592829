#include "doctor/findings.hpp"

#include "lib/human.hpp"

#include <rocio/types/ack_timeout.hpp>
#include <rocio/types/rnr_timer.hpp>

#include <algorithm>
#include <utility>

namespace rocio::tools {

namespace {

/// Registered memory of a stream of 256 slots of 9000 bytes, a few times over.
constexpr std::uint64_t enough_memlock = 64ULL << 20;
constexpr std::uint64_t enough_receive_buffer = 212'992; // what the kernel gives by itself

std::string name_of(const port_facts& p) {
    return p.device + " port " + std::to_string(p.port);
}

std::string netdev_of(const port_facts& p) {
    return p.netdev.empty() ? "the interface" : p.netdev;
}

class examination {
  public:
    explicit examination(const system_facts& facts) : facts_(facts) {}

    std::vector<finding> run() {
        devices();
        for (const auto& p : facts_.ports) port(p);
        memlock();
        huge_pages();
        nodes();
        priority();
        udp_port();
        buffers();
        timers();
        if (facts_.peer) peer(*facts_.peer);
        return std::move(found_);
    }

  private:
    void add(severity level, std::string subject, std::string text, std::string mend = {}) {
        found_.push_back({level, std::move(subject), std::move(text), std::move(mend)});
    }
    bool has_system_device() const {
        return std::any_of(facts_.ports.begin(), facts_.ports.end(),
                           [](const auto& p) { return p.kind == "verbs"; });
    }

    void devices() {
        if (facts_.ports.empty())
            return add(severity::problem, "devices", "none: no interface has an address",
                       "ip link set DEV up");
        if (!facts_.no_system_devices.empty())
            add(severity::note, "system devices", facts_.no_system_devices);
    }

    void port(const port_facts& p) {
        if (!p.refusal.empty()) return add(severity::problem, name_of(p), p.refusal);
        if (!p.active) {
            return add(p.kind == "verbs" ? severity::problem : severity::note, name_of(p),
                       "port is down (" + netdev_of(p) + ")", "ip link set " + netdev_of(p) + " up");
        }
        if (p.kind != "verbs") return;
        add(severity::ok, name_of(p),
            "active, " + netdev_of(p) + " MTU " + std::to_string(p.netdev_mtu) + ", path MTU " +
                to_string(p.active_mtu));
        gids(p);
        if (p.active_mtu != mtu::b4096)
            add(severity::note, name_of(p),
                "path MTU " + to_string(p.active_mtu) + " because " + netdev_of(p) + " has MTU " +
                    std::to_string(p.netdev_mtu) +
                    ": a peer that needs 4096 (SLAC's defaults) cannot connect",
                "ip link set " + netdev_of(p) + " mtu 9000   (at both ends and in every switch between)");
    }

    void gids(const port_facts& p) {
        const auto choice = choose_gid(p.gids, {});
        if (choice.chosen) {
            return add(severity::ok, name_of(p) + " GID",
                       "index " + std::to_string(choice.chosen->index) + ", " +
                           choice.chosen->value.to_address_string());
        }
        add(severity::problem, name_of(p) + " GID",
            "no usable GID: " + netdev_of(p) + " has no address that RoCE v2 can use",
            "ip addr add 192.168.2.1/24 dev " + netdev_of(p));
    }

    void memlock() {
        const auto& limit = facts_.limits.lockable;
        if (!limit) return add(severity::ok, "memlock", "unlimited");
        const auto text = human_bytes(static_cast<double>(*limit)) + " of memory may be locked";
        if (*limit >= enough_memlock) return add(severity::ok, "memlock", text);
        if (facts_.limits.may_lock_more)
            return add(severity::ok, "memlock", text + ", and more: this program has CAP_IPC_LOCK");
        add(has_system_device() ? severity::problem : severity::note, "memlock",
            text + ": a NIC's memory registration and --lock-memory fail above it (soft devices do not need "
                   "it; CAP_IPC_LOCK lifts it)",
            "ulimit -l unlimited   (or LimitMEMLOCK=infinity in a systemd unit, memlock in "
            "/etc/security/limits.conf)");
    }

    /// None of what follows is in the way of anything: ways to be faster that are open here, or are not.
    void huge_pages() {
        const auto count = [](const char* size, const std::optional<machine_limits::huge_page_pool>& pool) {
            if (!pool) return std::string("no ") + size + " pages";
            return std::to_string(pool->free) + " of " + std::to_string(pool->total) + " " + size +
                   " pages free (" + pool->setting + ")";
        };
        const auto& l = facts_.limits;
        const auto transparent = l.transparent.empty() ? "none" : "\"" + l.transparent + "\"";
        add(severity::ok, "huge pages",
            count("2 MiB", l.mib2) + ", " + count("1 GiB", l.gib1) + "; transparent: " + transparent);
    }

    void nodes() {
        const auto& all = facts_.limits.nodes;
        if (all.size() < 2) return;
        std::string list;
        for (const auto n : all) list += (list.empty() ? "" : ", ") + std::to_string(n);
        add(severity::ok, "NUMA nodes", list + "; that of a NIC: /sys/class/net/DEV/device/numa_node");
    }

    void priority() {
        const auto& l = facts_.limits;
        if (l.may_set_priority) return add(severity::ok, "real-time priority", "any (CAP_SYS_NICE)");
        if (!l.priority) return add(severity::ok, "real-time priority", "any");
        add(severity::ok, "real-time priority",
            *l.priority == 0 ? "none: RLIMIT_RTPRIO is 0 (ulimit -r, LimitRTPRIO=)"
                             : "1 to " + std::to_string(*l.priority) + " (RLIMIT_RTPRIO)");
    }

    void udp_port() {
        if (facts_.udp_4791_holder.empty()) return add(severity::ok, "UDP 4791", "free for soft devices");
        if (!facts_.held_by_kernel) return add(severity::note, "UDP 4791", facts_.udp_4791_holder);
        add(severity::note, "UDP 4791", "held by the kernel module rdma_rxe: soft devices cannot use it",
            "use the kernel's device (rxe0), or: rmmod rdma_rxe, or another network namespace");
    }

    void buffers() {
        const auto text = "default " + human_bytes(static_cast<double>(facts_.receive_buffer_default)) +
                          ", at most " + human_bytes(static_cast<double>(facts_.receive_buffer_most));
        if (facts_.receive_buffer_default >= enough_receive_buffer)
            return add(severity::ok, "socket buffers", text);
        add(severity::note, "socket buffers", text + ": a soft device receives fewer packets in flight",
            "sysctl -w net.core.rmem_default=212992");
    }

    void timers() {
        const auto ms = [](std::chrono::nanoseconds duration) { return human_duration(duration); };
        const ack_timeout timeout;
        add(severity::ok, "timers",
            "acknowledgement timeout " + ms(timeout.duration()) + " (code " + std::to_string(timeout.code()) +
                "), RNR timer " + ms(rnr_timer{}.duration()) + " (code " +
                std::to_string(rnr_timer{}.code()) + "), peer given up after " + ms(timeout.duration() * 8) +
                " with retry count 7");
    }

    void peer(const peer_facts& p) {
        const auto who = "peer " + p.address.to_address_string();
        if (p.route_netdev.empty())
            return add(severity::problem, who, "no route",
                       "ip route add " + p.address.to_address_string() + " dev DEV");
        add(severity::ok, who, "reached over " + p.route_netdev);
        if (p.neighbour && !*p.neighbour)
            add(severity::problem, who, "does not answer on " + p.route_netdev + " (no neighbour entry)",
                "check cable, VLAN and address of the peer: ip neigh show dev " + p.route_netdev);
        path(p, who);
    }

    void path(const peer_facts& p, const std::string& who) {
        const auto serving = [&](const auto& port) { return port.netdev == p.route_netdev; };
        const auto port = std::find_if(facts_.ports.begin(), facts_.ports.end(), serving);
        if (!p.largest)
            return add(severity::note, who + " path",
                       "unknown: it answers no probe (a firewall, or an FPGA without ICMP)");
        if (!p.first_silent)
            return add(severity::ok, who + " path", "carries path MTU " + to_string(*p.largest));
        const auto text =
            "carries path MTU " + to_string(*p.largest) + ", but not " + to_string(*p.first_silent);
        if (port != facts_.ports.end() && port->active_mtu <= *p.largest)
            return add(severity::ok, who + " path", text);
        add(severity::problem, who + " path",
            text + ": packets that long are lost on the way, though " + p.route_netdev + " sends them",
            "give the peer's interface and every switch MTU 9000, or use --mtu " + to_string(*p.largest));
    }

    const system_facts& facts_;
    std::vector<finding> found_{};
};

} // namespace

std::vector<finding> examine(const system_facts& facts) {
    return examination(facts).run();
}

std::vector<std::string> gid_lines(const port_facts& port, const std::optional<gid>& peer) {
    const auto choice = choose_gid(port.gids, {std::nullopt, peer});
    const auto line = [](const gid_table_entry& e, const std::string& why) {
        return "index " + std::to_string(e.index) + "  " + e.value.to_address_string() + "  " + e.netdev +
               "  " + why;
    };
    std::vector<std::string> out;
    if (choice.chosen) out.push_back(line(*choice.chosen, "chosen"));
    for (const auto& r : choice.refused) out.push_back(line(r.entry, r.reason));
    return out;
}

} // namespace rocio::tools
