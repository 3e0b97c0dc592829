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

constexpr std::size_t most_frames_at_once = 16;
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
      free_(config_.rx_queue_depth) {
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
    for (std::uint32_t slot = 0; slot < pool_->depth(); ++slot) {
        if (pool_->is_posted(slot)) free_slot(slot);
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

void receive_core::on_completions(std::span<const work_completion> batch) noexcept {
    pool_->disarm();
    const auto now = engine().found_at().time_since_epoch().count();
    while (!batch.empty()) {
        const auto taken = take_frames(batch.first(std::min(batch.size(), most_frames_at_once)), now);
        batch = batch.subspan(taken);
        if (taken > 0) continue;
        if (batch.front().id.tag() == tag_)
            on_other_completion(batch.front());
        else
            engine().route_others(batch.first(1));
        batch = batch.subspan(1);
    }
    // What replaced frames have left can go back at once.
    if (!pool_->recycled().empty()) give_to_device(pool_->recycled());
}

/// Up to the first completion that is no frame, or is of another channel.
inline std::size_t receive_core::take_frames(std::span<const work_completion> batch,
                                             clock::rep now) noexcept {
    std::array<std::uint32_t, most_frames_at_once> slots;
    const auto run = take_run(batch, now, slots.data());
    const std::span<const std::uint32_t> frames(slots.data(), run.end);
    if (frames.empty()) return 0;
    count(static_cast<std::uint8_t>(batch.front().immediate), static_cast<std::uint32_t>(frames.size()),
          run.bytes);
    if (config_.counter_wrap) [[unlikely]]
        follow(frames);
    if (only_view_) [[likely]]
        only_view_->deliver(frames);
    else
        deliver(frames);
    return frames.size();
}

/// Everything that one frame needs is in this loop, and nothing else is in the function, so that all of it
/// has a register: it is what a frame costs.
[[gnu::noinline]] receive_core::frame_run
receive_core::take_run(std::span<const work_completion> batch, clock::rep now, std::uint32_t* end) noexcept {
    auto* const records = pool_->records().data();
    auto* const tenures = pool_->tenures().data();
    const auto tag = tag_;
    const auto depth = config_.rx_queue_depth, max_payload = config_.max_payload;
    const auto channel = static_cast<std::uint8_t>(batch.front().immediate);
    std::uint64_t bytes = 0;
    for (const auto& completion : batch) {
        if (completion.outcome() != frame_arrived || completion.id.tag() != tag) break;
        const auto slot = completion.id.slot;
        if (slot >= depth || !tenures[slot].is_posted()) break;
        const auto size = completion.byte_len;
        if (size - 1 >= max_payload || static_cast<std::uint8_t>(completion.immediate) != channel) break;
        tenures[slot].lend(1);
        records[slot].note(completion.immediate, size, now);
        bytes += size;
        *end++ = slot;
    }
    return {end, bytes};
}

inline void receive_core::count(std::uint8_t channel, std::uint32_t frames, std::uint64_t bytes) noexcept {
    channels_[channel].add(frames, bytes);
    posted_ -= frames;
    // What several views take, deliver() counts.
    if (only_view_) lent_ += frames;
}

void receive_core::follow(std::span<const std::uint32_t> slots) noexcept {
    for (const auto slot : slots) {
        const auto immediate = pool_->record(slot).immediate;
        channels_[immediate & 0xFF].follow(immediate >> 8, *config_.counter_wrap);
    }
}

[[gnu::noinline]] void receive_core::on_other_completion(const work_completion& completion) noexcept {
    const auto slot = completion.id.slot;
    if (slot >= requests_.size() || !pool_->is_posted(slot)) return;
    --posted_;
    if (completion.status != errc::success) {
        free_slot(slot);
        // A flush is never the cause, only its consequence; without a cause known it is the best there is.
        if (active_) end_session({completion.status, {}}, phase::disconnected);
        return;
    }
    if (completion.op != completion_opcode::receive) return refuse(slot, unexpected_opcode_);
    refuse(slot, completion.has_immediate ? bad_length_ : without_immediate_);
}

/// To each of several views, or of none.
[[gnu::noinline]] void receive_core::deliver(std::span<const std::uint32_t> slots) noexcept {
    for (const auto slot : slots) deliver(slot);
}

void receive_core::deliver(std::uint32_t slot) noexcept {
    const auto channel = static_cast<std::uint8_t>(pool_->record(slot).immediate);
    const auto takers = count_views(channel);
    if (takers == 0 && had_view_) return refuse(slot, unclaimed_);
    ++lent_;
    pool_->lend(slot, std::max(takers, 1U));
    if (takers == 0) return early_.push_back(slot);
    for (auto* view : all_views_) view->deliver(slot);
    for (auto* view : channel_views_[channel]) view->deliver(slot);
}

void receive_core::free_slot(std::uint32_t slot) noexcept {
    pool_->set_free(slot);
    free_.push(slot);
}

void receive_core::refuse(std::uint32_t slot, std::uint64_t& counter) noexcept {
    ++counter;
    free_slot(slot);
    sweep_();
}

std::uint32_t receive_core::count_views(std::uint8_t channel) const noexcept {
    return static_cast<std::uint32_t>(all_views_.size() + channel_views_[channel].size());
}

/// Called for by the first lease that ends, and by free_slot()'s callers.
bool receive_core::on_sweep() noexcept {
    pool_->disarm();
    const bool any = collect();
    if (active_ && !free_.empty()) post_free_slots();
    return any;
}

bool receive_core::collect() noexcept {
    const auto n = pool_->take_returned(free_);
    lent_ -= n;
    if (!active_) set_free(free_);
    return n > 0;
}

void receive_core::set_free(const slot_runs& slots) noexcept {
    for (const auto& run : slots.all())
        for (auto slot = run.first; slot != run.end; ++slot) pool_->set_free(slot);
}

inline void receive_core::mark_posted(const slot_runs& slots) noexcept {
    for (const auto& run : slots.all())
        for (auto& tenure : pool_->tenures().subspan(run.first, run.size())) tenure.post();
}

/// Without a copy of what lies side by side.
inline std::span<const receive_request> receive_core::requests_of(const slot_runs& slots) noexcept {
    const auto runs = slots.all();
    if (runs.size() == 1) [[likely]]
        return std::span(requests_).subspan(runs.front().first, runs.front().size());
    std::size_t n = 0;
    for (const auto& run : runs)
        for (auto slot = run.first; slot != run.end; ++slot) chain_[n++] = requests_[slot];
    return std::span(chain_).first(n);
}

/// Of slots that are marked as posted; those that the device did not take stay. Gives why.
inline errc receive_core::post(slot_runs& slots) noexcept {
    const auto requests = requests_of(slots);
    const auto outcome = core_.pair().post_receive(requests);
    posted_ += static_cast<std::uint32_t>(outcome.accepted);
    if (outcome.accepted == requests.size()) [[likely]] {
        slots.clear();
        return errc::success;
    }
    slots.drop_front(static_cast<std::uint32_t>(outcome.accepted));
    return outcome.reason;
}

void receive_core::post_free_slots() noexcept {
    mark_posted(free_);
    if (const auto reason = post(free_); reason != errc::success) on_refused(reason);
}

void receive_core::on_returned(slot_runs& slots) noexcept {
    mark_posted(slots);
    give_to_device(slots);
}

/// What nobody holds any more and is marked as posted already; behind what waits for that.
void receive_core::give_to_device(slot_runs& slots) noexcept {
    lent_ -= slots.slots();
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
    set_free(free_);
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
