#include "soft/device_core.hpp"
#include "soft/soft_completion_queue.hpp"
#include "soft/soft_memory_region.hpp"
#include "soft/soft_queue_pair.hpp"

#include <rocio/soft/fault_link.hpp>
#include <rocio/soft/pcap_link.hpp>
#include <rocio/soft/soft_device.hpp>
#include <rocio/soft/udp_link.hpp>

#include <cstdint>
#include <string>
#include <utility>

namespace rocio {

namespace {

constexpr std::uint32_t max_work_requests = 65'536;
constexpr std::uint32_t max_completions = 1U << 22;
constexpr std::uint32_t max_queue_pairs = 65'536;
constexpr std::uint32_t max_inline = 1'024;

error_info outside(errc code, const char* attribute, std::uint64_t asked, std::uint64_t least,
                   std::uint64_t most) {
    return {code, std::string(attribute) + ": " + std::to_string(asked) + " asked, " + std::to_string(least) +
                      " to " + std::to_string(most) + " allowed"};
}

error_info check_port(std::uint8_t port) {
    if (port == 1) return {};
    return outside(errc::invalid_argument, "port of a soft device", port, 1, 1);
}

error_info check_queue_pair(const device_queue_pair_config& config) {
    if (auto bad = check_port(config.port)) return bad;
    if (config.send_depth < 1 || config.send_depth > max_work_requests)
        return outside(errc::limit_exceeded, "send_depth", config.send_depth, 1, max_work_requests);
    if (config.receive_depth < 1 || config.receive_depth > max_work_requests)
        return outside(errc::limit_exceeded, "receive_depth", config.receive_depth, 1, max_work_requests);
    if (config.max_inline > max_inline)
        return outside(errc::limit_exceeded, "max_inline", config.max_inline, 0, max_inline);
    return {};
}

} // namespace

soft_device::soft_device(std::unique_ptr<soft::link> link, std::optional<qpn> first)
    : core_(std::make_shared<soft::device_core>(std::move(link), first)) {}
soft_device::~soft_device() = default;

error_info soft_device::open(const soft_device_config& config, std::shared_ptr<soft_device>& out) {
    const auto address = gid::parse(config.address);
    if (!address)
        return {errc::invalid_argument, "soft device address \"" + config.address +
                                            "\": a numeric address such as 127.0.0.2 is needed"};
    if (config.faults)
        if (auto bad = validate(*config.faults)) return bad;

    std::unique_ptr<soft::udp_link> udp;
    if (auto bad = soft::udp_link::open({*address, config.udp_port, config.receive_buffer}, udp)) return bad;
    std::unique_ptr<soft::link> link = std::move(udp);
    if (!config.capture.empty())
        if (auto bad = soft::pcap_link::open(std::move(link), config.capture, link)) return bad;
    if (config.faults && config.faults->any())
        link = std::make_unique<soft::fault_link>(std::move(link), *config.faults);
    out = over(std::move(link));
    return {};
}

std::shared_ptr<soft_device> soft_device::over(std::unique_ptr<soft::link> link, std::optional<qpn> first) {
    return std::shared_ptr<soft_device>(new soft_device(std::move(link), first));
}

std::string soft_device::name() const {
    const soft::link& l = core_->wire();
    const std::string host = l.address().to_address_string();
    const bool standard = l.port() == wire::udp_port;
    const std::string bracketed = l.address().is_v4_mapped() ? host : "[" + host + "]";
    return "soft:" + bracketed + (standard ? "" : ":" + std::to_string(l.port()));
}

device_limits soft_device::limits() const {
    return {.max_queue_pairs = max_queue_pairs,
            .max_work_requests = max_work_requests,
            .max_completions = max_completions,
            .max_inline = max_inline,
            .max_message = 1U << 30,
            .max_region = std::uint64_t{1} << 47,
            .ports = 1};
}

endpoint_capabilities soft_device::capabilities(std::uint8_t) const {
    const auto& wire = core_->wire();
    const std::uint16_t train = wire.longest_train() > 1 ? wire.longest_train() : std::uint16_t{0};
    return {.exact_icrc = true, .segment_train = train, .receive_buffer = wire.receive_buffer()};
}

std::uint16_t soft_device::udp_port() const {
    return core_->wire().port();
}

error_info soft_device::query_port(std::uint8_t port, port_attributes& out) const {
    if (auto bad = check_port(port)) return bad;
    const soft::link_interface i = core_->wire().interface();
    out = {.state = i.up && core_->port_up() ? port_state::active : port_state::down,
           .active_mtu = mtu_of_netdev(i.mtu).value_or(i.mtu == 0 ? mtu::b4096 : mtu::b256),
           .netdev_mtu = i.mtu,
           .netdev = i.netdev};
    return {};
}

error_info soft_device::gid_table(std::uint8_t port, std::vector<gid_table_entry>& out) const {
    if (auto bad = check_port(port)) return bad;
    const soft::link_interface i = core_->wire().interface();
    out.assign(1, {.index = 0,
                   .value = core_->wire().address(),
                   .type = gid_type::roce_v2,
                   .netdev = i.netdev,
                   .prefix = i.prefix});
    return {};
}

error_info soft_device::create_completion_queue(std::uint32_t depth,
                                                std::unique_ptr<device_completion_queue>& out) {
    if (depth < 1 || depth > max_completions)
        return outside(errc::limit_exceeded, "completion queue depth", depth, 1, max_completions);
    out = std::make_unique<soft::soft_completion_queue>(core_, depth);
    return {};
}

error_info soft_device::create_queue_pair(const device_queue_pair_config& config,
                                          std::unique_ptr<device_queue_pair>& out) {
    if (auto bad = check_queue_pair(config)) return bad;
    auto* const completions = dynamic_cast<soft::soft_completion_queue*>(config.completions);
    if (completions == nullptr || completions->core() != core_.get())
        return {errc::invalid_argument, "completions: a completion queue of " + name() + " is needed"};
    if (core_->queue_pairs().size() == max_queue_pairs)
        return outside(errc::limit_exceeded, "queue pairs", max_queue_pairs + 1, 0, max_queue_pairs);
    out = std::make_unique<soft::soft_queue_pair>(core_, config, *completions);
    return {};
}

error_info soft_device::register_memory(std::span<std::byte> bytes, const memory_region_config& config,
                                        std::unique_ptr<device_memory_region>& out) {
    const std::uint64_t iova = config.iova.value_or(reinterpret_cast<std::uintptr_t>(bytes.data()));
    std::uint32_t key = 0;
    const errc result = core_->add_region({bytes.data(), bytes.size(), iova, config.access}, key);
    if (result != errc::success)
        return {result,
                "registering " + std::to_string(bytes.size()) + " bytes at RDMA address " +
                    std::to_string(iova) +
                    ": a region needs at least one byte, an end within 64 bits, and local_write if it "
                    "grants remote_write"};
    out = std::make_unique<soft::soft_memory_region>(core_, bytes, key, iova);
    return {};
}

errc soft_device::bind(const void* engine) {
    return core_->bind(engine);
}
void soft_device::unbind(const void* engine) noexcept {
    core_->unbind(engine);
}
bool soft_device::progress(time_point now) {
    return core_->progress(now);
}
int soft_device::event_fd() const noexcept {
    return core_->wire().fd();
}
device::time_point soft_device::next_deadline() const noexcept {
    return core_->next_deadline();
}
bool soft_device::next_event(device_event& out) {
    return core_->events().pop(out);
}

device_snapshot soft_device::snapshot() const {
    device_snapshot out;
    out.name = name();
    out.kind = kind();
    port_attributes port;
    query_port(1, port);
    out.port_state = port.state == port_state::active ? "active" : "down";
    out.active_mtu = bytes(port.active_mtu);
    gid_table(1, out.gids);
    out.limits = to_snapshot(limits());
    core_->append_counters(out.counters);
    core_->history().fill(out);
    return out;
}

error_info soft_device::fail_queue_pair(qpn number) {
    soft::soft_queue_pair* const qp = core_->queue_pairs().find(number);
    if (qp == nullptr)
        return {errc::invalid_argument,
                "queue pair " + std::to_string(number.value()) + ": " + name() + " has none of that number"};
    qp->transport().to_error();
    core_->touched_by_owner(*qp);
    return {};
}

void soft_device::set_port_up(bool up) noexcept {
    core_->set_port_up(up);
}

} // namespace rocio
