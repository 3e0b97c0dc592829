#include "bench/queue_pair_end.hpp"

#include <rocio/io/completion_engine.hpp>
#include <rocio/open/open_device.hpp>

#include <algorithm>

namespace rocio::tools {

namespace {

/// The goodbye takes at most tcp_rendezvous_config::release_deadline.
constexpr std::chrono::seconds longest_goodbye{2};

memory_access granted_for(message_operation operation) {
    if (operation == message_operation::read) return memory_access::remote_read;
    if (is_send(operation)) return memory_access::local_write;
    return memory_access::remote_write;
}

memory_region_config access_for(message_operation operation) {
    memory_region_config c;
    c.access = memory_access::local_write | granted_for(operation);
    return c;
}

} // namespace

queue_pair_end::queue_pair_end(const pair_bench_config& config)
    : config_(config),
      context_(config.poll),
      dev_(open_device(config.device)),
      inline_limit_(std::min(config.max_inline, dev_->limits().max_inline)),
      inline_(sends_inline()),
      memory_(dev_, out_offset() + std::size_t{config.size} * config.buffers, access_for(config.operation)),
      meeting_(config),
      silence_(context_) {
    completion_engine::of(context_).set_log_sink(config.log);
    in_ = memory_.buffer(0, config.size);
    for (std::size_t n = 0; n < config.buffers; ++n) {
        outs_.push_back(memory_.buffer(out_offset() + n * config.size, config.size));
        fill_pattern(outs_.back().bytes(), config.dials(), n);
    }
    pairs_.reserve(config.queue_pairs);
    for (std::uint32_t i = 0; i < config.queue_pairs; ++i) pairs_.emplace_back(context_, dev_, pair_config());
}

queue_pair_config queue_pair_end::pair_config() const {
    queue_pair_config c;
    c.send_depth = config_.send_depth;
    c.receive_depth = config_.receive_depth;
    c.max_inline = inline_ ? config_.size : 0;
    c.gid_index = config_.gid_index;
    c.path_mtu = config_.path_mtu;
    if (is_send(config_.operation)) return c;
    c.remote_access = granted_for(config_.operation);
    c.region = memory_.remote();
    c.region.length = config_.size;
    if (config_.operation == message_operation::read) c.region.address += out_offset();
    return c;
}

void queue_pair_end::meet() {
    for (auto& pair : pairs_) meeting_.meet(context_, pair.as_connectable());
    before_ = completion_engine::of(context_).snapshot();
}

/// The first message may be there, and be answered, before meet() has returned.
const remote_buffer& queue_pair_end::target(std::size_t n) {
    while (targets_.size() <= n) targets_.push_back(pairs_[targets_.size()].peer().region.buffer());
    return targets_[n];
}

void queue_pair_end::run() {
    watch_silence();
    run_until_finished();
}

void queue_pair_end::run_until_finished() {
    context_.restart();
    running_ = true;
    if (!finished_) context_.run(); // what is small may be through before the connection's last step
    running_ = finished_ = false;
    silence_.cancel();
    throw_if(failure_);
}

void queue_pair_end::watch_silence() {
    moved_before_ = moved_;
    silence_.expires_after(longest_silence);
    silence_.async_wait([this](const error_code& ec) {
        if (ec || finished_) return;
        if (moved_ != moved_before_) return watch_silence();
        fail({errc::peer_lost, "no message for " + std::to_string(longest_silence.count()) +
                                   " s: the other side hangs, or was started with another --count"});
    });
}

void queue_pair_end::finish() {
    finished_ = true;
    if (running_) context_.stop();
}

void queue_pair_end::fail(const error_info& why) {
    if (finished_ || failure_) return;
    failure_ = why;
    for (const auto& pair : pairs_)
        if (const auto reason = pair.last_error()) failure_ = reason;
    finish();
}

void queue_pair_end::wait_closed() {
    pairs_.front().async_wait_closed([this](const error_code&) { finish(); });
}

measurement queue_pair_end::stand_by() {
    resource_meter meter;
    meter.begin();
    wait_closed();
    run_until_finished(); // however long nothing comes
    measurement m;
    m.use = meter.used();
    // The warm-up cannot be told from the rest here.
    m.use.cpu_seconds *= static_cast<double>(config_.count) / static_cast<double>(config_.messages());
    m.engine = engine_since_meeting();
    part(true);
    return m;
}

void queue_pair_end::part(bool first) {
    if (!first) {
        wait_closed();
        run();
    }
    for (auto& pair : pairs_) pair.close();
    context_.restart();
    context_.run_for(longest_goodbye);
}

engine_snapshot queue_pair_end::engine_since_meeting() {
    auto s = completion_engine::of(context_).snapshot();
    s.turns -= before_.turns;
    s.sweeps -= before_.sweeps;
    s.empty_sweeps -= before_.empty_sweeps;
    s.completions -= before_.completions;
    s.upcalls -= before_.upcalls;
    s.arms -= before_.arms;
    s.waits -= before_.waits;
    s.wakes -= before_.wakes;
    return s;
}

} // namespace rocio::tools
