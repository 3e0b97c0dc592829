#include "bench/queue_pair_end.hpp"

#include "lib/live_line.hpp"

#include <rocio/io/completion_engine.hpp>
#include <rocio/open/open_device.hpp>

#include <algorithm>

namespace rocio::tools {

namespace {

/// The goodbye takes at most tcp_rendezvous_config::release_deadline.
constexpr std::chrono::seconds longest_goodbye{2};

memory_region_config access_for(pair_test test) {
    memory_region_config c;
    if (test == pair_test::write) c.access = memory_access::local_write | memory_access::remote_write;
    return c;
}

} // namespace

queue_pair_end::queue_pair_end(const pair_bench_config& config)
    : config_(config),
      context_(config.poll),
      dev_(open_device(config.device)),
      inline_limit_(std::min(config.max_inline, dev_->limits().max_inline)),
      memory_(dev_, out_offset() + config.size, access_for(config.test)),
      pair_(context_, dev_, pair_config()),
      meeting_(pair_.as_connectable(), config),
      silence_(context_) {
    completion_engine::of(context_).set_log_sink(config.log);
    fill_pattern(out().bytes(), config.dials());
}

queue_pair_config queue_pair_end::pair_config() const {
    queue_pair_config c;
    c.send_depth = config_.send_depth;
    c.receive_depth = config_.receive_depth;
    c.max_inline = sends_inline() ? config_.size : 0;
    c.gid_index = config_.gid_index;
    c.path_mtu = config_.path_mtu;
    if (config_.test != pair_test::write) return c;
    c.remote_access = memory_access::remote_write;
    c.region = memory_.remote();
    c.region.length = config_.size;
    return c;
}

void queue_pair_end::meet() {
    meeting_.meet(context_);
    before_ = completion_engine::of(context_).snapshot();
}

void queue_pair_end::run() {
    context_.restart();
    live_line live(context_.get_executor(), [this] { return progress_text(config_, moved_); });
    watch_silence();
    running_ = true;
    if (!finished_) context_.run(); // what is small may be through before the connection's last step
    running_ = finished_ = false;
    silence_.cancel();
    live.stop();
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
    const auto reason = pair_.last_error();
    failure_ = reason ? reason : why;
    finish();
}

void queue_pair_end::part(bool first) {
    if (!first) {
        pair_.async_wait_closed([this](const error_code&) { finish(); });
        run();
    }
    pair_.close();
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
