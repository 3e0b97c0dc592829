#include "verbs/device_core.hpp"
#include "verbs/failure.hpp"
#include "verbs/interface_prefixes.hpp"
#include "verbs/rdma_connection_manager.hpp"
#include "verbs/sysfs.hpp"
#include "verbs/verbs_completion_queue.hpp"
#include "verbs/verbs_memory_region.hpp"
#include "verbs/verbs_queue_pair.hpp"

#include <rocio/verbs/verbs_device.hpp>

#include <algorithm>
#include <cerrno>
#include <mutex>
#include <utility>

#include <net/if.h>

namespace rocio {

namespace {

/// Without it a fork() takes registered pages away from the device (ibv_fork_init(3)); it must come before
/// the first registration. Kernels that copy such pages themselves make it a no-op.
void make_fork_safe() {
    static std::once_flag once;
    std::call_once(once, [] { (void)ibv_fork_init(); });
}

/// The devices libibverbs lists; they stay valid while the list lives and for contexts opened from it.
class device_list {
  public:
    device_list() {
        make_fork_safe();
        list_ = ibv_get_device_list(&count_);
        if (list_ == nullptr) count_ = 0;
    }
    ~device_list() {
        if (list_ != nullptr) ibv_free_device_list(list_);
    }
    device_list(const device_list&) = delete;
    device_list& operator=(const device_list&) = delete;

    std::span<ibv_device* const> all() const noexcept { return {list_, static_cast<std::size_t>(count_)}; }
    std::vector<std::string> names() const {
        std::vector<std::string> out;
        for (auto* device : all()) out.emplace_back(ibv_get_device_name(device));
        return out;
    }

  private:
    int count_ = 0;
    ibv_device** list_ = nullptr;
};

verbs::machine this_machine(std::vector<std::string> listed) {
    const verbs::sysfs files;
    return {files.devices(), files.has_uverbs(), std::move(listed)};
}

std::string interface_name(std::uint32_t index) {
    char name[IF_NAMESIZE] = {};
    return index != 0 && if_indextoname(index, name) != nullptr ? std::string(name) : std::string();
}

std::uint32_t as_unsigned(int value) noexcept {
    return static_cast<std::uint32_t>(std::max(value, 0));
}

} // namespace

verbs_device::verbs_device(std::shared_ptr<verbs::device_core> core) : core_(std::move(core)) {}
verbs_device::~verbs_device() = default;

error_info verbs_device::open(std::string_view name, std::shared_ptr<verbs_device>& out) {
    if (name.empty())
        return {errc::invalid_argument, "device name \"\" not found: give one that `rocio devices` lists"};
    const device_list list;
    for (auto* device : list.all()) {
        if (name != ibv_get_device_name(device)) continue;
        std::shared_ptr<verbs::device_core> core;
        if (auto bad = verbs::device_core::open(*device, core)) return bad;
        out.reset(new verbs_device(std::move(core)));
        return {};
    }
    return verbs::not_found(name, this_machine(list.names()));
}

std::vector<std::string> verbs_device::names() {
    return device_list().names();
}

error_info verbs_device::why_none() {
    const verbs::machine here = this_machine(names());
    if (!here.listed.empty()) return {};
    return {errc::no_devices, verbs::why_no_devices(here)};
}

std::string verbs_device::name() const {
    return core_->name();
}

device_limits verbs_device::limits() const {
    const ibv_device_attr& a = core_->attributes();
    ibv_port_attr port{};
    (void)core_->query(1, port); // without an answer no message is short enough
    return {.max_queue_pairs = as_unsigned(a.max_qp),
            .max_work_requests = as_unsigned(a.max_qp_wr),
            .max_completions = as_unsigned(a.max_cqe),
            .max_inline = core_->max_inline(),
            .max_message = port.max_msg_sz,
            .max_region = a.max_mr_size,
            .ports = a.phys_port_cnt};
}

error_info verbs_device::query_port(std::uint8_t port, port_attributes& out) const {
    ibv_port_attr found{};
    if (auto bad = core_->query(port, found)) return bad;
    const verbs::sysfs files;
    out.state = found.state == IBV_PORT_ACTIVE ? port_state::active : port_state::down;
    out.active_mtu = mtu_from_code(static_cast<std::uint32_t>(found.active_mtu)).value_or(mtu::b256);
    out.netdev = files.netdev(name(), port);
    out.netdev_mtu = files.netdev_mtu(out.netdev);
    return {};
}

error_info verbs_device::gid_table(std::uint8_t port, std::vector<gid_table_entry>& out) const {
    ibv_port_attr attributes{};
    if (auto bad = core_->query(port, attributes)) return bad;
    // The call fills in the entries of all ports.
    std::vector<ibv_gid_entry> found(as_unsigned(attributes.gid_tbl_len) * core_->attributes().phys_port_cnt);
    const auto count = ibv_query_gid_table(core_->context(), found.data(), found.size(), 0);
    if (count < 0)
        return verbs::failure(static_cast<int>(-count), "ibv_query_gid_table", name(),
                              "port " + std::to_string(port));
    found.resize(static_cast<std::size_t>(count));

    const auto prefixes = verbs::interface_prefixes();
    out.clear();
    for (const auto& entry : found)
        if (entry.port_num == port)
            out.push_back(verbs::entry_of(entry, interface_name(entry.ndev_ifindex), prefixes));
    return {};
}

error_info verbs_device::create_completion_queue(std::uint32_t depth,
                                                 std::unique_ptr<device_completion_queue>& out) {
    return verbs::verbs_completion_queue::make(core_, depth, out);
}

error_info verbs_device::create_queue_pair(const device_queue_pair_config& config,
                                           std::unique_ptr<device_queue_pair>& out) {
    return verbs::verbs_queue_pair::make(core_, config, out);
}

error_info verbs_device::register_memory(std::span<std::byte> bytes, const memory_region_config& config,
                                         std::unique_ptr<device_memory_region>& out) {
    return verbs::verbs_memory_region::make(core_, bytes, config, out);
}

error_info verbs_device::create_connection_manager(std::unique_ptr<connection_manager>& out) {
    return verbs::rdma_connection_manager::make(core_, out);
}

errc verbs_device::bind(const void* engine) {
    return core_->bind(engine);
}
void verbs_device::unbind(const void* engine) noexcept {
    core_->unbind(engine);
}
int verbs_device::event_fd() const noexcept {
    return core_->channel()->fd;
}
void verbs_device::drain_events() {
    core_->drain_events();
}
bool verbs_device::next_event(device_event& out) {
    return core_->next_event(out);
}
int verbs_device::async_event_fd() const noexcept {
    return core_->context()->async_fd;
}

device_snapshot verbs_device::snapshot() const {
    device_snapshot out;
    out.name = name();
    out.kind = kind();
    port_attributes port;
    (void)query_port(1, port); // a device that is gone shows as down
    out.port_state = port.state == port_state::active ? "active" : "down";
    out.active_mtu = bytes(port.active_mtu);
    (void)gid_table(1, out.gids);
    out.limits = to_snapshot(limits());
    out.counters = verbs::sysfs().counters(name(), 1);
    core_->history().fill(out);
    return out;
}

} // namespace rocio
