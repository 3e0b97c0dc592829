#include <rocio/io/detail/queue_pair_core.hpp>

#include <algorithm>
#include <chrono>
#include <random>
#include <string>
#include <utility>

namespace rocio::detail {

namespace {

error_info out_of_range(const std::string& name, std::uint64_t value, std::uint64_t low, std::uint64_t high) {
    return {errc::invalid_argument, name + " is " + std::to_string(value) + ", allowed is " +
                                        std::to_string(low) + " to " + std::to_string(high)};
}

const gid_table_entry* find_address(const std::vector<gid_table_entry>& table, const gid& address) {
    const auto found = std::find_if(table.begin(), table.end(), [&](const gid_table_entry& entry) {
        return entry.value == address && entry.type == gid_type::roce_v2;
    });
    return found == table.end() ? nullptr : &*found;
}

psn random_psn() {
    std::random_device source;
    return psn{source() & psn::mask};
}

} // namespace

error_info validate(const queue_pair_config& config) {
    if (config.send_depth < 1 || config.send_depth > 65536)
        return out_of_range("send_depth", config.send_depth, 1, 65536);
    if (config.receive_depth < 1 || config.receive_depth > 65536)
        return out_of_range("receive_depth", config.receive_depth, 1, 65536);
    if (config.port < 1) return out_of_range("port", config.port, 1, 255);
    if (config.retry_count > 7) return out_of_range("retry_count", config.retry_count, 0, 7);
    if (config.rnr_retry > 7) return out_of_range("rnr_retry", config.rnr_retry, 0, 7);
    if (config.hop_limit < 1) return out_of_range("hop_limit", config.hop_limit, 1, 255);
    return {};
}

queue_pair_core::queue_pair_core(completion_engine& engine, std::shared_ptr<device> dev,
                                 const queue_pair_config& config)
    : engine_(engine), device_(std::move(dev)), config_(config) {}

queue_pair_core::~queue_pair_core() {
    auto held = engine_.lock();
    close();
    if (attached_) engine_.detach(device_);
}

error_info queue_pair_core::check_limits() const {
    if (auto e = validate(config_)) return e;
    const auto limits = device_->limits();
    const auto check = [&](const char* name, std::uint64_t asked, std::uint64_t most) -> error_info {
        if (asked <= most) return {};
        return {errc::limit_exceeded, std::string(name) + " is " + std::to_string(asked) + ", device " +
                                          device_->name() + " allows at most " + std::to_string(most)};
    };
    if (auto e = check("send_depth", config_.send_depth, limits.max_work_requests)) return e;
    if (auto e = check("receive_depth", config_.receive_depth, limits.max_work_requests)) return e;
    if (auto e = check("max_inline", config_.max_inline, limits.max_inline)) return e;
    return check("port", config_.port, limits.ports);
}

error_info queue_pair_core::open(completion_sink& sink) {
    if (attached_) return make_queue_pair(sink);
    if (auto e = engine_.attach(device_)) return e;
    auto e = check_limits();
    if (!e) e = make_queue_pair(sink);
    attached_ = !e;
    if (e) engine_.detach(device_);
    return e;
}

error_info queue_pair_core::make_queue_pair(completion_sink& sink) {
    if (auto e = engine_.reserve_completions(device_, room(), completions_)) return e;
    auto e = engine_.add_sink(sink, *device_, prefix_, completions_);
    has_place_ = !e;
    if (!e) {
        device_queue_pair_config c;
        c.type = config_.type;
        c.completions = completions_;
        c.send_depth = config_.send_depth;
        c.receive_depth = config_.receive_depth;
        c.max_inline = config_.max_inline;
        c.port = config_.port;
        send_psn_ = config_.first_psn.value_or(random_psn());
        e = device_->create_queue_pair(c, queue_pair_);
    }
    if (e) give_up_place();
    return e;
}

void queue_pair_core::give_up_place() noexcept {
    if (std::exchange(has_place_, false)) engine_.remove_sink(prefix_);
    if (completions_) engine_.release_completions(completions_, room());
    completions_ = nullptr;
}

error_info queue_pair_core::reopen(completion_sink& sink) {
    close();
    return open(sink);
}

void queue_pair_core::close() noexcept {
    if (!queue_pair_) return;
    const auto state = queue_pair_->state();
    if (state == queue_pair_state::ready_to_receive || state == queue_pair_state::ready_to_send)
        (void)device_->progress(std::chrono::steady_clock::now());
    // Out of the table first: what is still queued for it is then dropped as stale.
    if (std::exchange(has_place_, false)) engine_.remove_sink(prefix_);
    (void)queue_pair_->to_error();
    earlier_ = counters();
    queue_pair_.reset();
    give_up_place();
}

std::optional<device_queue_pair_counters> queue_pair_core::counters() const noexcept {
    device_queue_pair_counters sum;
    if (!queue_pair_ || !queue_pair_->counters(sum)) return earlier_;
    if (earlier_) sum += *earlier_;
    return sum;
}

void queue_pair_core::drain() noexcept {
    if (completions_) engine_.drain(device_, completions_);
}

error_info queue_pair_core::choose_address() {
    std::vector<gid_table_entry> table;
    if (auto e = device_->gid_table(config_.port, table)) return e;
    auto index = config_.gid_index;
    if (!index && config_.local_address) {
        const auto* entry = find_address(table, *config_.local_address);
        if (entry == nullptr) {
            return {errc::no_usable_gid,
                    config_.local_address->to_address_string() + " is no RoCE v2 address of port " +
                        std::to_string(config_.port) + " of " + device_->name() + "; see `rocio devices`"};
        }
        index = entry->index;
    }
    auto choice = choose_gid(table, {index, config_.peer_address});
    if (!choice.chosen) return choice.error;
    gid_ = *choice.chosen;
    return {};
}

error_info queue_pair_core::check_path_mtu() {
    port_attributes port;
    if (auto e = device_->query_port(config_.port, port)) return e;
    if (port.state == port_state::down) {
        return {errc::port_down, "port " + std::to_string(config_.port) + " of " + device_->name() + " (" +
                                     port.netdev + ") has no link: bring the interface up"};
    }
    path_mtu_ = config_.path_mtu.value_or(port.active_mtu);
    if (bytes(path_mtu_) <= bytes(port.active_mtu)) return {};
    return {errc::path_mtu_too_large,
            "path MTU " + to_string(path_mtu_) + " asked, but port " + std::to_string(config_.port) + " of " +
                device_->name() + " carries " + to_string(port.active_mtu) + " (interface " + port.netdev +
                ", MTU " + std::to_string(port.netdev_mtu) + "): raise the interface's MTU or ask for less"};
}

error_info queue_pair_core::to_init() {
    if (auto e = choose_address()) return e;
    if (auto e = check_path_mtu()) return e;
    return queue_pair_->to_init({config_.port, gid_.index, config_.remote_access});
}

error_info queue_pair_core::take_imposed(const imposed_parameters& imposed) {
    if (config_.path_mtu && *config_.path_mtu != imposed.path_mtu) {
        return {errc::path_mtu_mismatch, "path MTU " + to_string(*config_.path_mtu) +
                                             " asked, but the two ports agreed on " +
                                             to_string(imposed.path_mtu) + ": ask for that, or for none"};
    }
    if (config_.first_psn && *config_.first_psn != imposed.send_psn) {
        return {errc::invalid_argument, "first_psn " + std::to_string(config_.first_psn->value()) +
                                            " asked, but this handshake chooses the PSNs: leave it open"};
    }
    path_mtu_ = imposed.path_mtu;
    send_psn_ = imposed.send_psn;
    if (imposed.address == gid_.value) return {};
    std::vector<gid_table_entry> table;
    if (auto e = device_->gid_table(config_.port, table)) return e;
    const auto* found = find_address(table, imposed.address);
    const bool fixed =
        config_.local_address || (config_.gid_index && found && *config_.gid_index != found->index);
    if (found == nullptr || fixed) {
        return {errc::no_usable_gid, "the peer knows us by " + imposed.address.to_address_string() +
                                         ", but the queue pair is to use " + gid_.value.to_address_string() +
                                         " of " + device_->name() +
                                         ": connect to that address, or leave the GID index open"};
    }
    gid_ = *found;
    return {};
}

error_info queue_pair_core::to_ready(const peer_parameters& peer) {
    if (peer.imposed) {
        if (auto e = take_imposed(*peer.imposed)) return e;
    }
    const auto local = this->local();
    connect_attributes attributes;
    attributes.local = local;
    attributes.peer = peer;
    if (peer.imposed) attributes.gid_index = gid_.index;
    attributes.hop_limit = config_.hop_limit;
    attributes.traffic_class = config_.traffic_class;
    if (auto e = queue_pair_->to_ready_to_receive(attributes)) return e;
    if (auto e = queue_pair_->to_ready_to_send(attributes)) return e;
    engine_.note_peer_patience(local.timeout.duration() * (local.retry_count + 1));
    return {};
}

local_parameters queue_pair_core::local() const {
    local_parameters p;
    p.address = gid_.value;
    p.udp_port = device_->udp_port();
    p.queue_pair = queue_pair_ ? queue_pair_->number() : qpn{};
    // One random number for both directions: then both readings of the FPGA scripts' PSN names work.
    p.send_psn = send_psn_;
    p.receive_psn = send_psn_;
    p.path_mtu = path_mtu_;
    p.capabilities = device_->capabilities(config_.port);
    p.min_rnr_timer = config_.min_rnr_timer;
    p.timeout = config_.timeout;
    p.retry_count = config_.retry_count;
    p.rnr_retry = config_.rnr_retry;
    return p;
}

} // namespace rocio::detail
