#include <rocio/stream/detail/receive_core.hpp>

#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

namespace rocio::detail {

namespace {

queue_pair_config pair_config(const receive_server_config& config) {
    queue_pair_config c;
    c.send_depth = 1; // nothing is sent, but devices want at least one
    c.receive_depth = config.rx_queue_depth;
    c.max_inline = 0;
    c.port = config.port;
    c.gid_index = config.gid_index;
    if (!config.fpga_ip.empty()) c.peer_address = gid::parse(config.fpga_ip);
    if (config.remote_write) c.remote_access = memory_access::remote_write;
    return c;
}

receive_server_config checked(const receive_server_config& config) {
    throw_if(validate(config));
    return config;
}

} // namespace

receive_core::receive_core(completion_engine& engine, const receive_server_config& config)
    : config_(checked(config)),
      core_(engine, config_.device, pair_config(config_)),
      pool_(std::make_shared<slot_pool>(config_.rx_queue_depth, config_.max_payload, config_.memory)),
      lent_since_(config_.rx_queue_depth) {
    for (const auto& text : pool_->memory().warnings)
        engine.log(log_level::warning, "stream", config_.name + ": " + text);
    auto held = engine.lock();
    if (auto e = open()) {
        region_.reset();
        throw_if(e);
    }
    engine.add_sweeper(*this);
    pool_->open([&engine] { asio::post(engine.context(), [&engine] { engine.wake(); }); });
}

receive_core::~receive_core() {
    stop();
    auto held = engine().lock();
    engine().remove_sweeper(*this);
}

error_info receive_core::open() {
    if (auto e = core_.open(*this)) return e;
    if (auto e = core_.choose_address()) return e;
    memory_region_config memory;
    memory.access = memory_access::local_write;
    if (config_.remote_write) memory.access = memory.access | memory_access::remote_write;
    if (auto e = config_.device->register_memory(pool_->slab(), memory, region_)) return e;
    const auto depth = config_.rx_queue_depth;
    slots_.assign(depth, slot_state::free);
    requests_.resize(depth);
    chain_.reserve(depth);
    early_.reserve(depth);
    free_.reserve(depth);
    for (std::uint32_t slot = depth; slot > 0; --slot) free_.push_back(slot - 1);
    for (std::uint32_t slot = 0; slot < depth; ++slot) {
        const auto bytes = pool_->slot(slot);
        requests_[slot].buffer = {bytes.data(), config_.max_payload, region_->local_key()};
    }
    return {};
}

error_info receive_core::set_transport(const transport_config& transport) {
    auto held = engine().lock();
    auto e = validate(transport);
    if (!e && active_)
        e = {errc::already_connected,
             config_.name + " is connected, or about to be; it takes one peer at a time"};
    if (e) {
        last_error_ = e;
        return e;
    }
    auto& c = core_.mutable_config();
    c.path_mtu = transport.path_mtu;
    c.min_rnr_timer = transport.min_rnr_timer;
    c.rnr_retry = transport.rnr_retry;
    c.retry_count = transport.retry_count;
    c.timeout = transport.timeout;
    return {};
}

asio::any_io_executor receive_core::control_executor() {
    return engine().context().get_executor();
}

local_parameters receive_core::local() const {
    auto p = core_.local();
    p.region = {region_ ? region_->iova() : 0, pool_->slab().size(),
                region_ ? region_->remote_key() : rkey{}};
    p.max_payload = config_.max_payload;
    p.depth = config_.rx_queue_depth;
    return p;
}

error_info receive_core::prepare(local_parameters& out) {
    auto held = engine().lock();
    if (engine().is_shut_down()) return {asio::error::operation_aborted, {}};
    if (phase_ == phase::stopped)
        return {errc::stopped, config_.name + " was stopped; make a new server to connect again"};
    if (active_) return {errc::already_connected, config_.name + " is connected, or about to be"};
    if (!core_.is_open()) {
        if (auto e = core_.reopen(*this)) return e;
    }
    if (auto e = core_.to_init()) return e;
    begin_activity();
    on_sweep();
    out = local();
    return {};
}

/// Kept, so that stop() ends the attempt at once and not at its deadline.
void receive_core::connecting(std::unique_ptr<liveness> attempt) {
    auto held = engine().lock();
    if (phase_ != phase::connecting) return attempt->release();
    watch_ = std::move(attempt);
}

error_info receive_core::establish(const peer_parameters& peer) {
    auto held = engine().lock();
    if (phase_ != phase::connecting) return {asio::error::operation_aborted, config_.name + " was stopped"};
    if (auto e = core_.to_ready(peer)) return e;
    peer_ = peer;
    engine().kick();
    return {};
}

void receive_core::connected(std::unique_ptr<liveness> watch) {
    auto held = engine().lock();
    if (phase_ != phase::connecting) {
        if (watch) watch->release();
        return;
    }
    watch_ = std::move(watch);
    phase_ = phase::connected;
    ++sessions_;
    frames_at_last_look_ = frames_;
    watch_for_silence();
}

void receive_core::watch_for_silence() {
    if (!config_.idle_limit) return;
    if (!silence_) silence_.emplace(engine().context());
    silence_->expires_after(*config_.idle_limit);
    silence_->async_wait([weak = weak_from_this(), session = sessions_](const error_code& ec) {
        const auto self = weak.lock();
        if (!ec && self) self->on_silence_due(session);
    });
}

void receive_core::on_silence_due(std::uint64_t session) {
    auto held = engine().lock();
    if (phase_ != phase::connected || sessions_ != session) return;
    const bool silent = std::exchange(frames_at_last_look_, frames_) == frames_;
    // With no slot posted it is we who hold the sender up.
    if (!silent || posted_ == 0) return watch_for_silence();
    ++idle_ends_;
    end_session({errc::peer_closed,
                 "no frame for " + std::to_string(config_.idle_limit->count()) + " ms, the idle limit"},
                phase::disconnected);
}

void receive_core::disconnected(const error_info& cause) {
    auto held = engine().lock();
    if (active_) return end_session(cause, phase::disconnected);
    if (phase_ != phase::stopped) last_error_ = cause;
}

void receive_core::begin_activity() noexcept {
    phase_ = phase::connecting;
    last_error_ = {};
    // The peer may have been switched on anew.
    for (auto& channel : channels_) channel.forget_sequence();
    active_ = true;
    engine().work_started();
}

void receive_core::end_activity() noexcept {
    if (!std::exchange(active_, false)) return;
    engine().work_finished();
}

void receive_core::end_session(const error_info& cause, phase next) noexcept {
    // First of all: draining below brings flushed receives, which must not end the session again.
    end_activity();
    phase_ = next;
    last_error_ = cause;
    if (auto watch = std::move(watch_)) watch->release();
    if (silence_) silence_->cancel();
    if (core_.is_open()) {
        // The acknowledgement of what the user has may still be due: without it the peer takes it for lost.
        (void)config_.device->progress(std::chrono::steady_clock::now());
        (void)core_.pair().to_error();
        // What the peer knows to be delivered must reach the user.
        core_.drain();
        core_.close();
    }
    for (std::uint32_t slot = 0; slot < slots_.size(); ++slot) {
        if (slots_[slot] != slot_state::posted) continue;
        slots_[slot] = slot_state::free;
        free_.push_back(slot);
    }
    posted_ = 0;
    const auto reason = end_reason();
    for_each_view([&](view_state& view) { view.complete_all(reason); });
}

void receive_core::stop() {
    {
        auto held = engine().lock();
        if (phase_ == phase::stopped) return;
        end_session({errc::stopped, config_.name + " was stopped"}, phase::stopped);
        region_.reset();
        engine().kick();
    }
    // Without the engine's lock: a returning lease holds the pool's and may be about to wake the engine.
    pool_->close();
}

void receive_core::on_completion(const work_completion& completion) noexcept {
    const auto slot = completion.id.slot;
    if (slot >= slots_.size() || slots_[slot] != slot_state::posted) return;
    --posted_;
    if (completion.status == errc::success) return receive(completion);
    slots_[slot] = slot_state::free;
    free_.push_back(slot);
    // A flush is never the cause, only its consequence; without a cause known it is the best there is.
    if (active_) end_session({completion.status, {}}, phase::disconnected);
}

void receive_core::receive(const work_completion& completion) noexcept {
    const auto slot = completion.id.slot;
    if (completion.op != completion_opcode::receive) return refuse(slot, unexpected_opcode_);
    if (!completion.has_immediate) return refuse(slot, without_immediate_);
    if (completion.byte_len == 0 || completion.byte_len > config_.max_payload)
        return refuse(slot, bad_length_);
    count(completion);
    const auto channel = static_cast<std::uint8_t>(completion.immediate);
    const queued_frame entry{slot, completion.byte_len, completion.immediate,
                             std::chrono::steady_clock::now()};
    const auto takers = count_views(channel);
    if (takers == 0 && had_view_) return refuse(slot, unclaimed_);
    slots_[slot] = slot_state::lent;
    ++lent_;
    lent_since_[slot].store(entry.received.time_since_epoch().count(), std::memory_order_relaxed);
    if (takers == 0) {
        pool_->lend(slot, 1);
        return early_.push_back(entry);
    }
    pool_->lend(slot, takers);
    deliver(entry);
}

void receive_core::count(const work_completion& completion) noexcept {
    ++frames_;
    bytes_ += completion.byte_len;
    auto& channel = channels_[completion.immediate & 0xFF];
    channel.add(completion.byte_len);
    if (config_.counter_wrap) channel.follow(completion.immediate >> 8, *config_.counter_wrap);
}

void receive_core::deliver(const queued_frame& entry) noexcept {
    for (auto* view : all_views_) view->deliver(entry);
    for (auto* view : channel_views_[static_cast<std::uint8_t>(entry.immediate)]) view->deliver(entry);
}

void receive_core::refuse(std::uint32_t slot, std::uint64_t& counter) noexcept {
    ++counter;
    slots_[slot] = slot_state::free;
    free_.push_back(slot);
}

std::uint32_t receive_core::count_views(std::uint8_t channel) const noexcept {
    return static_cast<std::uint32_t>(all_views_.size() + channel_views_[channel].size());
}

bool receive_core::on_sweep() noexcept {
    pool_->disarm();
    const bool any = pool_->take_returned([this](std::uint32_t slot) {
        slots_[slot] = slot_state::free;
        free_.push_back(slot);
        --lent_;
    });
    if (active_ && !free_.empty()) post_free_slots();
    return any;
}

void receive_core::post_free_slots() noexcept {
    chain_.clear();
    for (const auto slot : free_) {
        auto request = requests_[slot];
        request.id = core_.id(slot);
        chain_.push_back(request);
    }
    const auto outcome = core_.pair().post_receive(chain_);
    for (std::size_t i = 0; i < outcome.accepted; ++i) slots_[chain_[i].id.slot] = slot_state::posted;
    posted_ += static_cast<std::uint32_t>(outcome.accepted);
    free_.erase(free_.begin(), free_.begin() + static_cast<std::ptrdiff_t>(outcome.accepted));
    if (outcome.accepted == chain_.size() || outcome.reason == errc::queue_full) return;
    end_session({outcome.reason, "the device refused a receive"}, phase::disconnected);
}

void receive_core::on_device_event(const device_event& event) noexcept {
    if (!active_) return;
    const bool ours = core_.is_open() && event.queue_pair == core_.pair().number();
    switch (event.kind) {
    case device_event_kind::port_error:
        if (event.port != config_.port) return;
        return end_session({errc::port_down, "port " + std::to_string(event.port) + " of " +
                                                 config_.device->name() + " lost its link"},
                           phase::disconnected);
    case device_event_kind::queue_pair_fatal:
        if (ours)
            end_session({errc::local_operation_error, "the device failed the queue pair"},
                        phase::disconnected);
        return;
    case device_event_kind::queue_pair_access_error:
        if (ours)
            end_session({errc::remote_access_error, "the peer broke the rules of access"},
                        phase::disconnected);
        return;
    case device_event_kind::device_fatal:
    case device_event_kind::completion_queue_error:
        return end_session({errc::device_fatal, "device " + config_.device->name() + " failed"},
                           phase::disconnected);
    default:
        return;
    }
}

void receive_core::on_shutdown(async::operation_queue<>& pending) noexcept {
    for_each_view([&](view_state& view) { view.take_operations(pending); });
    if (core_.is_open()) (void)core_.pair().to_error();
    active_ = false;
    silence_.reset();
    pool_->close();
}

} // namespace rocio::detail
