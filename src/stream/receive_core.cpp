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

constexpr auto frame_arrived = outcome_of(errc::success, completion_opcode::receive, true);

receive_server_config checked(const receive_server_config& config) {
    throw_if(validate(config));
    return config;
}

} // namespace

receive_core::receive_core(completion_engine& engine, const receive_server_config& config)
    : config_(checked(config)),
      core_(engine, config_.device, pair_config(config_)),
      pool_(std::make_unique<slot_pool>(config_.rx_queue_depth, config_.max_payload, config_.memory)),
      free_(config_.rx_queue_depth),
      posted_(config_.rx_queue_depth) {
    for (const auto& text : pool_->memory().warnings)
        engine.log(log_level::warning, "stream", config_.name + ": " + text);
    auto held = engine.lock();
    if (auto e = open()) {
        region_.reset();
        throw_if(e);
    }
    sweep_ = engine.add_called_sweeper(*this);
    pool_->open([&engine] { asio::post(engine.context(), [&engine] { engine.wake(); }); }, sweep_, this);
}

receive_core::~receive_core() {
    stop();
    auto held = engine().lock();
    engine().remove_sweeper(*this);
    for (const auto slot : early_) pool_->drop_lease(slot);
    slot_pool::abandon(std::move(pool_), lent_);
}

error_info receive_core::open() {
    if (auto e = core_.open(*this)) return e;
    if (auto e = core_.choose_address()) return e;
    memory_region_config memory;
    memory.access = memory_access::local_write;
    if (config_.remote_write) memory.access = memory.access | memory_access::remote_write;
    if (auto e = config_.device->register_memory(pool_->slab(), memory, region_)) return e;
    const auto depth = config_.rx_queue_depth;
    requests_.resize(depth);
    chain_.resize(depth);
    early_.reserve(depth);
    free_.push({0, depth});
    build_requests();
    return {};
}

void receive_core::build_requests() noexcept {
    tag_ = core_.id(0).tag();
    for (std::uint32_t slot = 0; slot < requests_.size(); ++slot) {
        requests_[slot] = {core_.id(slot),
                           {pool_->slot(slot).data(), config_.max_payload, region_->local_key()}};
    }
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
        build_requests();
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
    frames_at_last_look_ = total().frames;
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
    const auto frames = total().frames;
    const bool silent = std::exchange(frames_at_last_look_, frames) == frames;
    // With no slot posted it is we who hold the sender up.
    if (!silent || posted_.empty()) return watch_for_silence();
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

[[gnu::noinline]] void receive_core::end_session(const error_info& cause, phase next) noexcept {
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
    (void)collect();
    while (!posted_.empty()) free_.push(posted_.pop());
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

void receive_core::on_completions(std::span<const work_completion> batch) noexcept {
    pool_->disarm();
    const auto now = engine().found_at().time_since_epoch().count();
    while (!batch.empty()) {
        auto taken = take_frames(batch, now);
        if (taken == 0) [[unlikely]] {
            if (batch.front().id.tag() == tag_)
                on_other_completion(batch.front(), now);
            else
                engine().route_others(batch.first(1));
            taken = 1;
        }
        batch = batch.subspan(taken);
    }
    // What replaced frames have left can go back at once.
    if (!pool_->recycled().empty()) give_to_device(pool_->recycled());
}

/// Those at the front that are frames of one channel in slots side by side; gives how many.
inline std::size_t receive_core::take_frames(std::span<const work_completion> batch,
                                             clock::rep now) noexcept {
    const auto run = take_run(batch, now);
    const auto n = run.slots.size();
    if (n == 0) return 0;
    take_over(run, static_cast<std::uint8_t>(batch.front().immediate));
    if (config_.counter_wrap) [[unlikely]]
        follow(run.slots);
    if (only_view_) [[likely]]
        only_view_->deliver(run.slots);
    else
        deliver(run.slots);
    return n;
}

/// Everything that one frame needs is in this loop, and nothing else is in the function, so that all of it
/// has a register: it is what a frame costs. Four at a time, since a loop's own instructions come to a fifth.
[[gnu::noinline]] receive_core::frame_run receive_core::take_run(std::span<const work_completion> batch,
                                                                 clock::rep now) noexcept {
    const auto* at = batch.data();
    const auto slot = at->id.slot;
    if (at->id.tag() != tag_ || posted_.empty() || slot != posted_.front().first) return {};
    auto most = std::min<std::size_t>(batch.size(), posted_.front().size());
    auto* record = &pool_->record(slot);
    const auto max_payload = config_.max_payload;
    const auto channel = static_cast<std::uint8_t>(at->immediate);
    auto id = at->id.bits();
    std::uint64_t bytes = 0;
    const auto take = [&](std::size_t n) __attribute__((always_inline)) {
        const auto& completion = at[n];
        const auto size = completion.byte_len;
        if (completion.id.bits() != id || completion.outcome() != frame_arrived) return false;
        if (size - 1 >= max_payload || static_cast<std::uint8_t>(completion.immediate) != channel)
            return false;
        record[n].note(completion.immediate, size, now);
        bytes += size;
        id += wr_id::step();
        return true;
    };
    // It stands for how many there were, too.
    const auto run = [&] { return frame_run{{slot, wr_id::from_bits(id).slot}, bytes}; };
    for (; most >= 4; most -= 4, at += 4, record += 4)
        if (!take(0) || !take(1) || !take(2) || !take(3)) return run();
    for (; most > 0 && take(0); --most, ++at, ++record) {
    }
    return run();
}

/// They leave the device. What several views take, or none, deliver() lends.
inline void receive_core::take_over(const frame_run& run, std::uint8_t channel) noexcept {
    const auto n = run.slots.size();
    posted_.drop_front(n);
    channels_[channel].add(n, run.bytes);
    if (!only_view_) return;
    lent_ += n;
    pool_->lend(run.slots);
}

void receive_core::follow(const slot_range& slots) noexcept {
    for (auto slot = slots.first; slot != slots.end; ++slot) {
        const auto immediate = pool_->record(slot).immediate;
        channels_[immediate & 0xFF].follow(immediate >> 8, *config_.counter_wrap);
    }
}

bool receive_core::is_frame(const work_completion& completion) const noexcept {
    return completion.outcome() == frame_arrived && completion.byte_len - 1 < config_.max_payload;
}

[[gnu::noinline]] void receive_core::on_other_completion(const work_completion& completion,
                                                         clock::rep now) noexcept {
    const auto slot = completion.id.slot;
    if (!posted_.take(slot)) return;
    if (completion.status != errc::success) {
        free_.push(slot);
        // A flush is never the cause, only its consequence; without a cause known it is the best there is.
        if (active_) end_session({completion.status, {}}, phase::disconnected);
        return;
    }
    if (is_frame(completion)) {
        // Not the one whose turn it was: no device should do so.
        posted_.push_front(slot);
        (void)take_frames({&completion, 1}, now);
        return;
    }
    if (completion.op != completion_opcode::receive) return refuse(slot, unexpected_opcode_);
    refuse(slot, completion.has_immediate ? bad_length_ : without_immediate_);
}

/// To each of several views, or of none.
[[gnu::noinline]] void receive_core::deliver(const slot_range& slots) noexcept {
    const auto channel = static_cast<std::uint8_t>(pool_->record(slots.first).immediate);
    const auto takers = count_views(channel);
    const bool unclaimed = takers == 0 && had_view_;
    for (auto slot = slots.first; slot != slots.end; ++slot) {
        if (unclaimed) {
            refuse(slot, unclaimed_);
            continue;
        }
        ++lent_;
        pool_->lend(slot, std::max(takers, 1U));
        if (takers == 0) early_.push_back(slot);
    }
    if (takers == 0) return;
    for (auto* view : all_views_) view->deliver(slots);
    for (auto* view : channel_views_[channel]) view->deliver(slots);
}

void receive_core::refuse(std::uint32_t slot, std::uint64_t& counter) noexcept {
    ++counter;
    free_.push(slot);
    sweep_();
}

std::uint32_t receive_core::count_views(std::uint8_t channel) const noexcept {
    return static_cast<std::uint32_t>(all_views_.size() + channel_views_[channel].size());
}

/// Called for by the first lease that ends, and where slots come to be free otherwise.
bool receive_core::on_sweep() noexcept {
    pool_->disarm();
    const bool any = collect();
    if (active_ && !free_.empty()) post_free_slots();
    return any;
}

bool receive_core::collect() noexcept {
    const auto n = pool_->take_returned(free_);
    lent_ -= n;
    return n > 0;
}

/// Those that the device did not take stay. Gives why. Without a copy of what lies side by side.
inline errc receive_core::post(slot_runs& slots) noexcept {
    const auto runs = slots.all();
    if (runs.size() != 1) [[unlikely]]
        return post_chain(slots);
    const auto run = runs.front();
    const auto outcome = core_.pair().post_receive(std::span(requests_).subspan(run.first, run.size()));
    if (outcome.accepted != run.size()) [[unlikely]]
        return note_posted(slots, outcome);
    posted_.push(run);
    slots.clear();
    return errc::success;
}

[[gnu::noinline]] errc receive_core::post_chain(slot_runs& slots) noexcept {
    std::size_t n = 0;
    for (const auto& run : slots.all())
        for (auto slot = run.first; slot != run.end; ++slot) chain_[n++] = requests_[slot];
    return note_posted(slots, core_.pair().post_receive(std::span(chain_).first(n)));
}

[[gnu::noinline]] errc receive_core::note_posted(slot_runs& slots, const post_outcome& outcome) noexcept {
    auto left = static_cast<std::uint32_t>(outcome.accepted);
    for (const auto& run : slots.all()) {
        const auto n = std::min(left, run.size());
        if (n > 0) posted_.push(run.front(n));
        left -= n;
    }
    slots.drop_front(static_cast<std::uint32_t>(outcome.accepted));
    return slots.empty() ? errc::success : outcome.reason;
}

void receive_core::post_free_slots() noexcept {
    if (const auto reason = post(free_); reason != errc::success) on_refused(reason);
}

/// What nobody holds any more; behind what waits for that.
void receive_core::give_to_device(slot_runs& slots) noexcept {
    for (const auto& run : slots.all()) {
        lent_ -= run.size();
        pool_->end_loan(run);
    }
    auto reason = errc::queue_full;
    if (active_ && free_.empty()) [[likely]]
        reason = post(slots);
    if (reason == errc::success) [[likely]]
        return;
    for (const auto& run : slots.all()) free_.push(run);
    slots.clear();
    on_refused(reason);
}

[[gnu::noinline]] void receive_core::on_refused(errc reason) noexcept {
    if (reason == errc::queue_full) return sweep_();
    end_session({reason, "the device refused a receive"}, phase::disconnected);
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
