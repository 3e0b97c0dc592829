#include <rocio/stream/detail/receive_core.hpp>

#include <boost/asio/error.hpp>

#include <algorithm>
#include <string>
#include <utility>

namespace rocio::detail {

std::shared_ptr<view_state> receive_core::make_view(std::optional<std::uint8_t> channel,
                                                    const view_options& options) {
    if (options.drop_oldest_beyond && *options.drop_oldest_beyond < 1)
        throw_if({errc::invalid_argument, "drop_oldest_beyond is 0, the least is 1"});
    auto view = std::make_shared<view_state>(shared_from_this(), channel, options);
    auto held = engine().lock();
    attach_view(*view);
    return view;
}

void receive_core::attach_view(view_state& view) {
    auto& list = view.channel() ? channel_views_[*view.channel()] : all_views_;
    list.push_back(&view);
    had_view_ = true;
    find_only_view();
    // Frames that came before there was any view belong to the first one, where they match.
    for (const auto slot : std::exchange(early_, {})) {
        if (view.channel() && *view.channel() != static_cast<std::uint8_t>(pool_->record(slot).immediate)) {
            ++unclaimed_;
            pool_->drop_lease(slot);
        } else {
            view.deliver({slot, slot + 1});
        }
    }
}

void receive_core::detach_view(view_state& view) noexcept {
    auto& list = view.channel() ? channel_views_[*view.channel()] : all_views_;
    std::erase(list, &view);
    find_only_view();
}

void receive_core::find_only_view() noexcept {
    const auto has_views = [](const auto& list) { return !list.empty(); };
    const bool others = std::any_of(channel_views_.begin(), channel_views_.end(), has_views);
    only_view_ = all_views_.size() == 1 && !others ? all_views_.front() : nullptr;
}

error_code receive_core::end_reason() const noexcept {
    if (phase_ == phase::stopped) return errc::stopped;
    if (phase_ != phase::disconnected) return {};
    return last_error_.code ? last_error_.code : error_code(errc::not_connected);
}

host_parameters receive_core::host() const {
    auto held = core_.engine().lock();
    const auto p = local();
    host_parameters h;
    h.host_qpn = p.queue_pair.value();
    h.host_rq_psn = p.receive_psn.value();
    h.host_sq_psn = p.send_psn.value();
    h.mr_addr = p.region.address;
    h.mr_len = static_cast<std::uint32_t>(p.region.length);
    h.mr_rkey = p.region.key.value;
    return h;
}

bool receive_core::is_connected() const {
    auto held = core_.engine().lock();
    return phase_ == phase::connected;
}

error_info receive_core::last_error() const {
    auto held = core_.engine().lock();
    return last_error_;
}

/// Without the lock: there may be 65536 slots.
std::chrono::nanoseconds receive_core::oldest_lease() const noexcept {
    const auto now = clock::now().time_since_epoch().count();
    auto oldest = now;
    for (std::uint32_t slot = 0; slot < config_.rx_queue_depth; ++slot) {
        if (!pool_->is_lent(slot)) continue;
        oldest = std::min(oldest, pool_->record(slot).received.load(std::memory_order_relaxed));
    }
    return clock::duration(now - oldest);
}

receive_core::totals receive_core::total() const noexcept {
    totals sum;
    for (const auto& channel : channels_) {
        sum.frames += channel.frames();
        sum.bytes += channel.bytes();
    }
    return sum;
}

std::vector<receive_server_snapshot::channel> receive_core::channels() const {
    std::vector<receive_server_snapshot::channel> result;
    const auto wrap = config_.counter_wrap.value_or(1);
    for (std::size_t number = 0; number < channels_.size(); ++number) {
        const auto& c = channels_[number];
        if (c.frames() == 0) continue;
        auto& shown = result.emplace_back();
        shown.number = static_cast<std::uint8_t>(number);
        shown.frames = c.frames();
        shown.bytes = c.bytes();
        if (wrap > 1) shown.gaps = c.gaps();
    }
    return result;
}

std::string receive_core::stalled_by() const {
    if (!active_ || !posted_.empty() || lent_ == 0) return {};
    if (!had_view_) return "no view was made yet";
    std::string worst;
    std::uint32_t most = 0;
    for_each_view([&](const view_state& view) {
        if (view.queued() <= most) return;
        most = view.queued();
        worst = view.name();
    });
    return most * 2 >= lent_ ? worst : "leases held by the application";
}

receive_server_snapshot receive_core::snapshot() {
    auto held = core_.engine().lock();
    // What came back since the last sweep, which there may be none of.
    (void)collect();
    const auto p = local();
    receive_server_snapshot s;
    s.fpga_ip = config_.fpga_ip;
    if (peer_) {
        s.fpga_ip = peer_->address.to_address_string();
        s.fpga_gid = peer_->address.to_string();
        s.fpga_qpn = peer_->queue_pair.value();
        s.fpga_lkey = peer_->region.key.value;
        s.fpga_psn = peer_->send_psn.value();
    } else if (const auto fpga = gid::parse(config_.fpga_ip)) {
        s.fpga_gid = fpga->to_string();
    }
    s.host_qpn = p.queue_pair.value();
    s.host_gid = p.address.to_string();
    s.host_ip = host_ip_from_gid_text(s.host_gid);
    s.mr_addr = p.region.address;
    s.mr_rkey = p.region.key.value;
    s.mr_len = static_cast<std::uint32_t>(p.region.length);
    const auto sum = total();
    s.rx_frame_count = sum.frames;
    s.rx_byte_count = sum.bytes;
    s.max_payload = config_.max_payload;
    s.rx_queue_depth = config_.rx_queue_depth;
    s.host_rq_psn = p.receive_psn.value();
    s.host_sq_psn = p.send_psn.value();
    s.name = config_.name;
    s.device = config_.device->name();
    static constexpr const char* names[] = {"idle", "connecting", "connected", "disconnected", "stopped"};
    s.state = names[static_cast<std::size_t>(phase_)];
    s.last_error = last_error_;
    s.sessions = sessions_;
    s.idle_ends = idle_ends_;
    s.port = config_.port;
    s.gid_index = core_.gid_entry().index;
    s.path_mtu = p.path_mtu;
    s.min_rnr_timer = p.min_rnr_timer;
    s.rnr_retry = p.rnr_retry;
    s.retry_count = p.retry_count;
    s.pair_state = core_.pair_state();
    s.slots_posted = posted_.size();
    s.slots_lent = lent_;
    s.slots_free = free_.slots();
    s.stalled_by = stalled_by();
    s.unclaimed = unclaimed_;
    s.without_immediate = without_immediate_;
    s.bad_length = bad_length_;
    s.unexpected_opcode = unexpected_opcode_;
    for_each_view([&](const view_state& view) {
        s.views.push_back({view.name(), view.delivered(), view.dropped(), view.queued()});
    });
    s.channels = channels();
    const auto counters = core_.counters();
    s.has_counters = counters.has_value();
    s.counters = counters.value_or(device_queue_pair_counters{});
    held.unlock();
    s.memory = pool_->memory();
    s.oldest_lease = oldest_lease();
    return s;
}

} // namespace rocio::detail
